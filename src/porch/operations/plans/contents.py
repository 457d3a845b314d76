"""The files of a prompt's branch as one hash: what was reviewed and tried, and what is merged."""

from porch.adapters import git, worktrees
from porch.adapters.implementation_branches import worktree_of
from porch.operations.plans.place import Plan


def checkout_of(plan: Plan, branch: str) -> str | None:
    """Where a branch is checked out, be it the main checkout."""
    main = worktrees.registered(plan.where.base)[0]
    if main.branch == branch and not plan.where.is_bare:
        return main.path
    return worktree_of(plan.where, branch)


def tree_of(plan: Plan, branch: str) -> str:
    """Everything that lies in its checkout and is not ignored, else what is committed on it.

    Committing changes nothing of it. Nothing if there is no such branch.
    """
    path = checkout_of(plan, branch) if branch else None
    if path is not None:
        return git.tree(path)
    head = git.resolve(plan.where.base, f"refs/heads/{branch}") if branch else None
    return git.tree_at(plan.where.base, head) if head else ""
