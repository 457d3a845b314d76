"""Bringing work together without an agent, a hook or a checkout that anybody is working in.

A merge is computed first and published after, so a conflict leaves nothing to clean up.
"""

import os
from functools import cache
from typing import Literal

from msgspec import Struct

from porch.errors import OutsideError
from porch.git import checkouts, git_directory, repository, worktrees
from porch.git.command import git_error, run_git, try_git
from porch.git.moves.checkout_move import (
    Checkout,
    finish_interrupted_move,
    list_unfinished_moves,
    require_worktree_branch,
    swap_branch_head,
    worktree_moved_error,
)
from porch.git.moves.own_refs import delete_own_refs

# From this version on git merges without a checkout.
MERGES_TREES = (2, 38)


class MergeCandidate(Struct, frozen=True):
    """A squash of a branch onto the head that its target had; equal if there is nothing to add."""

    commit: str
    old_head: str


class Conflict(Struct, frozen=True):
    """The files that two sides changed differently; nothing was touched."""

    files: tuple[str, ...]


def create_candidate(
    common_repo: str,
    target: str,
    source: str,
    message: str,
    *,
    trailer: str,
    scratch: str,
) -> MergeCandidate | Conflict:
    """One commit on top of the target's head that holds what the source adds; publishes nothing."""
    old, source = (
        name if git_directory.is_whole_hash(name) else require_branch_head(common_repo, name)
        for name in (target, source)
    )
    tree = merge_commits(common_repo, old, source, scratch)
    if isinstance(tree, Conflict):
        return tree
    return MergeCandidate(
        _commit_on_top(common_repo, tree, old, message=message, trailer=trailer), old
    )


def create_finish_candidate(
    common_repo: str, target_branch: str, head: str, message: str, *, trailer: str, is_squash: bool
) -> MergeCandidate | Conflict:
    """The work up to a commit on top of the target: a merge commit, or all of it as one commit.

    What the target has already is found: by its ancestors, or by the trailer of the one commit.
    """
    old = require_branch_head(common_repo, target_branch)
    if has_ancestor(common_repo, old, head):
        return MergeCandidate(old, old)
    known = repository.find_commit_by_trailer(common_repo, trailer, old) if is_squash else None
    if known:
        return MergeCandidate(known, old)
    tree = merge_commits(common_repo, old, head)
    if isinstance(tree, Conflict):
        return tree
    if is_squash:
        return MergeCandidate(
            _commit_on_top(common_repo, tree, old, message=message, trailer=trailer), old
        )
    text, env = f"{message.rstrip()}\n\n{trailer}\n", repository.read_commit_identity(common_repo)
    words = ("commit-tree", tree, "-p", old, "-p", head, "-F", "-")
    return MergeCandidate(run_git(common_repo, *words, env=env, stdin=text).strip(), old)


def find_branch_checkout(common_repo: str, branch: str) -> Checkout | None:
    """Where a branch is checked out; an interrupted move of its files is ended first."""
    place = _find_checkout(common_repo, branch)
    if place is not None:
        finish_interrupted_move(place, branch)
    return place


def finish_all_moves(common_repo: str) -> list[str]:
    """Put right every checkout in which a move was cut short, whoever began it; their branches."""
    found = list_unfinished_moves(common_repo)
    for move in found:
        place = _find_checkout(common_repo, move.branch)
        if place is not None:
            finish_interrupted_move(place, move.branch)
        else:
            delete_own_refs(common_repo, [move.ref])
    return [move.branch for move in found]


def publish_commit(
    common_repo: str, target_branch: str, *, new: str, old: str, checkout: str | None
) -> Literal["done", "stale"]:
    """Move the target from old to new, with the files of its checkout.

    `checkout` is porch's own worktree of the target; any other is found and only fast-forwarded.
    """
    place = Checkout(checkout, own=True) if checkout else _find_checkout(common_repo, target_branch)
    if place is not None:
        require_worktree_branch(place.path, target_branch)
        finish_interrupted_move(place, target_branch)
    now = require_branch_head(common_repo, target_branch)
    if has_ancestor(common_repo, now, new):
        return "done"
    if now != old:
        return "stale"
    if place is not None and not has_ancestor(common_repo, new, old):
        raise OutsideError(
            f"{new[:12]} is not based on the head of '{target_branch}'",
            fix=f"merge '{target_branch}' into it first",
        )
    return (
        "done"
        if swap_branch_head(common_repo, target_branch, new=new, old=old, checkout=place)
        else "stale"
    )


def integrate_tests_branch(
    worktree_main: str, tests_branch: str, message: str, trailer: str, *, is_again: bool = True
) -> str | Conflict:
    """Squash the tests branch into the branch of this worktree; the head if it adds nothing.

    If it was tried before (`is_again`), it may have been done then; its commit is known again.
    """
    branch = require_current_branch(worktree_main)
    finish_interrupted_move(Checkout(worktree_main, own=True), branch)
    done = repository.find_commit_by_trailer(worktree_main, trailer) if is_again else None
    if done is not None:
        return done
    old, tests = (
        require_branch_head(worktree_main, branch),
        require_branch_head(worktree_main, tests_branch),
    )
    tree = merge_commits(worktree_main, old, tests)
    if isinstance(tree, Conflict):
        return tree
    new = _commit_on_top(worktree_main, tree, old, message=message, trailer=trailer)
    advance_branch(worktree_main, branch, new, old)
    return new


