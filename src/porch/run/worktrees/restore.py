"""A worktree whose directory is gone, because somebody deleted it or cleaned up, is made again."""

import os
from collections.abc import Callable

from porch.errors import OutsideError
from porch.git import repository, worktrees
from porch.machine.state import Run
from porch.store.where import ProjectPaths


def restore_run_worktree(where: ProjectPaths, run: Run, notice: Callable[[str], None]) -> None:
    """Before a run goes on: its worktree stands on its branch, with all that was committed."""
    path = os.path.normpath(os.path.join(where.base, run.worktree))
    if not run.own_worktree or os.path.isdir(path):
        return
    from porch.run.worktrees.keep_work import ARCHIVE_BRANCHES

    sources = (f"refs/heads/{run.branch}", *(f"{front}{run.branch}" for front in ARCHIVE_BRANCHES))
    commits = (repository.resolve_commit(where.base, ref) for ref in sources)
    base = next(filter(None, commits), None)
    if base is None:
        raise OutsideError(
            f"the worktree {path} is gone, and so is its branch {run.branch}",
            fix=f"if you know its last commit: git branch {run.branch} COMMIT",
            code="worktree-moved",
        )
    worktrees.ensure_worktree(where.base, path, run.branch, base)
    notice(
        f"the worktree {path} was gone; it was made again from {base[:12]}, "
        "and what was not committed there is lost"
    )
