"""Waiting for people: woken by files, and looking only when one that matters has changed."""

import os
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from porch.errors import BusyError
from porch.plan.files.plan_location import Plan
from porch.plan.gates.file_events import DirectoryWatch

T = TypeVar("T")
FilesStamp = tuple[tuple[int, int, int], ...]


def wait_for_answer(
    plan: Plan, files: Sequence[str], wait_s: float, look: Callable[[], T | None]
) -> T | None:
    """What a look finds, at once or within the time; nothing if it never finds anything.

    Whoever looks takes the lock of the plan, which writes into the directory that is watched; so
    it is the journal and the given files that count, not that something moved there.
    """
    until = time.monotonic() + wait_s
    while True:
        try:
            return _wait_for_look(plan, files, until, look)
        except BusyError:
            # Who holds the plan for long keeps a command from it, not somebody who waits anyway.
            if time.monotonic() >= until:
                raise


def _wait_for_look(
    plan: Plan, files: Sequence[str], until: float, look: Callable[[], T | None]
) -> T | None:
    found = look()
    if found is not None or time.monotonic() >= until:
        return found
    directory = plan.where.run_dir(plan.run)
    # The inbox, for a wish whose maker was killed before somebody took it.
    watched = (*(os.path.join(directory, name) for name in ("journal.jsonl", "inbox")), *files)
    with DirectoryWatch([plan.feedback_dir, directory]) as watching:
        while True:
            seen = _stamp_files(watched)
            found = look()
            if found is not None or not _wait_for_change(watching, watched, seen, until):
                return found


def _wait_for_change(
    watching: DirectoryWatch, files: Sequence[str], seen: FilesStamp, until: float
) -> bool:
    while (left := until - time.monotonic()) > 0:
        if _stamp_files(files) != seen:
            return True
        watching.wait(left)
    return False


def _stamp_files(files: Sequence[str]) -> FilesStamp:
    return tuple(_stamp_file(path) for path in files)


def _stamp_file(path: str) -> tuple[int, int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return (0, 0, 0)
    return found.st_ino, found.st_mtime_ns, found.st_size
