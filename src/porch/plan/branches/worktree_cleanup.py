"""Worktrees of prompts that nobody needs any more: merged ones go, all others stay and say why."""

import os

from msgspec import Struct, field

from porch.errors import OutsideError, PorchError
from porch.git import repository, worktrees
from porch.git.command import run_git
from porch.plan.branches import implementation_branches, merged_branches
from porch.plan.branches.branch_names import feature_of
from porch.plan.branches.checkout import checkout_and_branch, make_readable
from porch.run.engine.run_places import require_known_place
from porch.store.where import ProjectPaths

_SHOWN = 5


class WorktreeRow(Struct, frozen=True, kw_only=True):
    """A worktree that goes or stays, and why."""

    branch: str
    path: str
    reason: str


class LastCommit(Struct, frozen=True, kw_only=True):
    """By what a person knows a branch."""

    commit: str
    date: str
    subject: str


class OrphanedWorktree(Struct, frozen=True, kw_only=True):
    """A worktree whose feature branch is gone."""

    branch: str
    path: str
    last_commit: LastCommit


class FailedWorktree(Struct, frozen=True, kw_only=True):
    """A worktree that could not be removed."""

    branch: str
    path: str
    type: str
    message: str
    suggestion: str


class WorktreesCleaned(Struct, frozen=True, kw_only=True):
    """What was done with each worktree, or would be; each is in one of the lists."""

    cleaned: list[WorktreeRow] = field(default_factory=list)
    orphaned: list[OrphanedWorktree] = field(default_factory=list)
    kept: list[WorktreeRow] = field(default_factory=list)
    errors: list[FailedWorktree] = field(default_factory=list)
    dry_run: bool


class _PromptWorktree(Struct, frozen=True):
    branch: str
    feature: str
    path: str


def cleanup_worktrees(
    where: ProjectPaths, *, dry_run: bool = False, force_orphans: bool = False
) -> WorktreesCleaned:
    """Remove the worktrees of implementation branches that their feature branches contain.

    Whatever goes is kept under refs/porch/archive. One whose feature branch is gone is an orphan.
    """
    require_known_place(where)
    here, _ = checkout_and_branch(where)
    told = WorktreesCleaned(dry_run=dry_run)
    locks = implementation_branches.list_locked_branches(where.base)
    for each in _list_prompt_worktrees(where):
        try:
            reason = _reason_to_keep(each, here, locks)
            _settle_worktree(told, where, each, reason, force_orphans)
        except (PorchError, OSError) as error:
            told.errors.append(_failed_worktree(each, error))
    return make_readable(told)


def _list_prompt_worktrees(where: ProjectPaths) -> list[_PromptWorktree]:
    found = []
    for each in worktrees.list_worktrees(where.base)[1:]:
        known = feature_of(each.branch or "")
        if known and each.branch:
            found.append(_PromptWorktree(each.branch, known[0], each.path))
    return sorted(found, key=lambda each: each.branch)


def _reason_to_keep(each: _PromptWorktree, here: str, locks: dict[str, str]) -> str:
    if os.path.realpath(each.path) == os.path.realpath(here):
        return "it is the current worktree"
    if each.branch in locks:
        return f"it is locked: {locks[each.branch]}".removesuffix(": ")
    if not os.path.isdir(each.path):
        return ""
    if left := worktrees.list_changed_paths(each.path):
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        return f"uncommitted changes in {', '.join(left[:_SHOWN])}{more}"
    return (
        "a merge is in progress in it" if repository.resolve_commit(each.path, "MERGE_HEAD") else ""
    )


def _settle_worktree(
    told: WorktreesCleaned, where: ProjectPaths, each: _PromptWorktree, reason: str, force: bool
) -> None:
    repo = where.base
    is_orphan = repository.resolve_commit(repo, f"refs/heads/{each.feature}") is None
    if is_orphan and reason:
        reason += f"; its feature branch {each.feature} is gone"
    if not is_orphan:
        reason = reason or _why_unmerged(repo, each)
    if reason:
        told.kept.append(_worktree_row(each, reason))
    elif is_orphan and not force:
        last = _last_commit(repo, each.branch)
        told.orphaned.append(OrphanedWorktree(branch=each.branch, path=each.path, last_commit=last))
    else:
        if not told.dry_run:
            worktrees.remove_worktree(repo, each.path, each.branch)
        told.cleaned.append(_worktree_row(each, "orphaned" if is_orphan else "merged"))


def _worktree_row(each: _PromptWorktree, reason: str) -> WorktreeRow:
    return WorktreeRow(branch=each.branch, path=each.path, reason=reason)


def _why_unmerged(repo: str, each: _PromptWorktree) -> str:
    if not merged_branches.is_contained(repo, each.feature, each.branch):
        ends = f"refs/heads/{each.feature}..refs/heads/{each.branch}"
        commits = run_git(repo, "rev-list", "--count", ends, "--").strip()
        return f"it is not merged into {each.feature} (commits missing there: {commits})"
    if not merged_branches.has_begun(repo, each.feature, each.branch):
        return "nothing was committed on it yet"
    return ""


def _last_commit(repo: str, branch: str) -> LastCommit:
    words = ("log", "-1", "--format=%H%x00%cI%x00%s", f"refs/heads/{branch}", "--")
    commit, date, subject = run_git(repo, *words).removesuffix("\n").split("\0")
    return LastCommit(commit=commit, date=date, subject=subject)


def _failed_worktree(each: _PromptWorktree, error: PorchError | OSError) -> FailedWorktree:
    known = error if isinstance(error, PorchError) else OutsideError(str(error))
    first = known.findings[0]
    return FailedWorktree(
        branch=each.branch,
        path=each.path,
        type=first.code.replace("-", "_"),
        message=first.message,
        suggestion=first.fix,
    )
