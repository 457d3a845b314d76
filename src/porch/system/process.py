"""Running outside commands so that none of them can outlive the effect it belongs to."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import IO, Literal

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import OutsideError
from porch.system.late_asyncio import asyncio
from porch.system.process_marks import (
    SECOND_LOOK_S,
    VARIABLE,
    MarkedProcess,
    is_group_alive,
    kill_all_matching,
    kill_processes,
    list_marked_processes,
    list_unmarked_heirs,
    measure_cpu_seconds,
    reap_processes,
)

__all__ = [
    "CommandResult",
    "MarkedProcess",
    "OutsideCommand",
    "RunningCommand",
    "list_marked_processes",
    "reap_processes",
    "start_command",
    "stop_processes",
]

GRACE_S = 2.5
TICK_S = 0.05
# Who has said its last word has this long to leave; then it is taken for gone.
LINGER_S = 5.0
# So often within the limit of silence is looked whether somebody works without a word.
_LOOKS = 4
# Of one processor, since the last look. An agent that only waits takes half a hundredth.
_WORK_SHARE = 0.05

OnOutput = Callable[[], bool]
EndReason = Literal["exited", "over", "idle", "wall"]


class OutsideCommand(Struct, frozen=True):
    """One outside command: a vector of words, or one text for the shell.

    The environment is exactly `env` and the mark. Output files are appended to; `errors` may be
    the same path as `output`.
    """

    argv: tuple[str, ...] | None
    shell: str | None
    cwd: str
    env: Mapping[str, str]
    stdin_file: str | None
    output: str
    errors: str
    mark: str

    def __post_init__(self) -> None:
        if (self.argv is None) == (self.shell is None):
            raise ValueError("a command is either words or a shell text")
        if not self.mark or any(c.isspace() or c == "\0" for c in self.mark):
            raise ValueError(f"a mark is one word, not {self.mark!r}")

    @property
    def words(self) -> tuple[str, ...]:
        # The text is one argument: nothing is ever pasted into it.
        return self.argv if self.argv is not None else ("/bin/sh", "-c", self.shell or "")


class CommandResult(Struct, frozen=True):
    """How a command ended; by the time one holds this, nothing of it is running any more."""

    code: int | None
    signal: int | None
    why: EndReason
    seconds: float


def _leaves_nothing_unread() -> bool:
    return False


class RunningCommand:
    """A started command: wait for it, or stop it from elsewhere."""

    def __init__(self, command: OutsideCommand, process: asyncio.subprocess.Process) -> None:
        self.command = command
        self.pid = process.pid
        self._process = process
        self._began = time.monotonic()

    async def wait(
        self,
        idle_s: float | None = None,
        wall_s: float | None = None,
        on_output: OnOutput = _leaves_nothing_unread,
        grace_s: float = GRACE_S,
        is_busy: Callable[[], bool] = lambda: False,
        is_over: Callable[[], bool] = lambda: False,
    ) -> CommandResult:
        """Wait for the end, or end it after too long without a sign of life, or too long in all.

        Signs of life are output, and processor time of any of its processes. The clock of silence
        stands still while `is_busy` says so. Once `is_over` says that nothing
        more is to come, little silence is enough.

        `on_output` is called at every tick and answers whether it left output unread. Cancelling
        this leaves the command running: whoever gives up on it calls `stop`.
        """
        ending = asyncio.ensure_future(self._process.wait())
        try:
            why = await self._watch(ending, idle_s, wall_s, on_output, is_busy, is_over)
        finally:
            ending.cancel()
        seconds = time.monotonic() - self._began
        if why != "exited" or not await _has_no_leftovers(self.command.mark, self.pid):
            await self.stop(grace_s)
        on_output()
        return self._ended(why, seconds)

    async def stop(self, grace_s: float = GRACE_S) -> None:
        """End it and everything it started, whatever session that is in."""
        await stop_processes(self.command.mark, self.pid, grace_s)
        await self._process.wait()

    def _ended(self, why: EndReason, seconds: float) -> CommandResult:
        code = self._process.returncode
        if why != "exited" or code is None:
            return CommandResult(None, None, why, seconds)
        return (
            CommandResult(code, None, why, seconds)
            if code >= 0
            else CommandResult(None, -code, why, seconds)
        )

    async def _watch(
        self,
        ending: asyncio.Future[int],
        idle_s: float | None,
        wall_s: float | None,
        on_output: OnOutput,
        is_busy: Callable[[], bool],
        is_over: Callable[[], bool],
    ) -> EndReason:
        size, grew_at = self._size(), time.monotonic()
        idle_from = looked_at = grew_at
        cpu = 0.0
        while True:
            more = on_output()
            await asyncio.wait({ending}, timeout=0 if more else TICK_S)
            now, before, size = time.monotonic(), size, self._size()
            grew_at = now if size > before else grew_at
            idle_from = now if is_busy() else max(idle_from, grew_at)
            if ending.done():
                return "exited"
            if now - grew_at >= LINGER_S and is_over():
                return "over"
            if wall_s is not None and now - self._began >= wall_s:
                return "wall"
            if idle_s is None or now - max(idle_from, looked_at) < idle_s / _LOOKS:
                continue
            spent, cpu = cpu, await asyncio.to_thread(measure_cpu_seconds, self.command.mark)
            if cpu - spent >= _WORK_SHARE * (now - looked_at):
                idle_from = now
            looked_at = now
            if now - idle_from >= idle_s:
                return "idle"

    def _size(self) -> int:
        """Of all that it printed."""
        size = 0
        for path in {self.command.output, self.command.errors}:
            with contextlib.suppress(FileNotFoundError):
                size += os.stat(path).st_size
        return size


_NUMBERS = count(1)


def mark_alone(command: OutsideCommand) -> OutsideCommand:
    """With a mark of its own behind the one it was given.

    Whoever looks for what one left behind must not find the next.
    """
    return replace(command, mark=f"{command.mark}~{os.getpid()}.{next(_NUMBERS)}")


async def start_command(command: OutsideCommand) -> RunningCommand:
    """Start in a session of its own, with output to files that survive this process."""
    command = mark_alone(command)
    try:
        with open_command_files(command) as (stdin, output, errors):
            process = await asyncio.create_subprocess_exec(
                *command.words,
                cwd=command.cwd,
                env={**command.env, VARIABLE: command.mark},
                stdin=stdin,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
    except OSError as error:
        raise start_error(command, error) from error
    except asyncio.CancelledError:
        # It may be at work already, and asyncio ends only the first of its processes.
        await asyncio.to_thread(kill_all_matching, lambda found: found == command.mark)
        raise
    return RunningCommand(command, process)


def start_error(command: OutsideCommand, error: OSError) -> OutsideError:
    return OutsideError(
        f"`{command.words[0]}` could not be started in {command.cwd}: {error}",
        fix="check that it is installed, on PATH and executable, and that the directory exists",
    )


@contextlib.contextmanager
def open_command_files(
    command: OutsideCommand,
) -> Iterator[tuple[IO[bytes], IO[bytes], IO[bytes]]]:
    with contextlib.ExitStack() as stack:
        stdin = stack.enter_context(open(command.stdin_file or os.devnull, "rb"))
        output = stack.enter_context(open(command.output, "ab", opener=_open_private))
        same = command.errors == command.output
        errors = (
            output
            if same
            else stack.enter_context(open(command.errors, "ab", opener=_open_private))
        )
        yield stdin, output, errors


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


async def stop_processes(mark: str, group: int, grace_s: float = GRACE_S) -> list[int]:
    """Ask the group, wait, kill the group, then kill all who carry the mark.

    SIGINT first, because agents write their last words on it; some ignore it, and some leave
    children in other sessions, hence the rest. Returns who had to be killed by the mark.
    """
    if group == os.getpgrp():
        raise ValueError("a command's group is never our own")
    # Whoever cleared its environment is known by the parents above it, as long as these live.
    heirs = await asyncio.to_thread(list_unmarked_heirs, mark)
    if signal_group(group, signal.SIGINT):
        await _wait_for_group_end(group, grace_s)
        signal_group(group, signal.SIGKILL)
    killed = await asyncio.to_thread(kill_all_matching, lambda found: found == mark)
    return [*killed, *kill_processes(heirs)]


async def _has_no_leftovers(mark: str, group: int) -> bool:
    """Whether a command that ended left nobody; the second look does not hold up the first answer.

    Somebody in the middle of an exec is missed by one look; so the next one comes a moment later,
    beside whatever follows.
    """
    if signal_group(group, 0):
        return False
    if await asyncio.to_thread(kill_all_matching, lambda found: found == mark, 1):
        return False
    loop = asyncio.get_running_loop()
    looking = loop.run_in_executor(None, _kill_late_leftovers, mark)
    _LOOKING.add(looking)
    looking.add_done_callback(_LOOKING.discard)
    return True


# Kept, so that nobody forgets them before they are done.
_LOOKING: set[asyncio.Future[list[int]]] = set()


def _kill_late_leftovers(mark: str) -> list[int]:
    time.sleep(SECOND_LOOK_S)
    return kill_all_matching(lambda found: found == mark, 1)


async def _wait_for_group_end(group: int, grace_s: float) -> None:
    """The kernel tells nobody but parents of an end, so looking again and again is the only way."""
    deadline = time.monotonic() + grace_s
    for _ in iter(lambda: time.monotonic() < deadline and is_group_alive(group), False):
        await asyncio.sleep(TICK_S)


def signal_group(group: int, number: int) -> bool:
    """Whether there is such a group, and we may signal it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
