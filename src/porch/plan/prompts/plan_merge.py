"""Bringing work home: the branch of a prompt into the feature branch, and a plan to its end."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from porch.errors import FailedError, OutsideError
from porch.git import repository, worktrees
from porch.git.merge import Conflict
from porch.machine.facts import PlanMoved
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import (
    Condition,
    Prompt,
    merged_numbers,
    unmet_conditions,
)
from porch.plan.branches import create_pr, implementation_branches
from porch.plan.branches.implementation_branches import MergedBranch, find_worktree_path
from porch.plan.branches.merged_branches import has_begun
from porch.plan.files import locked_plan, plan_files, plan_snapshot, prompt_pictures
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.prompts.branch_contents import (
    find_checkout,
    list_unmerged_alternatives,
)
from porch.plan.prompts.late_commits import (
    count_late_commits,
    describe_late_commits,
    late_commit_conditions,
)
from porch.plan.prompts.marked_lines import markers_in_plan, markers_to_merge
from porch.plan.prompts.prompt_next_step import start_command
from porch.plan.prompts.prompt_rules import check_broken_rules
from porch.plan.prompts.tested_files import list_outdated_conditions
from porch.plan.session import plan_session
from porch.plan.session.file_sync import draw_stage
from porch.run.engine.fact_redaction import redact_text
from porch.store.where import ProjectPaths


class WorktreeMerged(Struct, frozen=True, kw_only=True):
    """The branch of a prompt is part of its feature branch."""

    prompt_id: str
    worktree_branch: str
    merge_commit_hash: str
    status: str = "merged"
    found_existing: bool
    late_commits: int = 0
    unmerged_alternatives: Sequence[str]
    forced: Sequence[str]
    notes: Sequence[str]


class PlanCompleted(Struct, frozen=True, kw_only=True):
    """A plan that has ended, and the pull request that it became."""

    success: bool = True
    stage: str = "completed"
    summary_written: bool = True
    summary: str
    unmerged_prompts: Sequence[str]
    notes: Sequence[str]
    pr_url: str | None = None


def merge_worktree(
    where: ProjectPaths, id_: PromptId, *, force: bool = False, caller: str = ""
) -> WorktreeMerged:
    """A merge commit on the feature branch; a conflict leaves everything as it was."""
    with plan_session.hold_plan(where, caller) as held:
        prompt, file = prompt_pictures.read_open_prompt(held, id_)
        late = count_late_commits(held.plan, prompt)
        if prompt.merge_commit_hash and prompt.status == "merged" and not late:
            return _merge_result(held, id_, prompt.merge_commit_hash, found_existing=True)
        locked_plan.require_open_plan(held)
        branch = prompt.worktree_branch_name
        unmet = unmet_conditions("merge-worktree", held.prompts, id_)
        # All of them at once: who sets one aside must not set aside another unseen.
        unmet = [*_say_late(held, id_, late, unmet), *markers_to_merge(held, prompt)]
        forced = check_broken_rules("merge-worktree", id_, unmet, force)
        _require_committed(where, branch)
        message = f"Merge prompt {id_} implementation"
        _require_work(held, branch)
        fresh = list_outdated_conditions(held.plan, prompt)
        fresh = _say_late(held, id_, late, fresh)
        forced += check_broken_rules("merge-worktree", id_, fresh, force)
        done = _merge_branch(held, branch, message)
        if isinstance(done, Conflict):
            raise _conflict_error(held, branch, done)
        news = {"status": "merged", "merge_commit_hash": done.commit}
        held.move("merge-worktree", {id_: news}, forced, branch=branch)
        prompt_pictures.draw_file(held, id_, file)
        told = _merge_result(held, id_, done.commit, done.found_existing, forced=forced)
        return msgspec.structs.replace(told, late_commits=late)


def _say_late(
    held: LockedPlan, id_: PromptId, late: int, unmet: Sequence[Condition]
) -> list[Condition]:
    """What keeps commits behind a merge from being merged: how many they are is said first.

    The prompt is merged, so it is taken up again before a person can try it again.
    """
    if not late:
        return list(unmet)
    prompt = held.prompts[id_]
    said = describe_late_commits(late, prompt.worktree_branch_name, held.plan.branch)
    held.notes.extend([said] if said not in held.notes else [])
    again = f"take it up again: `{start_command(id_, prompt)}`; then "
    return [
        msgspec.structs.replace(each, otherwise=f"{said}; {each.otherwise}", fix=again + each.fix)
        for each in unmet
    ]


def _require_committed(where: ProjectPaths, branch: str) -> None:
    """What is not committed would be missing from the merge without a word."""
    path = find_worktree_path(where, branch)
    left = worktrees.list_changed_paths(path) if path else []
    if left:
        raise FailedError(
            f"the worktree {path} has uncommitted work: {', '.join(left[:5])}",
            fix="commit it there, then merge again",
            code="uncommitted-work",
        )


def _require_work(held: LockedPlan, branch: str) -> None:
    """A branch that was only just made is contained in its feature branch as a merged one is."""
    repo = held.plan.where.base
    if repository.resolve_commit(repo, f"refs/heads/{branch}") is None:
        raise FailedError(
            f"there is no branch '{branch}'",
            fix="make it and commit the work",
            code="no-worktree",
        )
    if not has_begun(repo, held.plan.branch, branch):
        raise FailedError(
            f"nothing was committed on {branch}",
            fix="commit the work there first",
            code="nothing-to-merge",
        )


def _merge_branch(held: LockedPlan, branch: str, message: str) -> MergedBranch | Conflict:
    """Looked at only when it did not work: files that a crash left behind look like changes."""
    try:
        return implementation_branches.merge_branch(
            held.plan.where, held.plan.branch, branch, message
        )
    except OutsideError:
        _require_clean_checkout(held)
        raise


def _require_clean_checkout(held: LockedPlan) -> None:
    """The checkout of the feature branch moves along with it, so nobody may be in the middle."""
    path = find_checkout(held.plan, held.plan.branch)
    if path is None:
        return
    if repository.resolve_commit(path, "MERGE_HEAD"):
        raise FailedError(
            f"a merge is in progress in {path}",
            fix="`git commit` finishes it, `git merge --abort` stops it; then merge again",
            code="merge-in-progress",
        )
    changed = worktrees.list_changed_tracked_paths(path)
    if changed:
        raise FailedError(
            f"the checkout {path} of '{held.plan.branch}' has changes: {', '.join(changed[:5])}",
            fix="commit or stash them there, then merge again",
            code="uncommitted-changes",
        )


def _conflict_error(held: LockedPlan, branch: str, found: Conflict) -> FailedError:
    files = ", ".join(found.files)
    return FailedError(
        f"'{branch}' and '{held.plan.branch}' conflict in {files}; nothing was changed",
        fix=f"on '{branch}': git merge {held.plan.branch}, resolve the conflict by what the commit "
        "messages of both sides intend, commit, have it reviewed and tested again, then merge",
        code="merge-conflict",
    )


def _merge_result(
    held: LockedPlan,
    id_: PromptId,
    commit: str,
    found_existing: bool,
    *,
    forced: tuple[str, ...] = (),
) -> WorktreeMerged:
    return WorktreeMerged(
        prompt_id=str(id_),
        worktree_branch=held.prompts[id_].worktree_branch_name,
        merge_commit_hash=commit,
        found_existing=found_existing,
        unmerged_alternatives=list_unmerged_alternatives(held.plan, held.prompts, id_.number),
        forced=list(forced),
        notes=held.notes,
    )


class PullRequestWords(Struct, frozen=True):
    """The pull request that a finished plan is to become."""

    title: str = ""
    body: str = ""
    draft: bool = False


def complete_plan(
    where: ProjectPaths,
    summary: str = "",
    request: PullRequestWords | None = None,
    *,
    force: bool = False,
    caller: str = "",
) -> PlanCompleted:
    """End the plan here, and publish it only if that is asked for."""
    told = _complete_run(where, summary, force=force, caller=caller)
    if request is None:
        return told
    title = request.title or next(iter(told.summary.splitlines()), "").lstrip("# ")
    made = create_pr(where, title, request.body or told.summary, draft=request.draft)
    return msgspec.structs.replace(told, pr_url=made.pr_url)


def _complete_run(where: ProjectPaths, summary: str, *, force: bool, caller: str) -> PlanCompleted:
    """The end of a plan: all of it is merged or put aside, and a summary says what it was."""
    summary = redact_text(summary)
    with plan_session.hold_plan(where, caller) as held:
        left = [str(id_) for id_ in _list_open_prompts(held)]
        if not held.prompts and not force:
            raise FailedError(
                "the plan has no prompts, so nothing was done",
                fix="write them first: `envoy plan write-prompt`; only a person can end it without",
                code="no-prompts",
            )
        if left and not force:
            raise FailedError(
                f"not every prompt is merged: {', '.join(left)}",
                fix="finish them, or remove them with `envoy plan clear-prompt`; only a person can "
                "end the plan without that",
                code="prompts-not-merged",
            )
        unmet = [*late_commit_conditions(held.plan, held.prompts), *markers_in_plan(held)]
        if unmet and not force:
            raise FailedError(
                f"the plan is not complete: {unmet[0].otherwise}",
                fix=f"{unmet[0].fix}; only a person can end the plan without that",
                code=unmet[0].code,
            )
        text = summary.strip() or _render_summary(held)
        plan_snapshot.read_plan_page(
            plan_snapshot.read_plan(held.plan)
        )  # what cannot be shown is not recorded
        plan_files.write_file(held.plan.file(plan_snapshot.SUMMARY), f"{text}\n")
        forced = (*(("prompts-not-merged",) if left else ()), *(each.code for each in unmet))
        fact = PlanMoved(
            action="complete",
            prompts={},
            plan={"stage": "completed"},
            payload={"text": text},
            forced=forced,
        )
        held.record(fact)
        draw_stage(held)
        return PlanCompleted(summary=text, unmerged_prompts=left, notes=held.notes)


def _list_open_prompts(held: LockedPlan) -> list[PromptId]:
    merged = merged_numbers(held.prompts)
    return [
        id_
        for id_, prompt in held.prompts.items()
        if id_.number not in merged and not prompt.is_put_aside
    ]


def _render_summary(held: LockedPlan) -> str:
    """From what was recorded; nobody's judgement is in it."""
    found = plan_snapshot.read_plan(held.plan)
    body = plan_snapshot.read_plan_page(found).body
    title = next((line for line in body.splitlines() if line.startswith("# ")), "# Summary")
    return "\n\n".join(
        [title, *(_render_prompt_summary(found, id_, p) for id_, p in found.prompts.items())]
    )


def _render_prompt_summary(found: plan_snapshot.PlanSnapshot, id_: PromptId, prompt: Prompt) -> str:
    fields = found.page(id_).fields
    last = fields["walkthrough"][-1] if fields["walkthrough"] else {}
    how = (
        f"merged as {prompt.merge_commit_hash[:12]}" if prompt.merge_commit_hash else prompt.status
    )
    aside = f", {prompt.variant_solution}" if prompt.is_put_aside else ""
    told = str(last.get("approach", "")).strip()
    head = f"## Prompt {id_} ({how}{aside})"
    return "\n\n".join(part for part in (head, str(fields["description"]).strip(), told) if part)
