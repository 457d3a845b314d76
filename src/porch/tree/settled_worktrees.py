"""Worktrees of members of a tree that are over: archived, then removed, as soon as they settle."""

import os
from collections.abc import Collection

from porch.git import checkouts, repository, worktrees
from porch.git.command import run_git
from porch.git.fresh.checkout_index import forget_checkout
from porch.git.measured_tree import forget_measurements
from porch.machine.state import RunState
from porch.run.agents.world import World
from porch.tree import instance_worktrees
from porch.tree.branches import refs
from porch.tree.branches.target_history import ENTRY_REFS
from porch.tree.instance_worktrees import READ_SUFFIX, TESTS_SUFFIX


def remove_finished_worktrees(world: World, names: Collection[str] = ()) -> list[str]:
    """Worktrees of instances that are over, of these or else of all; what is unsaved is kept first.

    A root that failed is left as it is, for a person to look at. Those of which nothing is left
    cost nothing: the branch goes last, so what has none is done.
    """
    state = world.state()
    over = [name for name in names or state.instances if _is_removable(state, name)]
    left = over if names else _list_left(world, over)
    return [branch for name in left for branch in _remove_instance(world, name)]


def _is_removable(state: RunState, name: str) -> bool:
    known = state.instances[name]
    return known.outcome == "complete" or bool(known.outcome and name)


def _list_left(world: World, names: list[str]) -> list[str]:
    """Those that still have a branch, a directory or a registration; all are listed once."""
    if not names:
        return []
    state, place = world.state(), os.path.join(world.workspace, "worktrees")
    # Branches of members are named after that of the root.
    pattern = f"refs/heads/{state.instances[''].branch}*"
    heads = set(run_git(world.workspace, "for-each-ref", "--format=%(refname)", pattern).split())
    there = set(os.listdir(place)) if os.path.isdir(place) else set[str]()
    known = {os.path.basename(each.path) for each in worktrees.list_worktrees(world.workspace)[1:]}
    return [name for name in names if _has_anything(world, name, heads, there | known)]


def _has_anything(world: World, name: str, heads: set[str], directories: set[str]) -> bool:
    known = world.state().instances[name]
    path = os.path.basename(instance_worktrees.main_worktree_path(world, name))
    branches = {f"refs/heads/{each}" for each in (known.branch, known.tests_branch)}
    return not branches.isdisjoint(heads) or not directories.isdisjoint(
        {path, path + TESTS_SUFFIX, path + READ_SUFFIX}
    )


def _remove_instance(world: World, name: str) -> list[str]:
    known = world.state().instances[name]
    path, tests = instance_worktrees.main_worktree_path(world, name), known.tests_branch
    refs.remove_refs(world.workspace, f"{ENTRY_REFS}{known.branch}/")
    checkouts.remove_scratch_checkout(world.workspace, path + READ_SUFFIX)
    # A finished branch that was to be merged nowhere is what the run leaves to people.
    branch = known.branch if known.target else None
    places = [(path + TESTS_SUFFIX, tests), (path, branch)]
    left = [(place, each) for place, each in places if _is_left(world, place, each)]
    worktrees.remove_worktrees(world.workspace, left)
    for place, _ in left:
        forget_checkout(place)
        forget_measurements(place, world.tree_room)
    return [each for _, each in left if each]


def _is_left(world: World, place: str, branch: str | None) -> bool:
    if os.path.isdir(place):
        return True
    ref = f"refs/heads/{branch}"
    return branch is not None and repository.resolve_commit(world.workspace, ref) is not None
