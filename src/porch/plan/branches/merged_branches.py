"""Whether a branch is in another one, and how it came there: merged, copied or squashed."""

from porch.git import repository
from porch.git.command import run_git, try_git
from porch.git.merge import has_ancestor, merge_commits, require_branch_head


def find_bringing_commit(repo: str, head: str, source: str) -> str | None:
    """The merge on the line of a branch with which a commit came in from the side."""
    line = run_git(repo, "rev-list", "--first-parent", head, f"^{source}").split()
    after = set(run_git(repo, "rev-list", "--ancestry-path", f"{source}..{head}").split())
    found = [commit for commit in line if commit in after]
    # Directly on top of it stands one that brought in nothing: the line itself went through it.
    if not found or repository.resolve_commit(repo, f"{found[-1]}^1") == source:
        return None
    return found[-1]


def is_contained(repo: str, feature: str, branch: str) -> bool:
    """Whether the feature branch has it all: the commits, ones that do the same, or their sum."""
    into, head = require_branch_head(repo, feature), require_branch_head(repo, branch)
    if has_ancestor(repo, into, head):
        return True
    if try_git(repo, "merge-base", into, head).returncode:
        return False
    return _has_copies(repo, into, head) or merge_commits(
        repo, into, head
    ) == repository.read_commit_tree(repo, into)


def has_begun(repo: str, feature: str, branch: str) -> bool:
    """Whether anything was ever committed on a branch that its feature branch contains.

    One that was made a moment ago looks like one that was merged by fast-forward: both stand on the
    line of the feature branch. Only the log of the branch knows whether it ever moved.
    """
    into, head = require_branch_head(repo, feature), require_branch_head(repo, branch)
    if not has_ancestor(repo, into, head) or find_bringing_commit(repo, into, head):
        return True
    moves = try_git(repo, "rev-list", "--walk-reflogs", f"refs/heads/{branch}", "--")
    return len(set(moves.stdout.split())) > 1


def _has_copies(repo: str, into: str, head: str) -> bool:
    # Of a merge git compares nothing, so with one in between the others do not tell all.
    if run_git(repo, "rev-list", "--merges", f"{into}..{head}"):
        return False
    return all(row.startswith("-") for row in run_git(repo, "cherry", into, head).splitlines())
