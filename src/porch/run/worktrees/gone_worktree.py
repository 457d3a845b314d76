"""A run whose worktree is gone: what a person is told who wants to read or to approve its files."""

from porch.errors import UsageError
from porch.machine.state import RunState
from porch.run.engine.run_places import workspace_of
from porch.store.removed_worktrees import read_removed_place
from porch.store.run_names import unique_word
from porch.store.where import ProjectPaths


def gone_worktree_error(where: ProjectPaths, state: RunState, program: str = "porch") -> UsageError:
    """With the command that makes it again; of a run that is over, where its work is."""
    run = state.run
    removed = read_removed_place(where.run_dir(run.name))
    kept = removed.kept if removed else run.branch
    look = f"look at its work: git log {kept}" if kept else "nothing makes it again"
    word = unique_word(where.names(), run.name, run.id)
    again = f"make it again: {program} resume {word}; or "
    return UsageError(
        f"the directory of {run.name} is gone: {workspace_of(where, state)}",
        fix=look if state.outcome else f"{again}{look}",
        code="worktree-gone",
    )
