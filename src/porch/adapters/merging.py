"""Bringing work together without an agent, a hook or a checkout that anybody is working in.

A merge is computed first and published after, so a conflict leaves nothing to clean up.
"""

import os
import tempfile
from dataclasses import dataclass
from functools import cache
from typing import Literal

from porch.adapters import checkouts, crash, git, gitdir, worktrees
from porch.adapters.git_command import ask, attempt, failure
from porch.adapters.worktrees import MOVING, Checkout, moved, settle, stand, unsaved
from porch.errors import OutsideError

# From this version on git merges without a checkout.
MERGES_TREES = (2, 38)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A squash of a branch onto the head that its target had; equal if there is nothing to add."""

    commit: str
    old_head: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """The files that two sides changed differently; nothing was touched."""

    files: tuple[str, ...]


def candidate(
    common_repo: str,
    target_branch: str,
    source_branch: str,
    message: str,
    trailer: str,
    scratch: str,
) -> Candidate | Conflict:
    """One commit on top of the target's head that holds what the source adds; publishes nothing."""
    old, source = head_of(common_repo, target_branch), head_of(common_repo, source_branch)
    tree = three_way(common_repo, old, source, scratch)
    if isinstance(tree, Conflict):
        return tree
    return Candidate(_on_top(common_repo, tree, old, message, trailer), old)


def publish(
    common_repo: str, target_branch: str, new: str, old: str, checkout: str | None
) -> Literal["done", "stale"]:
    """Move the target from old to new, with the files of its checkout.

    `checkout` is porch's own worktree of the target; any other is found and only fast-forwarded.
    """
    place = Checkout(checkout, own=True) if checkout else _found(common_repo, target_branch)
    if place is not None:
        stand(place.path, target_branch)
        settle(place, target_branch)
    now = head_of(common_repo, target_branch)
    if contains(common_repo, now, new):
        return "done"
    if now != old:
        return "stale"
    if place is not None and not contains(common_repo, new, old):
        raise OutsideError(
            f"{new[:12]} does not follow the head of '{target_branch}'", fix="merge it first"
        )
    return "done" if move(common_repo, target_branch, new, old, place) else "stale"


def integrate(worktree_main: str, tests_branch: str, message: str, trailer: str) -> str | Conflict:
    """Squash the tests branch into the branch of this worktree; the head if it adds nothing."""
    branch = branch_of(worktree_main)
    settle(Checkout(worktree_main, own=True), branch)
    done = git.find_commit(worktree_main, trailer)
    if done is not None:
        return done
    old, tests = head_of(worktree_main, branch), head_of(worktree_main, tests_branch)
    tree = three_way(worktree_main, old, tests)
    if isinstance(tree, Conflict):
        return tree
    new = _on_top(worktree_main, tree, old, message, trailer)
    advance(worktree_main, branch, new, old)
    return new


def move_branch(worktree: str, to_commit: str) -> None:
    """Put the branch of this worktree, and its files, at a commit; commits it leaves are kept."""
    branch = branch_of(worktree)
    settle(Checkout(worktree, own=True), branch)
    old, new = head_of(worktree, branch), git.resolve(worktree, to_commit)
    if new is None:
        raise OutsideError(f"there is no commit {to_commit} in {worktree}", fix="fetch it first")
    if not contains(worktree, new, old):
        worktrees.archive(worktree, branch, worktrees.ARCHIVE + branch)
    if old != new:
        advance(worktree, branch, new, old)


def move(repo: str, branch: str, new: str, old: str, checkout: Checkout | None) -> bool:
    """Move a branch from old to new, with its files; False if it no longer is at old."""
    if checkout is None:
        return _swap(repo, branch, new, old)
    _refuse_unready(checkout, branch, new, old)
    ask(repo, "update-ref", MOVING + branch, old)
    crash.point("merge.before-swap")
    swapped = _swap(repo, branch, new, old)
    crash.point("merge.after-swap")
    if swapped:
        ask(checkout.path, "read-tree", "-m", "-u", old, new)
    crash.point("merge.after-checkout")
    ask(repo, "update-ref", "-d", MOVING + branch)
    return swapped


def advance(worktree: str, branch: str, new: str, old: str) -> None:
    """Move the branch of our own worktree, where nobody else may move it meanwhile."""
    if new != old and not move(worktree, branch, new, old, Checkout(worktree, own=True)):
        raise moved(worktree, branch, "was moved by somebody else just now")


