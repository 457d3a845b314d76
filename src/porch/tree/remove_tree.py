"""Removes what a tree that is over has left: worktrees and branches, with everything kept first.

Members go as soon as they end, and with `--into` the root does, too. What is left is the finished
branch of a tree without `--into`, and all that a tree had that failed or was stopped for good.
"""

import os

from porch.errors import BusyError
from porch.git import checkouts, repository
from porch.git.fresh.checkout_index import forget_checkout
from porch.git.measured_tree import forget_measurements
from porch.machine.state import RunState
from porch.run.engine.run_places import tree_room, workspace_of
from porch.run.worktrees.remove import RemovedWorktree, refuse_live, remove_worktree
from porch.store.where import ProjectPaths
from porch.tree.branches import refs
from porch.tree.branches.target_history import ENTRY_REFS
from porch.tree.instance_worktrees import (
    READ_SUFFIX,
    TESTS_SUFFIX,
    worktree_name,
)


def remove_tree(where: ProjectPaths, state: RunState) -> list[RemovedWorktree]:
    """Of all members, the root last; refused while the tree lives or can be resumed."""
    refuse_live(where, state)
    name, repo = state.run.name, workspace_of(where, state)
    if not state.outcome:
        raise BusyError(
            f"{name} is stopped, and its worktrees and branches are needed to resume it",
            fix=f"finish it with `porch resume {name}`, or end it by answering what it asks",
            code="run-live",
        )
    gone = []
    for instance, known in sorted(state.instances.items(), reverse=True):
        path = os.path.join(repo, worktree_name(state, instance))
        refs.remove_refs(repo, f"{ENTRY_REFS}{known.branch}/")
        checkouts.remove_scratch_checkout(repo, path + READ_SUFFIX)
        for place, branch in (
            (path + TESTS_SUFFIX, known.tests_branch),
            (path, known.branch),
        ):
            if os.path.lexists(place) or repository.resolve_commit(repo, f"refs/heads/{branch}"):
                gone.append(remove_worktree(where, state, place, branch))
                forget_checkout(place)
                forget_measurements(place, tree_room(where.run_dir(name)))
    return gone
