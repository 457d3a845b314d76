"""Branches on which prompts are implemented: their names, and how they come home or are put away.

A prompt of `feat/x` is worked on in `feat/x--implementation-2`, or `-2-A` for a variant. Not below
`feat/x/`: git has no room for a branch under the name of another one.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from glob import escape, glob
from itertools import count, takewhile

from porch.adapters import git, gitdir, worktrees
from porch.adapters.git_command import ask
from porch.adapters.merged_branches import brought_by
from porch.adapters.merging import Conflict, contains, publish, three_way
from porch.adapters.where import Where
from porch.adapters.worktree_lock import alone
from porch.errors import BusyError, FailedError
from porch.model.prompt_ids import PromptId

ARCHIVED = "archive/"
# Somebody who commits to the feature branch all the time may make us compute a merge again.
TRIES = 5
_NAME = re.compile(r"(.+)--implementation-([1-9][0-9]{0,5})(?:-([A-Z]))?")


@dataclass(frozen=True, slots=True)
class Merged:
    """The commit by which a branch came into its feature branch, now or (found) earlier."""

    commit: str
    found_existing: bool


def feature_of(branch: str) -> tuple[str, int, str] | None:
    """The feature branch, the number and the variant (or "") of an implementation branch."""
    told = _NAME.fullmatch(branch)
    return (told[1], int(told[2]), told[3] or "") if told else None


def branch_of(feature: str, number: int, variant: str = "") -> str:
    return f"{feature}--implementation-{number}{f'-{variant}' if variant else ''}"


def worktree_of(where: Where, branch: str) -> str | None:
    """Where a branch is checked out, in a worktree that is still there."""
    path = _registered(where, branch)
    return path if path and os.path.isdir(path) else None


def merge(where: Where, feature: str, branch: str, message: str) -> Merged | Conflict:
    """Make the feature branch contain another one, by a commit with both as its parents.

    It is computed in the store, so a conflict touches no checkout. After a crash the same call
    finds what was merged and finishes moving the files.
    """
    with alone(worktrees.common_dir(where.base)):
        for _ in range(TRIES):
            outcome = _merged_once(where.base, feature, branch, message)
            if outcome is not None:
                return outcome
    raise BusyError(
        f"'{feature}' was moved by somebody else {TRIES} times while '{branch}' was merged into it",
        fix="wait until nobody commits there, and merge again",
        code="branch-busy",
    )


def archive(where: Where, branch: str) -> str:
    """Put a branch away under `archive/`; its new name, or "" if there never was one.

    Its worktree goes, and what was uncommitted there is kept under refs/porch/salvage.
    """
    repo = where.base
    with alone(worktrees.common_dir(repo)):
        _refuse_own_checkout(repo, branch)
        path = _registered(where, branch)
        if path is not None:
            _refuse_locked(repo, path, branch)
            worktrees.remove(repo, path, None)
        head = _head(repo, branch)
        return _put_away(repo, branch, head) if head else _last_archived(repo, branch)


def locked(repo: str) -> dict[str, str]:
    """The branches of worktrees that somebody locked, and the reasons they gave."""
    common = worktrees.common_dir(repo)
    # Its files tell, where an older git does not: a lock without a reason is an empty one.
    files = glob(os.path.join(escape(common), "worktrees", "*", "locked"))
    return {_branch_in(os.path.dirname(file), common): _reason(file) for file in files}


def _merged_once(repo: str, feature: str, branch: str, message: str) -> Merged | Conflict | None:
    """None if the feature branch moved meanwhile."""
    source, old = _demand(repo, branch), _demand(repo, feature)
    if contains(repo, old, source):
        # Files that a crash left behind their branch follow now.
        publish(repo, feature, old, old, None)
        return Merged(brought_by(repo, old, source) or source, found_existing=True)
    tree = three_way(repo, old, source)
    if isinstance(tree, Conflict):
        return tree
    text = f"{message.rstrip()}\n\n{_trailer(feature, branch)}\n"
    words = ("commit-tree", tree, "-p", old, "-p", source, "-F", "-")
    new = ask(repo, *words, env=git.identity(repo), stdin=text).strip()
    is_done = publish(repo, feature, new, old, None) == "done"
    return Merged(new, found_existing=False) if is_done else None


def _trailer(feature: str, branch: str) -> str:
    known = feature_of(branch)
    name = str(PromptId(known[1], known[2])) if known else branch
    return f"{git.TRAILER}: plan/{feature}/merge/{name}"


def _demand(repo: str, branch: str) -> str:
    head = _head(repo, branch)
    if head is None:
        raise FailedError(
            f"there is no branch '{branch}' in {repo}",
            fix="see `git branch --list`; porch keeps removed ones under refs/porch/archive",
            code="branch-not-found",
        )
    return head


def _head(repo: str, branch: str) -> str | None:
    return git.resolve(repo, f"refs/heads/{branch}")


def _registered(where: Where, branch: str) -> str | None:
    known = worktrees.registered(where.base)[1:]
    return next((each.path for each in known if each.branch == branch), None)


def _refuse_own_checkout(repo: str, branch: str) -> None:
    main = worktrees.registered(repo)[0]
    if main.branch == branch:
        raise FailedError(
            f"'{branch}' is checked out in {main.path}, which is no worktree to be removed",
            fix="switch to another branch there",
            code="branch-checked-out",
        )


def _refuse_locked(repo: str, path: str, branch: str) -> None:
    reason = locked(repo).get(branch)
    if reason is not None:
        raise FailedError(
            f"the worktree {path} of '{branch}' is locked{f': {reason}' if reason else ''}",
            fix=f"unlock it with `git worktree unlock {path}`",
            code="worktree-locked",
        )


def _branch_in(own: str, common: str) -> str:
    return gitdir.branch(gitdir.Gitdir(own, common)) or ""


def _reason(file: str) -> str:
    with open(file, encoding="utf-8", errors="replace") as text:
        return text.read().strip()


def _archive_names(branch: str) -> Iterator[str]:
    yield ARCHIVED + branch
    yield from (f"{ARCHIVED}{branch}-{number}" for number in count(2))


def _put_away(repo: str, branch: str, head: str) -> str:
    name = next(n for n in _archive_names(branch) if _head(repo, n) in (None, head))
    # Together or not at all, and fenced by the head: a branch that has moved since is not deleted.
    made = "" if _head(repo, name) else f"create refs/heads/{name} {head}\n"
    ask(repo, "update-ref", "--stdin", stdin=f"{made}delete refs/heads/{branch} {head}\n")
    return name


def _last_archived(repo: str, branch: str) -> str:
    names = takewhile(lambda name: _head(repo, name), _archive_names(branch))
    return ["", *names][-1]
