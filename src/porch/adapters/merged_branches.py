"""Whether a branch is in another one, and how it came there: merged, copied or squashed."""

from porch.adapters import git
from porch.adapters.git_command import ask, attempt
from porch.adapters.merging import contains, head_of, three_way


def brought_by(repo: str, head: str, source: str) -> str | None:
    """The merge on the line of a branch with which a commit came in from the side."""
    line = ask(repo, "rev-list", "--first-parent", head, f"^{source}").split()
    after = set(ask(repo, "rev-list", "--ancestry-path", f"{source}..{head}").split())
    found = [commit for commit in line if commit in after]
    # Directly on top of it stands one that brought in nothing: the line itself went through it.
    if not found or git.resolve(repo, f"{found[-1]}^1") == source:
        return None
    return found[-1]


def is_contained(repo: str, feature: str, branch: str) -> bool:
    """Whether the feature branch has it all: the commits, ones that do the same, or their sum."""
    into, head = head_of(repo, feature), head_of(repo, branch)
    if contains(repo, into, head):
        return True
    if attempt(repo, "merge-base", into, head).returncode:
        return False
    return _has_copies(repo, into, head) or three_way(repo, into, head) == git.tree_at(repo, into)


def has_begun(repo: str, feature: str, branch: str) -> bool:
    """Whether anything was ever committed on a branch that its feature branch contains.

    One that was made a moment ago looks like one that was merged by fast-forward: both stand on the
    line of the feature branch. Only the log of the branch knows whether it ever moved.
    """
    into, head = head_of(repo, feature), head_of(repo, branch)
    if not contains(repo, into, head) or brought_by(repo, into, head):
        return True
    moves = attempt(repo, "rev-list", "--walk-reflogs", f"refs/heads/{branch}", "--")
    return len(set(moves.stdout.split())) > 1


def _has_copies(repo: str, into: str, head: str) -> bool:
    # Of a merge git compares nothing, so with one in between the others do not tell all.
    if ask(repo, "rev-list", "--merges", f"{into}..{head}"):
        return False
    return all(row.startswith("-") for row in ask(repo, "cherry", into, head).splitlines())
