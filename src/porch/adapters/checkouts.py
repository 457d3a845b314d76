"""Checkouts of a commit in which nobody keeps anything: made for a while, or for whoever reads."""

import contextlib
from collections.abc import Iterator

from porch.adapters import gitdir
from porch.adapters.git_command import ask
from porch.adapters.worktree_lock import alone
from porch.adapters.worktrees import (
    at,
    common_dir,
    delete_tree,
    deregister,
    free_index,
    moved,
    registered,
)


@contextlib.contextmanager
def detached(common_repo: str, path: str, commit: str) -> Iterator[str]:
    """A checkout of a commit for the while; what a crash left at this path is replaced."""
    clear(common_repo, path)
    try:
        _check_out(common_repo, path, commit)
        yield path
    finally:
        clear(common_repo, path)


def _check_out(common_repo: str, path: str, commit: str) -> None:
    with alone(common_dir(common_repo)):
        ask(common_repo, "worktree", "add", "-q", "--detach", path, commit)


def reread(common_repo: str, path: str, commit: str) -> None:
    """Have a commit checked out at a place where nobody keeps anything; it stays for the next."""
    here = gitdir.of(path)
    is_ours = here is not None and gitdir.branch(here) is None
    if here is None or not is_ours or not gitdir.is_registered(path, here):
        clear(common_repo, path)
        _check_out(common_repo, path, commit)
        return
    free_index(path)
    ask(path, "checkout", "-q", "--detach", "--force", commit)
    ask(path, "clean", "-ffdxq")


def clear(common_repo: str, path: str) -> None:
    """Remove a checkout of ours that holds nothing; refuse what anybody could have put there."""
    # The first is the person's own checkout, which may well be detached.
    here = at(registered(common_repo)[1:], path)
    if here is not None and here.branch:
        raise moved(path, here.branch, "is a worktree, not a scratch place")
    if here is not None:
        delete_tree(path)
        deregister(common_repo, here)
