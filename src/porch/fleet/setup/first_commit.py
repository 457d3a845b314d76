"""A repository for a project that has none, and its first commit: without one nothing can run."""

import os
from collections.abc import Sequence

from porch.errors import UsageError
from porch.git import repository, worktrees
from porch.git.command import git_error, run_git, try_git
from porch.git.index_lock import is_lock_of_dead_porch

_MESSAGE = "Set up codev"
_TRAILER = "Porch-Effect: codev/init"
# Where a repository is made before it gets its name.
_ASIDE = ".porch-init"


def make_repository(root: str) -> None:
    """Whole or not at all: half a repository would be taken for a damaged one."""
    aside = os.path.join(root, _ASIDE)
    worktrees.delete_directory(aside)
    run_git(root, "init", "-q", aside)
    os.rename(os.path.join(aside, ".git"), os.path.join(root, ".git"))
    os.rmdir(aside)


def has_commit(root: str) -> bool:
    return repository.read_head(root) is not None


def make_first_commit(root: str, paths: Sequence[str]) -> str:
    """Commit these files in a repository without commits; answers with the person's name."""
    repository.commit_paths(root, list(paths), _MESSAGE, _TRAILER)
    return read_identity_name(root)


def finish_killed_setup(root: str) -> None:
    """What a call that was killed may have left beside the files of the set-up."""
    worktrees.delete_directory(os.path.join(root, _ASIDE))
    if is_lock_of_dead_porch(repository.find_git_path(root, "index")) and has_commit(root):
        # It came to the commit, and not to the index.
        repository.commit_paths(root, [], _MESSAGE, _TRAILER)


def list_uncommitted(root: str) -> list[str]:
    """What a person has here that no commit holds: a worktree begins without it."""
    return worktrees.list_changed_paths(root)


def read_identity_name(root: str) -> str:
    """The name in a person's commits; nothing where git knows none."""
    if repository.read_commit_identity(root):
        return ""
    told = repository.read_git_line(root, "var", "GIT_AUTHOR_IDENT")
    return told.partition(" <")[0]


def is_inside_repository(root: str) -> bool:
    """Refuses what only looks like one, before anything is written."""
    if not os.path.lexists(os.path.join(root, ".git")):
        return False
    words = ("rev-parse", "--git-dir")
    asked = try_git(root, *words)
    if asked.returncode and "not a git repository" not in asked.stderr:
        # For example one of another user: git says what to do.
        raise git_error(root, words, asked)
    if asked.returncode:
        raise UsageError(
            f"there is a .git in {root}, but it is not a git repository: {asked.stderr.strip()}",
            fix="move it away (`mv .git old.git`), then run this command again",
            code="no-repository",
        )
    return True
