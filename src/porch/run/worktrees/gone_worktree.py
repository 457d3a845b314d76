"""A run whose worktree is gone: what a person is told who wants to read or to approve its files."""

import os

from porch.errors import UsageError
from porch.git import repository, worktrees
from porch.machine.state import Run, RunState
from porch.run.engine.run_places import workspace_of
from porch.run.worktrees.keep_work import ARCHIVE_BRANCHES
from porch.store.removed_worktrees import read_removed_place
from porch.store.run_names import quote_word, unique_word
from porch.store.where import ProjectPaths


def gone_worktree_error(where: ProjectPaths, state: RunState, program: str = "porch") -> UsageError:
    """With the command that makes it again; of a run that is over, where its work is."""
    run = state.run
    if moved := find_moved_worktree(where, run):
        return UsageError(
            f"the directory of {run.name} was moved to {moved}",
            fix=tell_way_back(where, run, moved),
            code="worktree-gone",
        )
    kept = _find_kept_branch(where, state)
    look = f"look at its work: git log {kept}" if kept else "`porch log` names its commits"
    word = unique_word(where.names(), run.name, run.id)
    again = f"make it again: {program} resume {word}; or "
    return UsageError(
        f"the directory of {run.name} is gone: {workspace_of(where, state)}",
        fix=look if state.outcome else f"{again}{look}",
        code="worktree-gone",
    )


def find_moved_worktree(where: ProjectPaths, run: Run) -> str:
    """Where somebody put the worktree with `git worktree move`; empty if nobody did."""
    known = worktrees.list_worktrees(where.base)[1:] if run.own_worktree else []
    return next((w.path for w in known if w.branch == run.branch and os.path.isdir(w.path)), "")


def tell_way_back(where: ProjectPaths, run: Run, moved: str) -> str:
    path = os.path.normpath(os.path.join(where.base, run.worktree))
    return f"move it back: git worktree move {quote_word(moved)} {quote_word(path)}"


def _find_kept_branch(where: ProjectPaths, state: RunState) -> str:
    """A branch that is there and has the work: its own, the archived one, or the target of it."""
    run = state.run
    removed = read_removed_place(where.run_dir(run.name))
    into = run.delivery.into if run.delivery else ""
    names = [f"refs/heads/{each}" for each in (removed.kept if removed else "", run.branch) if each]
    names += [f"{front}{run.branch}" for front in ARCHIVE_BRANCHES if run.branch]
    names += [f"refs/heads/{into}"] if into else []
    found = (name for name in names if repository.resolve_commit(where.base, name))
    return next(found, "").removeprefix("refs/heads/")
