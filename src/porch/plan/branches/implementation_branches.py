"""Branches on which prompts are implemented: how they come home or are put away."""

import os
from collections.abc import Iterator
from itertools import count, takewhile
from typing import TYPE_CHECKING

from msgspec import Struct

from porch.errors import BusyError, FailedError
from porch.git import git_directory, repository, worktrees
from porch.git.command import run_git
from porch.git.worktree_lock import lock_worktrees
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.branches.branch_names import feature_of
from porch.store.where import ProjectPaths

if TYPE_CHECKING:  # most commands only look where a branch is checked out
    from porch.git.merge import Conflict

ARCHIVED = "archive/"
# Somebody who commits to the feature branch all the time may make us compute a merge again.
TRIES = 5


class MergedBranch(Struct, frozen=True):
    """The commit by which a branch came into its feature branch, now or (found) earlier."""

    commit: str
    found_existing: bool


def find_worktree_path(where: ProjectPaths, branch: str) -> str | None:
    """Where a branch is checked out, in a worktree that is still there."""
    path = _find_worktree(where, branch)
    return path if path and os.path.isdir(path) else None


def merge_branch(
    where: ProjectPaths, feature: str, branch: str, message: str
) -> "MergedBranch | Conflict":
    """Make the feature branch contain another one, by a commit with both as its parents.

    It is computed in the store, so a conflict touches no checkout. After a crash the same call
    finds what was merged and finishes moving the files.
    """
    with lock_worktrees(worktrees.require_common_dir(where.base)):
        for _ in range(TRIES):
            outcome = _try_merge(where.base, feature, branch, message)
            if outcome is not None:
                return outcome
    raise BusyError(
        f"'{feature}' was moved by somebody else {TRIES} times while '{branch}' was merged into it",
        fix="wait until nobody commits there, and merge again",
        code="branch-busy",
    )


def archive_branch(where: ProjectPaths, branch: str) -> str:
    """Put a branch away under `archive/`; its new name, or "" if there never was one.

    Its worktree goes, and what was uncommitted there is kept under refs/porch/salvage.
    """
    repo = where.base
    with lock_worktrees(worktrees.require_common_dir(repo)):
        _refuse_own_checkout(repo, branch)
        path = _find_worktree(where, branch)
        if path is not None:
            _refuse_locked(repo, path, branch)
            worktrees.remove_worktree(repo, path, None)
        head = _find_head(repo, branch)
        return _move_to_archive(repo, branch, head) if head else _find_last_archived(repo, branch)


def list_locked_branches(repo: str) -> dict[str, str]:
    """The branches of worktrees that somebody locked, and the reasons they gave."""
    from glob import escape, glob

    common = worktrees.require_common_dir(repo)
    # Its files tell, where an older git does not: a lock without a reason is an empty one.
    files = glob(os.path.join(escape(common), "worktrees", "*", "locked"))
    return {
        _read_worktree_branch(os.path.dirname(file), common): _read_lock_reason(file)
        for file in files
    }


def _try_merge(
    repo: str, feature: str, branch: str, message: str
) -> "MergedBranch | Conflict | None":
    """None if the feature branch moved meanwhile."""
    from porch.git.merge import Conflict, has_ancestor, merge_commits, publish_commit
    from porch.plan.branches.merged_branches import find_bringing_commit

    source, old = _require_branch(repo, branch), _require_branch(repo, feature)
    if has_ancestor(repo, old, source):
        # Files that a crash left behind their branch follow now.
        publish_commit(repo, feature, new=old, old=old, checkout=None)
        return MergedBranch(find_bringing_commit(repo, old, source) or source, found_existing=True)
    tree = merge_commits(repo, old, source)
    if isinstance(tree, Conflict):
        return tree
    text = f"{message.rstrip()}\n\n{_merge_trailer(feature, branch)}\n"
    words = ("commit-tree", tree, "-p", old, "-p", source, "-F", "-")
    new = run_git(repo, *words, env=repository.read_commit_identity(repo), stdin=text).strip()
    is_done = publish_commit(repo, feature, new=new, old=old, checkout=None) == "done"
    return MergedBranch(new, found_existing=False) if is_done else None


def _merge_trailer(feature: str, branch: str) -> str:
    known = feature_of(branch)
    name = str(PromptId(known[1], known[2])) if known else branch
    return f"{repository.TRAILER}: plan/{feature}/merge/{name}"


def _require_branch(repo: str, branch: str) -> str:
    head = _find_head(repo, branch)
    if head is None:
        raise FailedError(
            f"there is no branch '{branch}' in {repo}",
            fix="see `git branch --list`; porch keeps removed ones under refs/porch/archive",
            code="branch-not-found",
        )
    return head


def _find_head(repo: str, branch: str) -> str | None:
    return repository.resolve_commit(repo, f"refs/heads/{branch}")


def _find_worktree(where: ProjectPaths, branch: str) -> str | None:
    known = worktrees.list_worktrees(where.base)[1:]
    return next((each.path for each in known if each.branch == branch), None)


def _refuse_own_checkout(repo: str, branch: str) -> None:
    main = worktrees.list_worktrees(repo)[0]
    if main.branch == branch:
        raise FailedError(
            f"'{branch}' is checked out in {main.path}, which is the main checkout",
            fix="switch to another branch there",
            code="branch-checked-out",
        )


def _refuse_locked(repo: str, path: str, branch: str) -> None:
    reason = list_locked_branches(repo).get(branch)
    if reason is not None:
        raise FailedError(
            f"the worktree {path} of '{branch}' is locked{f': {reason}' if reason else ''}",
            fix=f"unlock it with `git worktree unlock {path}`",
            code="worktree-locked",
        )


def _read_worktree_branch(own: str, common: str) -> str:
    return git_directory.read_branch(git_directory.GitDirectory(own, common)) or ""


def _read_lock_reason(file: str) -> str:
    with open(file, encoding="utf-8", errors="replace") as text:
        return text.read().strip()


def _archive_names(branch: str) -> Iterator[str]:
    yield ARCHIVED + branch
    yield from (f"{ARCHIVED}{branch}-{number}" for number in count(2))


def _move_to_archive(repo: str, branch: str, head: str) -> str:
    name = next(n for n in _archive_names(branch) if _find_head(repo, n) in (None, head))
    # Together or not at all, and fenced by the head: a branch that has moved since is not deleted.
    made = "" if _find_head(repo, name) else f"create refs/heads/{name} {head}\n"
    run_git(repo, "update-ref", "--stdin", stdin=f"{made}delete refs/heads/{branch} {head}\n")
    return name


def _find_last_archived(repo: str, branch: str) -> str:
    names = takewhile(lambda name: _find_head(repo, name), _archive_names(branch))
    return ["", *names][-1]
