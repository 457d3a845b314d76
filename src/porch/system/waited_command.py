"""An outside command for which everything else waits; it needs no event loop, and leaves nobody.

The same promises as in `process`: it is a session of its own, carries a mark, and nothing of it
runs any more when its end is told.
"""

import contextlib
import signal
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from porch.system.process import (
    GRACE_S,
    TICK_S,
    CommandResult,
    EndReason,
    OutsideCommand,
    mark_alone,
    open_command_files,
    signal_group,
    start_error,
)
from porch.system.process_marks import VARIABLE, is_group_alive, kill_all_matching

if TYPE_CHECKING:
    import subprocess

_LEAVE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FIRST_NAP_S = 0.0005


class AskedToLeaveError(Exception):
    """We were asked to end while we waited; the command has been ended first."""


def run_to_end(command: OutsideCommand, wall_s: float) -> CommandResult:
    """Wait for the end, or end it when it takes too long."""
    import subprocess

    command = mark_alone(command)
    with _note_signals() as asked:
        try:
            with open_command_files(command) as (stdin, output, errors):
                running = subprocess.Popen(
                    command.words,
                    cwd=command.cwd,
                    env={**command.env, VARIABLE: command.mark},
                    stdin=stdin,
                    stdout=output,
                    stderr=errors,
                    start_new_session=True,
                )
        except OSError as error:
            raise start_error(command, error) from error
        began = time.monotonic()
        why = _watch(running, began + wall_s, asked)
        seconds = time.monotonic() - began
        _end_all(command.mark, running.pid, is_over=why == "exited")
        code = running.wait()
    if asked:
        raise AskedToLeaveError
    is_killed = why == "exited" and code < 0
    told = code if why == "exited" and code >= 0 else None
    return CommandResult(told, -code if is_killed else None, why, seconds)


@contextlib.contextmanager
def _note_signals() -> Iterator[list[int]]:
    """Ctrl-C and a polite kill are noted: nothing may be cut short between two of our steps."""
    asked: list[int] = []
    before = {number: signal.signal(number, lambda got, _: asked.append(got)) for number in _LEAVE}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _watch(running: "subprocess.Popen[bytes]", deadline: float, asked: list[int]) -> EndReason:
    nap = _FIRST_NAP_S
    while running.poll() is None:
        if asked or time.monotonic() >= deadline:
            return "wall"
        time.sleep(nap)
        nap = min(2 * nap, TICK_S)
    return "exited"


def _end_all(mark: str, group: int, *, is_over: bool) -> None:
    """Whoever is left is asked, then killed, whatever session that is in."""
    if not is_over or signal_group(group, 0):
        signal_group(group, signal.SIGINT)
        deadline = time.monotonic() + GRACE_S
        while time.monotonic() < deadline and is_group_alive(group):
            time.sleep(TICK_S)
        signal_group(group, signal.SIGKILL)
    kill_all_matching(lambda found: found == mark)
