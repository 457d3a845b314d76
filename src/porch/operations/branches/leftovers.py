"""Worktrees of prompts that nobody needs any more: merged ones go, all others stay and say why."""

import os
from dataclasses import dataclass, field
from typing import Any

from porch.adapters import git, implementation_branches, merged_branches, worktrees
from porch.adapters.git_command import ask
from porch.adapters.where import Where
from porch.errors import OutsideError, PorchError
from porch.operations.branches.standing import checkout, readable

_SHOWN = 5


@dataclass(slots=True)
class Cleaned:
    """What was done with each worktree, or would be; each is in one of the lists."""

    dry_run: bool
    cleaned: list[dict[str, Any]] = field(default_factory=list)
    orphaned: list[dict[str, Any]] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        told = {"cleaned": self.cleaned, "orphaned": self.orphaned, "kept": self.kept}
        return readable({**told, "errors": self.errors, "dry_run": self.dry_run})


@dataclass(frozen=True, slots=True)
class _Leftover:
    branch: str
    feature: str
    path: str


def cleanup_worktrees(
    where: Where, *, dry_run: bool = False, force_orphans: bool = False
) -> dict[str, Any]:
    """Remove the worktrees of implementation branches that their feature branches contain.

    Whatever goes is kept under refs/porch/archive. One whose feature branch is gone is an orphan.
    """
    here, _ = checkout(where)
    told = Cleaned(dry_run)
    locks = implementation_branches.locked(where.base)
    for each in _leftovers(where):
        try:
            reason = _reason_to_keep(each, here, locks)
            _settle(told, where, each, reason, force_orphans)
        except (PorchError, OSError) as error:
            told.errors.append(_failure(each, error))
    return told.as_json()


def _leftovers(where: Where) -> list[_Leftover]:
    found = []
    for each in worktrees.registered(where.base)[1:]:
        known = implementation_branches.feature_of(each.branch or "")
        if known and each.branch:
            found.append(_Leftover(each.branch, known[0], each.path))
    return sorted(found, key=lambda each: each.branch)


def _reason_to_keep(each: _Leftover, here: str, locks: dict[str, str]) -> str:
    if os.path.realpath(each.path) == os.path.realpath(here):
        return "it is the one we stand in"
    if each.branch in locks:
        return f"it is locked: {locks[each.branch]}".removesuffix(": ")
    if not os.path.isdir(each.path):
        return ""
    if left := worktrees.dirty(each.path):
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        return f"uncommitted changes in {', '.join(left[:_SHOWN])}{more}"
    return "a merge is going on in it" if git.resolve(each.path, "MERGE_HEAD") else ""


def _settle(told: Cleaned, where: Where, each: _Leftover, reason: str, force: bool) -> None:
    repo, row = where.base, {"branch": each.branch, "path": each.path}
    is_orphan = git.resolve(repo, f"refs/heads/{each.feature}") is None
    if is_orphan and reason:
        reason += f"; its feature branch {each.feature} is gone"
    if not is_orphan:
        reason = reason or _unmerged(repo, each)
    if reason:
        told.kept.append({**row, "reason": reason})
    elif is_orphan and not force:
        told.orphaned.append({**row, "last_commit": _last_commit(repo, each.branch)})
    else:
        if not told.dry_run:
            worktrees.remove(repo, each.path, each.branch)
        told.cleaned.append({**row, "reason": "orphaned" if is_orphan else "merged"})


def _unmerged(repo: str, each: _Leftover) -> str:
    if not merged_branches.is_contained(repo, each.feature, each.branch):
        return f"it is not merged into {each.feature}"
    if not merged_branches.has_begun(repo, each.feature, each.branch):
        return "nothing was committed on it yet"
    return ""


def _last_commit(repo: str, branch: str) -> dict[str, str]:
    words = ("log", "-1", "--format=%H%x00%cI%x00%s", f"refs/heads/{branch}", "--")
    commit, date, subject = ask(repo, *words).removesuffix("\n").split("\0")
    return {"commit": commit, "date": date, "subject": subject}


def _failure(each: _Leftover, error: PorchError | OSError) -> dict[str, Any]:
    known = error if isinstance(error, PorchError) else OutsideError(str(error))
    first = known.findings[0]
    told = {"branch": each.branch, "path": each.path, "type": first.code.replace("-", "_")}
    return {**told, "message": first.message, "suggestion": first.fix}
