"""A program that is started, heard to its end and judged: git above all, many times in a command.

`subprocess` does the same for everybody's needs. Loading it, and making one of its objects for each
call, costs a short command more than most of what it does itself.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_PIECE = 1 << 16
# Python ignores these two, and what it starts must not: SIGPIPE and SIGXFSZ.
_RESTORED_SIGNALS = (13, 25)
_KILL = 9
_FIRST_OWN = 3
_LONGEST_NAP_S = 0.05
_DESCRIPTORS = "/dev/fd"  # on Linux a name of /proc/self/fd, on macOS a directory of its own
# Where nobody lists them these are looked at, one by one.
_MOST_DESCRIPTORS = 256


class ProcessEnd:
    """How a program ended, below zero by a signal, and what it printed."""

    __slots__ = ("err", "out", "returncode")

    def __init__(self, returncode: int, out: bytes, err: bytes) -> None:
        self.returncode = returncode
        self.out = out
        self.err = err


class SlowProcessError(Exception):
    """The program took too long, and was killed."""


def run_program(
    argv: Sequence[str],
    env: Mapping[str, str],
    stdin: bytes = b"",
    timeout_s: float | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> ProcessEnd:
    """Start it, feed it, and read all that it prints; OSError if it cannot be started.

    Whatever goes wrong, it does not outlive this call. `meanwhile` is called once while it runs,
    before anybody listens to it.
    """
    import time

    pipes = _Pipes()
    try:
        pid = pipes.start(argv, env)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            if meanwhile is not None:
                meanwhile()
            out, err = pipes.exchange(stdin, deadline)
            code = _wait(pid, deadline)
        except BaseException:
            os.kill(pid, _KILL)
            _wait(pid, None)
            raise
    finally:
        pipes.close()
    return ProcessEnd(code, out, err)


class _Pipes:
    """Three pipes to a program, all of whose ends are closed in the end."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        try:
            self._theirs_in, self._ours_in = self._make()
            self._ours_out, self._theirs_out = self._make()
            self._ours_err, self._theirs_err = self._make()
        except BaseException:
            self.close()
            raise

    def _make(self) -> tuple[int, int]:
        """Above the three that every program has: somebody may have started us without them."""
        pair = os.pipe()
        self._open.update(pair)
        return self._lift(pair[0]), self._lift(pair[1])

    def _lift(self, end: int) -> int:
        if end >= _FIRST_OWN:
            return end
        import fcntl

        lifted = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_OWN)
        self._open.add(lifted)
        self._close(end)
        return lifted

    def start(self, argv: Sequence[str], env: Mapping[str, str]) -> int:
        theirs = (self._theirs_in, self._theirs_out, self._theirs_err)
        given = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(theirs)]
        others = [(os.POSIX_SPAWN_CLOSE, end) for end in _list_inherited()]
        actions: list[tuple[int, ...]] = [*given, *others]
        pid = os.posix_spawnp(
            argv[0],
            list(argv),
            env,
            file_actions=actions,
            setsigdef=_RESTORED_SIGNALS,
        )
        for end in theirs:
            self._close(end)
        return pid

    def exchange(self, stdin: bytes, deadline: float | None) -> tuple[bytes, bytes]:
        """Both outputs; nobody waits for a pipe that the other side does not look at."""
        import select

        heard: dict[int, list[bytes]] = {self._ours_out: [], self._ours_err: []}
        waiting = select.poll()
        for end in heard:
            waiting.register(end, select.POLLIN)
        rest = memoryview(stdin)
        if stdin:
            os.set_blocking(self._ours_in, False)
            waiting.register(self._ours_in, select.POLLOUT)
        else:
            self._close(self._ours_in)
        talking = len(heard) + bool(stdin)
        while talking:
            for end, _ in waiting.poll(_left_ms(deadline)):
                if end == self._ours_in:
                    rest = rest[_write_some(end, rest) :]
                    is_over = not rest
                else:
                    piece = os.read(end, _PIECE)
                    heard[end].append(piece)
                    is_over = not piece
                if is_over:
                    talking -= 1
                    waiting.unregister(end)
                    self._close(end)
        return b"".join(heard[self._ours_out]), b"".join(heard[self._ours_err])

    def _close(self, end: int) -> None:
        self._open.discard(end)
        os.close(end)

    def close(self) -> None:
        for end in list(self._open):
            self._close(end)


def _list_inherited() -> list[int]:
    """What a program that we start would inherit besides: only what we were given ourselves."""
    try:
        numbers = [int(name) for name in os.listdir(_DESCRIPTORS)]
    except OSError:
        numbers = list(range(_MOST_DESCRIPTORS))
    return [number for number in numbers if number >= _FIRST_OWN and _is_inherited(number)]


def _is_inherited(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:
        return False  # the one by which the list was read, or nobody's


def _write_some(end: int, rest: memoryview) -> int:
    """How much it took; all of it where nobody reads any more."""
    try:
        return os.write(end, rest[:_PIECE])
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(rest)


def _left_ms(deadline: float | None) -> float | None:
    """SlowProcessError if no time is left."""
    if deadline is None:
        return None
    import time

    left = deadline - time.monotonic()
    if left <= 0:
        raise SlowProcessError
    return left * 1000 + 1


def _wait(pid: int, deadline: float | None) -> int:
    """Its exit code; it has closed its output, so this does not take long."""
    import time

    nap = 0.0005
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        _left_ms(deadline)
        time.sleep(nap)
        nap = min(2 * nap, _LONGEST_NAP_S)
