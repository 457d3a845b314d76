"""Flags in an index that tell git not to look at a file: worktrees of porch need none."""

from porch.git import repository
from porch.git.command import run_git
from porch.git.index.raw_index import has_flags
from porch.git.own_git_directory import ensure_own_git_directory

_SKIPPED = "S"


def clear_index_flags(worktree: str) -> list[str]:
    """Have git look at every tracked file again; the files at which it did not look.

    What is measured must be what is committed, and git commits only what it looks at.
    """
    if not has_flags(_read_index(worktree), ensure_own_git_directory(worktree).id_bytes):
        return []
    rows = run_git(worktree, "ls-files", "-v", "-z").split("\0")
    flagged = [row[2:] for row in rows if row and (row[0].islower() or row[0] == _SKIPPED)]
    for flag in ("--no-assume-unchanged", "--no-skip-worktree") if flagged else ():
        run_git(worktree, "update-index", flag, "-z", "--stdin", stdin="\0".join(flagged))
    return flagged


def _read_index(worktree: str) -> bytes:
    try:
        with open(repository.find_git_path(worktree, "index"), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
