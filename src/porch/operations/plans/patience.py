"""Waiting for people: woken by files, and looking only when one that matters has changed."""

import os
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from porch.adapters.file_events import Watching
from porch.operations.plans.place import Plan

T = TypeVar("T")
Stamp = tuple[tuple[int, int, int], ...]


def awaited(
    plan: Plan, files: Sequence[str], wait_s: float, look: Callable[[], T | None]
) -> T | None:
    """What a look finds, at once or within the time; nothing if it never finds anything.

    Whoever looks takes the lock of the plan, which writes into the directory that is watched; so
    it is the journal and the given files that count, not that something moved there.
    """
    until = time.monotonic() + wait_s
    found = look()
    if found is not None or wait_s <= 0:
        return found
    directory = plan.where.run_dir(plan.run)
    watched = (os.path.join(directory, "journal.jsonl"), *files)
    with Watching([plan.feedback_dir, directory]) as watching:
        while True:
            seen = _stamps(watched)
            found = look()
            if found is not None or not _changed(watching, watched, seen, until):
                return found


def _changed(watching: Watching, files: Sequence[str], seen: Stamp, until: float) -> bool:
    while (left := until - time.monotonic()) > 0:
        if _stamps(files) != seen:
            return True
        watching.wait(left)
    return False


def _stamps(files: Sequence[str]) -> Stamp:
    return tuple(_stamp(path) for path in files)


def _stamp(path: str) -> tuple[int, int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return (0, 0, 0)
    return found.st_ino, found.st_mtime_ns, found.st_size
