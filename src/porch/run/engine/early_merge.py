"""Commits of a run that its target branch has come to contain, and no finish brought them there.

It is asked after each turn and check, and when work is handed in that porch did not start itself.
"""

import os
from typing import Any

from porch.errors import OutsideError
from porch.git import outside, repository
from porch.git.outside import OutsideStamp
from porch.machine.outside import find_asked_head
from porch.machine.state import RunState
from porch.run.engine.run_places import own_branch
from porch.text.telling_line import find_telling_line

UNCOMPARED = "could not be compared"
_MOST_COMMITS = 5


def find_early_merge(workspace: str, root: str, state: RunState) -> dict[str, Any]:
    """After work that porch did not start, and before which nobody looked."""
    try:
        now = OutsideStamp(outside.stamp_refs(repository.find_common_directory(root or workspace)))
        merged = find_merged_commits(workspace, root, state, OutsideStamp(), now)
    except (OutsideError, OSError) as error:
        return {"changes": [f"{UNCOMPARED}: {describe_trouble(error)}"]}
    return {"merged": merged} if merged else {}


def describe_trouble(error: Exception) -> str:
    """In one line; what git said stands below its own words."""
    return find_telling_line(str(error)).removeprefix("fatal: ")


def list_own_branches(workspace: str, state: RunState) -> set[str]:
    members = [each for each in state.instances.values() if each.branch]
    own = {own_branch(state), *(each.branch for each in members)} - {""}
    own |= {each.tests_branch for each in members}
    return own or {repository.read_checkout_branch(workspace)}


def find_merged_commits(
    workspace: str, root: str, state: RunState, before: OutsideStamp, now: OutsideStamp
) -> dict[str, str]:
    """The new head of the branch that the run is to be merged into, if it has commits of the run.

    Which of two branches had a commit first cannot be told; so this is a question, not a verdict.
    """
    tree = state.instances.get("")
    into = state.run.into or (tree.target if tree else "")
    name = f"branch {into}"
    head = now.refs.get(name, "")
    if not into or not head or before.refs.get(name) == head:
        return {}
    place = workspace if os.path.isdir(workspace) else root
    heads = [f"refs/heads/{each}" for each in sorted(list_own_branches(place, state))]
    heads = [each for each in heads if repository.resolve_commit(place, each)]
    since = before.refs.get(name) or find_asked_head(state) or state.run.base_commit
    try:
        shared = outside.list_shared_commits(place, head, since, heads)
    except OutsideError as error:
        reason = (
            f"{into} has moved, and porch cannot tell whether it contains commits of this run: "
        )
        return {"head": head, "reason": reason + describe_trouble(error)}
    if not shared:
        return {}
    told = "; ".join(row.partition(" ")[2] for row in shared[:_MOST_COMMITS])
    more = f" and {len(shared) - _MOST_COMMITS} more" if len(shared) > _MOST_COMMITS else ""
    reason = (
        f"{into} has come to contain commits of this run in the meantime, and no finish did it: "
        f"{told}{more}. To take them back, move {into} back yourself; porch does not"
    )
    return {"head": head, "reason": reason}
