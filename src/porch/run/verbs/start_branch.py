"""The branch on which a run begins: its work goes back there, unless somebody says otherwise."""

from porch.git import git_directory, repository, worktrees
from porch.store.where import ProjectPaths


def find_start_branch(where: ProjectPaths, own_branch: str = "") -> str:
    """The branch of the checkout that a run works in, or that its own worktree was made from.

    A worktree of its own stands at the commit that it was made from. So of all branches that are
    checked out, one at this commit is meant, that of the main checkout first.
    """
    if not where.common_dir:
        return ""
    if not own_branch:
        return _read_branch(where.workspace)
    here = repository.read_head(where.workspace)
    known = [each.branch for each in worktrees.list_worktrees(where.base) if each.branch]
    others = [branch for branch in known if branch != own_branch]
    fits = [b for b in others if repository.resolve_commit(where.base, f"refs/heads/{b}") == here]
    return next(iter((*fits, *others)), "")


def _read_branch(checkout: str) -> str:
    found = git_directory.find_git_directory(checkout)
    return (git_directory.read_branch(found) if found else None) or ""