def three_way(repo: str, ours: str, theirs: str, scratch: str = "") -> str | Conflict:
    """The tree of both commits merged since their common ancestor, or where they disagree."""
    if _version() >= MERGES_TREES:
        return _merged_in_store(repo, ours, theirs)
    with tempfile.TemporaryDirectory(prefix="porch-merge-") as room:
        return merged_in_checkout(repo, ours, theirs, scratch or os.path.join(room, "tree"))


def merged_in_checkout(repo: str, ours: str, theirs: str, scratch: str) -> str | Conflict:
    """The same in a temporary checkout, for a git that cannot merge without one."""
    with checkouts.detached(repo, scratch, ours) as place:
        words = ("merge", "--no-commit", "--no-ff", "-q", theirs)
        done = attempt(place, *words, env=git.identity(repo))
        unmerged = ask(place, "diff", "--name-only", "-z", "--diff-filter=U").split("\0")[:-1]
        if unmerged:
            return Conflict(tuple(unmerged))
        if done.returncode:
            raise failure(place, words, done)
        return ask(place, "write-tree").strip()


def picked(repo: str, onto: str, commit: str) -> str | Conflict:
    """The tree `onto` with the change of one commit added, as a cherry-pick would."""
    # A stand-in beside the commit, so that the commit's parent is the common ancestor.
    words = ("commit-tree", onto, "-p", f"{commit}^1", "-m", "stand-in")
    beside = ask(repo, *words, env=git.identity(repo)).strip()
    return three_way(repo, beside, commit)


def head_of(repo: str, branch: str) -> str:
    head = git.resolve(repo, f"refs/heads/{branch}")
    if head is None:
        raise OutsideError(
            f"there is no branch '{branch}' in {repo}",
            fix="restore it; porch keeps the heads of removed ones under refs/porch/archive",
        )
    return head


def contains(repo: str, commit: str, ancestor: str) -> bool:
    if commit == ancestor:
        return True
    words = ("merge-base", "--is-ancestor", ancestor, commit)
    done = attempt(repo, *words)
    if done.returncode > 1:
        raise failure(repo, words, done)
    return done.returncode == 0


def _merged_in_store(repo: str, ours: str, theirs: str) -> str | Conflict:
    words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    done = attempt(repo, *words)
    if done.returncode not in (0, 1):
        raise failure(repo, words, done)
    tree, *files = done.stdout.split("\0")[:-1]
    return tree if done.returncode == 0 else Conflict(tuple(dict.fromkeys(files)))


@cache
def _version() -> tuple[int, ...]:
    words = ask(".", "version").split()[2].split(".")
    return tuple(int(word) for word in words[:2])


def _on_top(repo: str, tree: str, old: str, message: str, trailer: str) -> str:
    if tree == git.tree_at(repo, old):
        return old
    text = f"{message.rstrip()}\n\n{trailer}\n"
    words = ("commit-tree", tree, "-p", old, "-F", "-")
    return ask(repo, *words, env=git.identity(repo), stdin=text).strip()


def branch_of(worktree: str) -> str:
    found = gitdir.of(worktree)
    branch = gitdir.branch(found) if found else None
    if branch is None:
        raise moved(worktree, "its own", "stands on no branch")
    return branch


def _found(common_repo: str, branch: str) -> Checkout | None:
    for each in worktrees.registered(common_repo):
        if each.branch == branch and os.path.isdir(each.path):
            return Checkout(each.path, own=False)
    return None


def _refuse_unready(checkout: Checkout, branch: str, new: str, old: str) -> None:
    stand(checkout.path, branch)
    changed = unsaved(checkout.path)
    if changed or git.resolve(checkout.path, "MERGE_HEAD"):
        names = ", ".join(changed[:5]) or "a merge in progress"
        raise OutsideError(
            f"branch '{branch}' cannot move: its checkout {checkout.path} holds changes ({names})",
            fix="commit or stash them there, and resume",
        )
    attempt(checkout.path, "update-index", "-q", "--refresh")
    # Untracked files in the way must be heard of before the branch moves.
    ask(checkout.path, "read-tree", "-n", "-m", "-u", old, new)


def _swap(repo: str, branch: str, new: str, old: str) -> bool:
    ref = f"refs/heads/{branch}"
    words = ("update-ref", "-m", "move (porch)", ref, new, old)
    done = attempt(repo, *words)
    if done.returncode == 0:
        return True
    if git.resolve(repo, ref) != old:
        return False
    raise failure(repo, words, done)
