"""What lies on the branches of prompts: the files as one hash, the heads, what is not merged."""

from porch.git import measured_tree, repository, worktrees
from porch.machine.plan.prompt_lifecycle import Prompts
from porch.plan.branches.implementation_branches import find_worktree_path
from porch.plan.files.plan_location import Plan


def find_checkout(plan: Plan, branch: str) -> str | None:
    """Where a branch is checked out, be it the main checkout."""
    main = worktrees.list_worktrees(plan.where.base)[0]
    if main.branch == branch and not plan.where.is_bare:
        return main.path
    return find_worktree_path(plan.where, branch)


def hash_branch_files(plan: Plan, branch: str) -> str:
    """Everything that lies in its checkout and is not ignored, else what is committed on it.

    Committing changes nothing of it. Nothing if there is no such branch.
    """
    path = find_checkout(plan, branch) if branch else None
    if path is not None:
        return measured_tree.measure_tree(path)
    head = repository.resolve_commit(plan.where.base, f"refs/heads/{branch}") if branch else None
    return repository.read_commit_tree(plan.where.base, head) if head else ""


def list_unmerged_alternatives(plan: Plan, prompts: Prompts, number: int) -> list[str]:
    """Branches that a person wanted kept beside the main one."""
    branches = [
        prompt.worktree_branch_name
        for id_, prompt in prompts.items()
        if id_.number == number and prompt.variant_solution == "alternative"
    ]
    return [
        b for b in branches if b and repository.resolve_commit(plan.where.base, f"refs/heads/{b}")
    ]


def find_feature_head(plan: Plan) -> str:
    """The last commit of the feature branch."""
    return repository.resolve_commit(plan.where.base, f"refs/heads/{plan.branch}") or ""
