"""Files that git overlooks in a worktree, as they are now."""

from porch.git.command import run_git

_WORDS = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")


def list_ignored_paths(worktree: str) -> list[str]:
    """Paths from the top; a directory of which everything is ignored is one of them, with a /."""
    return [path for path in run_git(worktree, *_WORDS).split("\0") if path]
