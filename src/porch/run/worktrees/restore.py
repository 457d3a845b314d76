"""A worktree whose directory is gone, because somebody deleted it or cleaned up, is made again."""

import os
from collections.abc import Callable

from porch.errors import OutsideError
from porch.git import repository, worktrees
from porch.git.moved_worktrees import find_moved_worktrees, repair_moved_worktrees
from porch.machine.state import Run
from porch.store.removed_worktrees import RemovedPlace, forget_removed_place, read_removed_place
from porch.store.where import ProjectPaths

Notice = Callable[[str], None]


def restore_run_worktree(where: ProjectPaths, run: Run, notice: Notice) -> None:
    """Before a run goes on: its worktree stands on its branch, with all that was committed."""
    if moved := find_moved_worktrees(where.common_dir, where.top):
        repair_moved_worktrees(where.common_dir, moved)
        notice(f"the project was moved; git finds its worktrees again: {', '.join(moved)}")
    path = os.path.normpath(os.path.join(where.base, run.worktree))
    if not run.own_worktree or os.path.isdir(path):
        return
    _refuse_moved(where, run)
    directory = where.run_dir(run.name)
    removed = read_removed_place(directory)
    base = _find_start(where, run, removed)
    if base is None:
        from porch.run.worktrees.last_commit import describe_way_back

        raise OutsideError(
            f"the worktree {path} is gone, and so is its branch {run.branch}",
            fix=describe_way_back(where, run),
            code="worktree-moved",
        )
    _make_again(where, path, run, base, notice)
    # What was noted is about the one that was removed; the next removal says where it stood.
    forget_removed_place(directory)
    notice(_describe_restored(path, base, removed))


def _refuse_moved(where: ProjectPaths, run: Run) -> None:
    """It is still there, elsewhere: a second one would leave behind what is not committed."""
    from porch.run.worktrees.gone_worktree import find_moved_worktree, tell_way_back

    if moved := find_moved_worktree(where, run):
        raise OutsideError(
            f"the worktree of {run.name} was moved to {moved}",
            fix=tell_way_back(where, run, moved),
            code="worktree-moved",
        )


def _find_start(where: ProjectPaths, run: Run, removed: RemovedPlace | None) -> str | None:
    """The branch, if somebody has it again; else where the worktree stood; else what was kept."""
    from porch.run.worktrees.keep_work import ARCHIVE_BRANCHES

    stood = (removed.commit,) if removed and removed.commit else ()
    kept = (f"{front}{run.branch}" for front in ARCHIVE_BRANCHES)
    names = (f"refs/heads/{run.branch}", *stood, *kept)
    return next(filter(None, (repository.resolve_commit(where.base, n) for n in names)), None)


def _describe_restored(path: str, base: str, removed: RemovedPlace | None) -> str:
    if removed is not None and removed.commit == base:
        return f"the worktree {path} was cleaned up; it was made again from {base[:12]}, whole"
    return (
        f"the worktree {path} was gone; it was made again from {base[:12]}, "
        "and what was not committed there is lost"
    )


def _make_again(where: ProjectPaths, path: str, run: Run, base: str, notice: Notice) -> None:
    """Like a new one: without its ports and its set-up, checks would fail for no fault of the work.

    Loaded late: nearly always the worktree is there.
    """
    from porch.run.worktrees.set_up_again import set_up_again

    worktrees.ensure_worktree(where.base, path, run.branch, base)
    set_up_again(where, path, run, base, notice)
