"""Commits of everything that lies uncommitted in a worktree of porch's own.

Nobody stages anything there for themselves, so all files count: new ones, changed ones and deleted
ones. What git ignores stays out, and so does what the caller names.
"""

import contextlib
import os
from collections.abc import Sequence

from msgspec import Struct

from porch.git import git_directory, repository
from porch.git.command import run_git
from porch.git.index.raw_index import may_have_repositories, may_overlook_files
from porch.git.moves.checkout_move import remove_stale_index_lock, require_worktree_branch
from porch.system.scratch import copy_with_times, scratch_directory

_GITLINK = "160000"


class WorkCommit(Struct, frozen=True):
    """What was committed; `commit` is empty if there was nothing, `left_out` names repositories."""

    commit: str = ""
    left_out: tuple[str, ...] = ()


def commit_all_work(
    path: str, branch: str, exclude: Sequence[str], *, message: str, trailer: str
) -> WorkCommit:
    """Commit all files of a worktree on its branch; a second call finds nothing left.

    `exclude` holds globs from the top. A worktree that stands on another branch is refused: its
    commits would go to somebody else. A repository inside the worktree is left out: as a link in
    our commit its files would be lost.
    """
    require_worktree_branch(path, branch)
    left_out: list[str] = []

    def write_tree(head: str | None) -> str:
        tree, inner = _write_tree_of_work(path, head, exclude)
        left_out[:] = inner
        return tree

    remove_stale_index_lock(path)
    made = repository.commit_tree_on_head(path, write_tree, message, trailer)
    head = made or repository.read_head(path)
    if head is not None and (made or _carries_trailer(path, head, trailer)):
        if not made:
            # The commit is there already: a dead process may not have come to the index.
            repository.update_user_index(path, head)
        return WorkCommit(head, tuple(left_out))
    return WorkCommit("", tuple(left_out))


def _carries_trailer(path: str, commit: str, trailer: str) -> bool:
    message = git_directory.read_loose_message(path, commit)
    if message is None:
        message = run_git(path, "log", "-1", "--format=%B", commit)
    return trailer in message.splitlines()


def _write_tree_of_work(
    path: str, head: str | None, exclude: Sequence[str]
) -> tuple[str, list[str]]:
    """The files as they are as one tree, and the repositories inside that are not in it."""
    with scratch_directory("porch-work-") as scratch:
        env = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        # A copy knows which files are unchanged; but what it says of hidden ones does not count.
        with contextlib.suppress(FileNotFoundError):
            copy_with_times(repository.find_git_path(path, "index"), env["GIT_INDEX_FILE"])
        run_git(path, "read-tree", *(("-i", "-m", head) if head else ("--empty",)), env=env)
        if head is None or may_overlook_files(_read_index(env), len(head) // 2):
            _unhide_files(path, env)
        repository.stage_all_files(path, exclude, env)
        inner = _list_new_links(path, head, env)
        if inner:
            words = ("update-index", "-z", "--force-remove", "--stdin")
            run_git(path, *words, env=env, stdin="".join(f"{name}\0" for name in inner))
        return run_git(path, "write-tree", env=env).strip(), inner


def _read_index(env: dict[str, str]) -> bytes:
    with open(env["GIT_INDEX_FILE"], "rb") as file:
        return file.read()


def _unhide_files(path: str, env: dict[str, str]) -> None:
    """Marks like assume-unchanged would keep changed files out of the commit.

    A file that is skipped and not there belongs to a sparse checkout; nobody has deleted it.
    """
    rows = run_git(path, "ls-files", "-v", "-z", env=env).split("\0")
    hidden = [row[2:] for row in rows if row and _is_hidden(path, row[0], row[2:])]
    if hidden:
        names = "".join(f"{name}\0" for name in hidden)
        for flag in ("--no-assume-unchanged", "--no-skip-worktree"):
            run_git(path, "update-index", flag, "-z", "--stdin", env=env, stdin=names)


def _is_hidden(path: str, mark: str, name: str) -> bool:
    is_skipped = mark in "Ss" and not os.path.lexists(os.path.join(path, name))
    return not is_skipped and (mark.islower() or mark == "S")


def _list_new_links(path: str, head: str | None, env: dict[str, str]) -> list[str]:
    if not may_have_repositories(_read_index(env)):
        return []
    staged = _list_links(run_git(path, "ls-files", "-s", "-z", env=env))
    if not staged or not head:
        return staged
    known = _list_links(run_git(path, "ls-tree", "-r", "-z", head))
    return [name for name in staged if name not in known]


def _list_links(listing: str) -> list[str]:
    rows = [row for row in listing.split("\0") if row.startswith(_GITLINK)]
    return [row.partition("\t")[2] for row in rows]
