"""Merging the work of a run: a candidate beside, the checks on it, then one move of the target.

Killed anywhere, the next call looks again: the target has the work, or it can be published, or the
candidate is built anew. So nothing is merged twice and nobody is asked.
"""

import shlex
from collections.abc import Mapping

from msgspec import Struct

from porch.errors import FailedError, OutsideError
from porch.fleet.finish.candidate_checks import check_candidate
from porch.fleet.finish.run_work import RunWork, name_work
from porch.git import merge, worktrees
from porch.git.merge import Conflict, MergeCandidate
from porch.git.repository import TRAILER
from porch.run.engine.fact_redaction import redact_text
from porch.run.engine.session import HeldRun
from porch.system import crash_points
from porch.text.references import defuse_references

TRIES = 5
OTHER_WAYS = "or leave that checkout alone: --pr opens a pull request, --keep keeps the branch"


class MergedWork(Struct, frozen=True):
    """The commit of the target that holds the work, and the checks that passed on it."""

    commit: str
    checks: Mapping[str, str]
    is_new: bool


def merge_work(found: HeldRun, work: RunWork, is_squash: bool) -> MergedWork:
    """Merge the head of the work into its target; a target that moves meanwhile is tried again."""
    require_clean_target(work)
    for _ in range(TRIES):
        made = _make_candidate(found, work, is_squash)
        if merge.has_ancestor(work.repo, made.old_head, made.commit):
            return MergedWork(made.commit, {}, is_new=False)
        crash_points.reach_point("finish.after-candidate")
        checks = check_candidate(found, made.commit, work)
        crash_points.reach_point("finish.after-checks")
        if _publish(work, made) == "done":
            return MergedWork(made.commit, checks, is_new=True)
    raise OutsideError(
        f"'{work.into}' moved {TRIES} times while the work was checked",
        fix="wait until nobody else merges, then finish again",
        code="finish-target-moves",
    )


def require_clean_target(work: RunWork) -> None:
    """Refuse early: a checkout with somebody's changes in it is never touched."""
    merge.require_branch_head(work.repo, work.into)
    place = merge.find_branch_checkout(work.repo, work.into)
    changed = worktrees.list_changed_tracked_paths(place.path) if place else []
    if place and changed:
        raise _dirty_target_error(work, place.path, ", ".join(changed[:5]))


def _dirty_target_error(work: RunWork, path: str, what: str) -> FailedError:
    return FailedError(
        f"'{work.into}' is checked out in {path}, which has changes that are not committed: {what}",
        fix=f"commit them there, or put them aside with `git -C {shlex.quote(path)} stash`; "
        f"{OTHER_WAYS}",
        code="finish-dirty-target",
    )


def _make_candidate(found: HeldRun, work: RunWork, is_squash: bool) -> MergeCandidate:
    state = found.book.state
    named = name_work(state)
    accepted = _describe_accepted(work)
    made = merge.create_finish_candidate(
        work.repo,
        work.into,
        work.head,
        defuse_references(f"{named if is_squash else f'Merge {work.branch}: {named}'}{accepted}"),
        trailer=f"{TRAILER}: {state.run.name} finish {work.head[:12]}",
        is_squash=is_squash,
    )
    if isinstance(made, Conflict):
        raise _conflict_error(work, made)
    return made


def _describe_accepted(work: RunWork) -> str:
    """The body of the commit: whoever reads the history knows what was delivered, and why."""
    lines = [f"- {each}" for each in (*work.not_passed, *work.accepted)]
    why = [f"Accepted: {redact_text(work.reason)}"] if work.reason else []
    return "\n".join(["", "", *map(redact_text, lines), *why]) if lines else ""


def _conflict_error(work: RunWork, made: Conflict) -> FailedError:
    return FailedError(
        f"{work.branch} and '{work.into}' changed the same places; nothing was changed. "
        f"Files: {', '.join(made.files)}",
        fix=f"in {work.workspace}: git merge {work.into}, resolve the files, git commit; then "
        "finish again with --accept-changes. Or --pr, or --keep",
        code="finish-conflict",
    )


def _publish(work: RunWork, made: MergeCandidate) -> str:
    try:
        return merge.publish_commit(
            work.repo, work.into, new=made.commit, old=made.old_head, checkout=None
        )
    except OutsideError as error:
        if error.findings[0].code == "git-locked":
            raise
        # Untracked files in the way, or an edit made while the checks ran.
        require_clean_target(work)
        raise FailedError(
            f"'{work.into}' was not moved: {error.findings[0].message}",
            fix=f"move away what is in the way; {OTHER_WAYS}",
            code="finish-dirty-target",
        ) from error