def move_branch(worktree: str, to_commit: str) -> None:
    """Put the branch of this worktree, and its files, at a commit; commits it leaves are kept."""
    branch = require_current_branch(worktree)
    finish_interrupted_move(Checkout(worktree, own=True), branch)
    old, new = require_branch_head(worktree, branch), repository.resolve_commit(worktree, to_commit)
    if new is None:
        raise OutsideError(f"there is no commit {to_commit} in {worktree}", fix="fetch it first")
    if not has_ancestor(worktree, new, old):
        worktrees.archive_branch(worktree, branch, worktrees.ARCHIVE + branch)
    if old != new:
        advance_branch(worktree, branch, new, old)


def advance_branch(worktree: str, branch: str, new: str, old: str) -> None:
    """Move the branch of our own worktree, where nobody else may move it meanwhile."""
    if new != old and not swap_branch_head(
        worktree, branch, new=new, old=old, checkout=Checkout(worktree, own=True)
    ):
        raise worktree_moved_error(worktree, branch, "was changed by another process just now")


def merge_commits(repo: str, ours: str, theirs: str, scratch: str = "") -> str | Conflict:
    """The tree of both commits merged since their common ancestor, or where they disagree."""
    for one, other in ((theirs, ours), (ours, theirs)):
        # Whatever stands on the other one already is the merge of both.
        if one == other or git_directory.has_near_ancestor(repo, one, other):
            return repository.read_commit_tree(repo, one)
    if _read_git_version() >= MERGES_TREES:
        return _merge_in_object_store(repo, ours, theirs)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="porch-merge-") as room:
        return merge_in_checkout(repo, ours, theirs, scratch or os.path.join(room, "tree"))


def merge_in_checkout(repo: str, ours: str, theirs: str, scratch: str) -> str | Conflict:
    """The same in a temporary checkout, for a git that cannot merge without one."""
    with checkouts.open_detached_checkout(repo, scratch, ours) as place:
        words = ("merge", "--no-commit", "--no-ff", "-q", theirs)
        done = try_git(place, *words, env=repository.read_commit_identity(repo))
        unmerged = run_git(place, "diff", "--name-only", "-z", "--diff-filter=U").split("\0")[:-1]
        if unmerged:
            return Conflict(tuple(unmerged))
        if done.returncode:
            raise git_error(place, words, done)
        return run_git(place, "write-tree").strip()


def cherry_pick_tree(repo: str, onto: str, commit: str) -> str | Conflict:
    """The tree `onto` with the change of one commit added, as a cherry-pick would."""
    parents = git_directory.read_loose_parents(repo, commit)
    if parents and repository.read_commit_tree(repo, parents[0]) == onto:
        return repository.read_commit_tree(repo, commit)
    # A stand-in beside the commit, so that the commit's parent is the common ancestor.
    words = ("commit-tree", onto, "-p", f"{commit}^1", "-m", "stand-in")
    beside = run_git(repo, *words, env=repository.read_commit_identity(repo)).strip()
    return merge_commits(repo, beside, commit)


def require_branch_head(repo: str, branch: str) -> str:
    head = repository.resolve_commit(repo, f"refs/heads/{branch}")
    if head is None:
        raise OutsideError(
            f"there is no branch '{branch}' in {repo}",
            fix="restore it; commits of removed branches are kept under refs/porch/archive",
        )
    return head


def has_ancestor(repo: str, commit: str, ancestor: str) -> bool:
    if commit == ancestor or git_directory.has_near_ancestor(repo, commit, ancestor):
        return True
    # What stands on a commit cannot stand below it as well.
    if git_directory.has_near_ancestor(repo, ancestor, commit):
        return False
    words = ("merge-base", "--is-ancestor", ancestor, commit)
    done = try_git(repo, *words)
    if done.returncode > 1:
        raise git_error(repo, words, done)
    return done.returncode == 0


def _merge_in_object_store(repo: str, ours: str, theirs: str) -> str | Conflict:
    words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    done = try_git(repo, *words)
    if done.returncode not in (0, 1):
        raise git_error(repo, words, done)
    tree, *files = done.stdout.split("\0")[:-1]
    return tree if done.returncode == 0 else Conflict(tuple(dict.fromkeys(files)))


@cache
def _read_git_version() -> tuple[int, ...]:
    words = run_git(os.sep, "version").split()[2].split(".")
    return tuple(int(word) for word in words[:2])


def _commit_on_top(repo: str, tree: str, old: str, *, message: str, trailer: str) -> str:
    if tree == repository.read_commit_tree(repo, old):
        return old
    text = f"{message.rstrip()}\n\n{trailer}\n"
    words = ("commit-tree", tree, "-p", old, "-F", "-")
    return run_git(repo, *words, env=repository.read_commit_identity(repo), stdin=text).strip()


def require_current_branch(worktree: str) -> str:
    found = git_directory.find_git_directory(worktree)
    branch = git_directory.read_branch(found) if found else None
    if branch is None:
        raise worktree_moved_error(worktree, "its own", "is not on a branch")
    return branch


def _find_checkout(common_repo: str, branch: str) -> Checkout | None:
    for each in worktrees.list_worktrees(common_repo):
        if each.branch == branch and os.path.isdir(each.path):
            return Checkout(each.path, own=False)
    return None
