"""What a kickoff leaves that dies before it has said which run it drives.

Its worktree is taken back if the run did not begin. If it did, the run gets a log of its own, by
which the next look at it starts its driver again.
"""

import os

from msgspec import Struct

from porch.errors import BusyError
from porch.fleet.drivers.kickoff_logs import LOG, list_kickoff_logs, remove_if_dead
from porch.fleet.drivers.revive import find_last_driver
from porch.run.engine.run_places import mark_of
from porch.run.worktrees.checkout_state import may_be_removed
from porch.run.worktrees.make import lock_worktree_name, roll_back, worktree_path
from porch.store.where import ProjectPaths
from porch.store.worktree_records import list_records, read_record
from porch.system import atomic, process_marks


class UnbegunWorktree(Struct, frozen=True):
    """One that was made for a run that is not there; it is gone, or somebody's files are in it."""

    name: str
    path: str
    is_gone: bool


def take_back_unbegun(where: ProjectPaths) -> list[UnbegunWorktree]:
    """Remove what can be removed; what somebody makes at this moment is passed over."""
    made = [each for each in list_records(where) if not each.was_there]
    unbegun = [each.name for each in made if not where.has_begun(each.run)]
    return [found for name in unbegun if (found := _take_back(where, name)) is not None]


def _take_back(where: ProjectPaths, name: str) -> UnbegunWorktree | None:
    path = worktree_path(where, name)
    try:
        with lock_worktree_name(where, name):
            record = read_record(where, name)
            if record is None or where.has_begun(record.run):
                return None
            process_marks.reap_processes(f"{mark_of(where, record.run)}:setup-")
            if not may_be_removed(where, path, record):
                return UnbegunWorktree(name, path, False)
            roll_back(where, path, record)
            return UnbegunWorktree(name, path, True)
    except BusyError:
        return None


def take_back_leftovers(where: ProjectPaths) -> list[str]:
    """Clean up behind kickoffs that died; what was taken back, in words."""
    dead = [path for path in list_kickoff_logs(where) if remove_if_dead(path)]
    return take_back_kickoff(where) if dead else []


def take_back_kickoff(where: ProjectPaths) -> list[str]:
    """The same behind one of which it is known that it died."""
    found = take_back_unbegun(where)
    for name in where.runs():
        _claim_run(where, name)
    return [_describe(each) for each in found]


def _describe(found: UnbegunWorktree) -> str:
    died = f"{found.name}: its kickoff died before the run began"
    if found.is_gone:
        return f"{died}, and the worktree was removed"
    return f"{died}; files of the set-up are in {found.path}; the same kickoff goes on with it"


def _claim_run(where: ProjectPaths, name: str) -> None:
    """A driver that was kicked off has a log; this one died before it could put it there."""
    path = os.path.join(where.run_dir(name), LOG)
    if not os.path.exists(path) and find_last_driver(where, name).get("detached"):
        atomic.replace_file(path, b"", sync=False)
