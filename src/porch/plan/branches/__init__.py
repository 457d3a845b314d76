"""What agents ask of git: the base branch, pull requests, and worktrees that nobody needs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from porch.plan.branches.base_changes import (
        checkout_base,
        diff_base,
        get_base_branch,
        is_base_branch,
    )
    from porch.plan.branches.pull_request import create_pr
    from porch.plan.branches.worktree_cleanup import cleanup_worktrees

__all__ = [
    "checkout_base",
    "cleanup_worktrees",
    "create_pr",
    "diff_base",
    "get_base_branch",
    "is_base_branch",
]


def __getattr__(name: str) -> Any:
    """Loaded when asked for: every command about a plan comes through this package."""
    if name == "create_pr":
        from porch.plan.branches import pull_request

        return pull_request.create_pr
    if name == "cleanup_worktrees":
        from porch.plan.branches import worktree_cleanup

        return worktree_cleanup.cleanup_worktrees
    if name in __all__:
        from porch.plan.branches import base_changes

        return getattr(base_changes, name)
    raise AttributeError(name)
