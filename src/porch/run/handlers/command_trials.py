"""A command of the settings tried on files that nobody has worked on, once for the same content.

What passed is kept beside the runs of the project, by the content of the files, the text of the
command, what it gets of the environment, and how the place was set up. So ten runs from one commit
try it once. What did not pass is kept, too, but counts only for whoever was waiting while it ran: a
person may have mended the environment since, and no file shows that.
"""

import asyncio
import fcntl
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from time import monotonic
from typing import IO, Any, Literal

from msgspec import Struct

from porch.run.agents.base_commands import TRIALS
from porch.run.handlers.command_end import describe_kill, redact_output
from porch.run.settings import Settings
from porch.system import atomic, process
from porch.system.clock import Clock
from porch.system.regular_file import open_regular
from porch.text.sha256 import sha256
from porch.text.telling_line import find_telling_line

REPORT_KEPT = 3000
_NAMES = ("PATH", "HOME", "LANG")
_POLL_S = 0.1


class TrialPlace(Struct, frozen=True):
    """Where a command is tried: a directory, the content of its files, and how it was set up."""

    directory: str
    tree: str
    set_up: str
    env: Mapping[str, str]
    mark: str
    output: str


class TrialResult(Struct, frozen=True):
    """How it went; `at` is when, and `is_reused` says that it did not run now."""

    result: Literal["passed", "failed", "unmeasured"]
    report: str
    at: str
    seconds: float = 0
    is_reused: bool = False

    @property
    def line(self) -> str:
        """The exit code, and the line that says why."""
        first, _, rest = self.report.partition("\n")
        return f"{first}: {find_telling_line(rest)}" if rest.strip() else first


def describe_set_up(known: Settings) -> str:
    """What decides how a new worktree is made; files that git ignores are not in its content."""
    return json.dumps([known.setup, known.copy, known.link])


async def try_command(state_dir: str, text: str, place: TrialPlace, known: Settings) -> TrialResult:
    """Run it, or wait for whoever runs the same just now."""
    path = _find_path(state_dir, text, place, known)
    asked_at = Clock().now()
    async with _lock(path):
        kept = _read_result(path)
        if kept is not None and (kept.result == "passed" or kept.at > asked_at):
            return kept
        result = await _run(text, place, known.first_check)
        _write_result(path, result)
    return result


def recall_trial(
    state_dir: str, text: str, place: TrialPlace, known: Settings
) -> TrialResult | None:
    """The latest result for the same content, whatever it was."""
    return _read_result(_find_path(state_dir, text, place, known))


def _find_path(state_dir: str, text: str, place: TrialPlace, known: Settings) -> str:
    env = {
        name: value
        for name, value in place.env.items()
        if name in _NAMES or name.startswith("LC_") or name in known.check_env
    }
    content = json.dumps([place.tree, text, place.set_up, env], sort_keys=True)
    name = sha256(content.encode()).hexdigest()[:32]
    return os.path.join(state_dir, TRIALS, f"{name}.json")


@asynccontextmanager
async def _lock(path: str) -> AsyncIterator[None]:
    atomic.ensure_directory(os.path.dirname(path))
    with closing(_open_lock(path)) as file:
        # The lock of a file has no event to wait for.
        while not _take_lock(file):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)
        yield


def _open_lock(path: str) -> IO[str]:
    return open(f"{path}.lock", "a", encoding="ascii", opener=open_regular)


def _take_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _run(text: str, place: TrialPlace, limit: float) -> TrialResult:
    command = process.OutsideCommand(
        argv=None,
        shell=text,
        cwd=place.directory,
        env=place.env,
        stdin_file=None,
        output=place.output,
        errors=place.output,
        mark=place.mark,
    )
    began = monotonic()
    running = await process.start_command(command)
    try:
        ended = await running.wait(None, limit)
    except BaseException:
        await running.stop()
        raise
    seconds = round(monotonic() - began, 3)
    result, said = _judge(ended, limit)
    report = f"{said}\n{redact_output(place.output, REPORT_KEPT)}".strip()
    return TrialResult(result, report, Clock().now(), seconds)


def _judge(
    ended: process.CommandResult, limit: float
) -> tuple[Literal["passed", "failed", "unmeasured"], str]:
    if ended.why != "exited":
        return "unmeasured", f"did not finish within {limit:g} s ([timeouts] first_check)"
    if killed := describe_kill(ended):
        return "unmeasured", killed
    if ended.signal is not None:
        return "failed", f"crashed with signal {ended.signal}"
    return ("failed" if ended.code else "passed"), f"exit code {ended.code}"


def _read_result(path: str) -> TrialResult | None:
    try:
        with open(path, encoding="utf-8", opener=open_regular) as file:
            raw: dict[str, Any] = json.load(file)
        return TrialResult(
            raw["result"], str(raw["report"]), str(raw["at"]), float(raw["seconds"]), True
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_result(path: str, result: TrialResult) -> None:
    kept = {
        "result": result.result,
        "report": result.report,
        "at": result.at,
        "seconds": result.seconds,
    }
    atomic.replace_file(path, json.dumps(kept).encode(), sync=False)
