"""Temporary debug lines keep a prompt from its feature branch, whichever way it comes there."""

from porch.git import repository
from porch.git.command import run_git, try_git
from porch.git.merge import has_ancestor
from porch.machine.plan.prompt_lifecycle import Condition, Prompt
from porch.plan.branches import base_branch
from porch.plan.branches.merged_branches import find_bringing_commit
from porch.plan.cleanup.added_markers import AddedMarkers, find_added_markers
from porch.plan.cleanup.debug_markers import OPEN
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.prompts.branch_contents import find_checkout, find_feature_head

_SHOWN = 10


def markers_to_merge(held: LockedPlan, prompt: Prompt) -> list[Condition]:
    """Those in what a merge of this prompt would add, or has added, to the feature branch."""
    plan, branch = held.plan, prompt.worktree_branch_name
    repo, feature = plan.where.base, find_feature_head(plan)
    head = repository.resolve_commit(repo, f"refs/heads/{branch}") if branch else None
    if not head or not feature:
        return []
    if has_ancestor(repo, feature, head):
        merged = find_bringing_commit(repo, feature, head) or head
        return markers_in_feature(held, merged, prompt.base_commit)
    start = base_branch.merge_base(repo, feature, head)
    if not start:
        return []
    found = find_added_markers(repo, start, head, checkouts=_list_checkouts(held, branch))
    return _as_conditions(held, found, branch)


def markers_in_feature(held: LockedPlan, merged: str, base: str) -> list[Condition]:
    """Those that came with a merge by hand, and that are still on the feature branch."""
    plan = held.plan
    repo, feature = plan.where.base, find_feature_head(plan)
    old = _find_commit_before(repo, merged, base)
    if not feature or not old:
        return []
    checkouts = _list_checkouts(held, plan.branch)
    found = find_added_markers(repo, old, feature, checkouts=checkouts, within=merged)
    return _as_conditions(held, found, plan.branch)


def markers_in_plan(held: LockedPlan) -> list[Condition]:
    """Those that the feature branch adds to its base branch."""
    plan = held.plan
    repo, feature = plan.where.base, find_feature_head(plan)
    base = base_branch.find_base_branch(plan.where.workspace).branch
    commit = base_branch.branch_commit(repo, base)
    start = base_branch.merge_base(repo, commit, feature) if commit and feature else None
    if not start:
        return []
    found = find_added_markers(repo, start, feature, checkouts=_list_checkouts(held, plan.branch))
    return _as_conditions(held, found, plan.branch)


def _find_commit_before(repo: str, merged: str, base: str) -> str:
    """Of a merge its first parent; what was merged by fast-forward begins where the work began."""
    parents = run_git(repo, "rev-list", "--parents", "-1", merged).split()[1:]
    if len(parents) > 1:
        return parents[0]
    is_known = base and try_git(repo, "merge-base", "--is-ancestor", base, merged).returncode == 0
    return base if is_known else next(iter(parents), "")


def _list_checkouts(held: LockedPlan, branch: str) -> list[str]:
    places = (find_checkout(held.plan, branch), find_checkout(held.plan, held.plan.branch))
    return [*dict.fromkeys(each for each in (*places, held.plan.where.base) if each)]


def _as_conditions(held: LockedPlan, found: AddedMarkers, branch: str) -> list[Condition]:
    held.notes.extend(f"not searched for {OPEN}: {each}" for each in found.unseen)
    if not found.lines:
        return []
    names = ", ".join(map(str, found.lines[:_SHOWN]))
    more = len(found.lines) - _SHOWN
    said = f"temporary debug lines ({OPEN}) in {names}{f' and {more} more' if more > 0 else ''}"
    place = find_checkout(held.plan, branch) or f"a worktree of {branch}"
    fix = f"in {place}: `envoy plan cleanup-debug-logs`, commit, then try again"
    return [Condition("debug-lines", lambda *_: False, said, fix)]
