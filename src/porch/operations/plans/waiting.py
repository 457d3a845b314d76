"""Waiting at a plan for what somebody else does, without keeping anybody from it.

A look takes the lock and leaves traces of its own, so who waits looks only when something has
changed that can be an answer: the journal, its inbox, or a file in which people answer.
"""

import os
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from porch.adapters.file_events import Watching
from porch.errors import BusyError
from porch.operations.plans.place import Plan


class Outcome(Protocol):
    """What came of a look."""

    @property
    def is_pending(self) -> bool: ...


Came = TypeVar("Came", bound=Outcome)
Sight = tuple[tuple[str, int, int, int], ...]


def awaited(plan: Plan, look: Callable[[], Came], deadline: float) -> Came:
    """What a look finds before the monotonic deadline; there is always one look.

    Who holds the plan for long keeps a command from it, but not somebody who waits anyway.
    """
    while True:
        try:
            return _awaited(plan, look, deadline)
        except BusyError:
            if time.monotonic() >= deadline:
                raise


def _awaited(plan: Plan, look: Callable[[], Came], deadline: float) -> Came:
    came = look()
    if not came.is_pending or time.monotonic() >= deadline:
        return came
    with Watching([plan.feedback_dir, plan.where.run_dir(plan.run)]) as watching:
        # Nothing is known at first: what came before the watching began was told to nobody.
        seen: Sight | None = None
        while came.is_pending and (left := deadline - time.monotonic()) > 0:
            now = sight(plan)
            if now == seen:
                watching.wait(left)
                continue
            seen, came = now, look()
    return came


def sight(plan: Plan) -> Sight:
    """All that can be an answer, as it is seen without the lock."""
    run = plan.where.run_dir(plan.run)
    inbox = os.path.join(run, "inbox")
    journal = os.path.join(run, "journal.jsonl")
    paths = [journal, *_in(inbox), *_in(plan.feedback_dir)]
    return tuple(stamp for path in paths if (stamp := _stamp(path)))


def _in(directory: str) -> list[str]:
    try:
        return [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
    except OSError:
        return []


def _stamp(path: str) -> tuple[str, int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return path, found.st_mtime_ns, found.st_size, found.st_ino
