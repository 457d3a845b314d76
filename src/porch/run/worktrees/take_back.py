"""Worktrees whose maker died before their run began: taken back by whoever notices."""

from msgspec import Struct

from porch.errors import BusyError
from porch.run.engine.run_places import mark_of
from porch.run.worktrees.checkout_state import may_be_removed
from porch.run.worktrees.make import lock_worktree_name, roll_back, worktree_path
from porch.store.where import ProjectPaths
from porch.store.worktree_records import list_records, read_record
from porch.system import process_marks


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
