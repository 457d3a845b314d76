"""Checkouts of a commit in which nobody keeps anything: made for a while, or for whoever reads."""

import contextlib
from collections.abc import Iterator

from porch.git import git_directory, repository
from porch.git.command import run_git
from porch.git.index.index_flags import clear_index_flags
from porch.git.moves.checkout_move import (
    read_status,
    remove_stale_index_lock,
    worktree_moved_error,
)
from porch.git.worktree_lock import lock_worktrees
from porch.git.worktrees import (
    delete_directory,
    deregister_worktree,
    find_linked_worktree,
    require_common_dir,
)


@contextlib.contextmanager
def open_detached_checkout(common_repo: str, path: str, commit: str) -> Iterator[str]:
    """A checkout of a commit for the while; what a crash left at this path is replaced."""
    remove_scratch_checkout(common_repo, path)
    try:
        _add_detached_worktree(common_repo, path, commit)
        yield path
    finally:
        remove_scratch_checkout(common_repo, path)


def _add_detached_worktree(common_repo: str, path: str, commit: str) -> None:
    with lock_worktrees(require_common_dir(common_repo)):
        run_git(common_repo, "worktree", "add", "-q", "--detach", path, commit)


def ensure_read_checkout(common_repo: str, path: str, commit: str) -> None:
    """Have a commit checked out at a place where nobody keeps anything; it stays for the next."""
    here = git_directory.find_git_directory(path)
    is_ours = here is not None and git_directory.read_branch(here) is None
    if here is None or not is_ours or not git_directory.is_registered(path, here):
        remove_scratch_checkout(common_repo, path)
        _add_detached_worktree(common_repo, path, commit)
        return
    remove_stale_index_lock(path)
    # Tests ran here: what they told git to overlook would be there for the next ones.
    clear_index_flags(path)
    if _is_untouched(path, repository.resolve_branch_or_commit(common_repo, commit)):
        return
    whole = ("-c", "core.sparseCheckout=false")
    run_git(path, *whole, "checkout", "-q", "--detach", "--force", commit)
    run_git(path, "clean", "-ffdxq")


def _is_untouched(path: str, commit: str) -> bool:
    """Whether it is as if it had just been checked out, also for files that git ignores."""
    return repository.read_head(path) == commit and not read_status(path, "--ignored=matching")


def remove_scratch_checkout(common_repo: str, path: str) -> None:
    """Remove a checkout of ours that holds nothing; refuse what anybody could have put there."""
    here = find_linked_worktree(common_repo, path)
    if here is not None and here.branch:
        raise worktree_moved_error(path, here.branch, "is a worktree in use, not a temporary one")
    if here is not None:
        delete_directory(path)
        deregister_worktree(common_repo, here)
