"""Carrying prompts out: what was done is recorded, and a prompt is done with once it is merged."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import FailedError, UsageError
from porch.git import repository
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import (
    Prompt,
    fields_after_implementation,
    unmet_conditions,
)
from porch.plan.files import (
    locked_plan,
    plan_location,
    plan_snapshot,
    prompt_files,
    prompt_pictures,
)
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.files.plan_location import Plan
from porch.plan.prompts import claim_owner
from porch.plan.prompts.branch_contents import (
    find_feature_head,
    list_unmerged_alternatives,
)
from porch.plan.prompts.late_commits import late_commit_conditions
from porch.plan.prompts.marked_lines import markers_in_feature
from porch.plan.prompts.prompt_rules import check_broken_rules, check_prompt_rules
from porch.plan.prompts.tested_files import list_outdated_conditions
from porch.plan.session import plan_session
from porch.store.where import ProjectPaths


class ImplementationRecorded(Struct, frozen=True, kw_only=True):
    """What was told of one iteration of a prompt."""

    id: str
    status: str = "implemented"
    iteration: int
    type: str
    walkthrough_count: int
    notes: Sequence[str]


class PromptCompleted(Struct, frozen=True, kw_only=True):
    """A prompt that is done with, and the rules that were set aside for it."""

    id: str
    status: str = "merged"
    merge_commit_hash: str | None
    unmerged_alternatives: Sequence[str]
    forced: Sequence[str]
    notes: Sequence[str]


class PromptVerified(Struct, frozen=True, kw_only=True):
    """What an agent said of a prompt is so."""

    id: str
    verified: bool = True
    note: str = ""


def record_implementation(
    where: ProjectPaths,
    id_: PromptId,
    text: str,
    iteration: int,
    *,
    reason: str = "",
    type_: str = "",
    force: bool = False,
    caller: str = "",
) -> ImplementationRecorded:
    """What was done in one iteration; told again it replaces what was told before."""
    # A dash alone is what other programs take for their standard input.
    if text.strip() in ("", "-"):
        raise UsageError(
            "the walkthrough is missing",
            fix="say what was done with --walkthrough, or name its file with --walkthrough-file "
            "(- for stdin)",
            code="missing-walkthrough",
        )
    from porch.plan.prompts import walkthrough_reader as walkthroughs

    with plan_session.hold_plan(where, caller) as held:
        prompt, file = prompt_pictures.read_open_prompt(held, id_)
        forced = check_prompt_rules("record-implementation", held, id_, force)
        known = list(prompt_files.prompt_fields(file, id_, prompt)["walkthrough"])
        _require_iteration(known, iteration, reason)
        told = walkthroughs.read_walkthrough_text(text)
        entry = walkthroughs.walkthrough_fields(told, iteration)
        entry["type"] = _check_type(prompt, iteration, type_ or told.type, reason)
        entry["refinement_reason"] = reason or entry["refinement_reason"]
        kept = [each for each in known if each.get("iteration") != iteration]
        news = {
            **fields_after_implementation(prompt, iteration),
            "owner": _renew_claim(held, id_, prompt),
        }
        held.move("record-implementation", {id_: news}, forced, **_log_fields(entry))
        prompt_pictures.draw_file(held, id_, file, authored={"walkthrough": [*kept, entry]})
        return ImplementationRecorded(
            id=str(id_),
            iteration=iteration,
            type=entry["type"],
            walkthrough_count=len(kept) + 1,
            notes=held.notes,
        )


def _renew_claim(held: LockedPlan, id_: PromptId, prompt: Prompt) -> Mapping[str, Any] | None:
    """A sign of life of whoever has the claim; who only records for them does not take it."""
    me = claim_owner.describe_caller()
    is_theirs = claim_owner.is_owner_present(prompt.owner)
    if not is_theirs or claim_owner.is_same_owner(prompt.owner, me):
        return me
    held.notes.append(
        f"prompt {id_} is still claimed by {prompt.delegated_to or 'somebody'} in another session"
    )
    return prompt.owner


def _log_fields(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"iteration": entry["iteration"], "type": entry["type"], "text": entry["approach"]}


def _require_iteration(known: Sequence[Mapping[str, Any]], iteration: int, reason: str) -> None:
    last = max((int(each.get("iteration", 0)) for each in known), default=0)
    if iteration not in (max(last, 1), last + 1):
        raise UsageError(
            f"iteration {iteration} cannot follow iteration {last}",
            fix=f"record {last + 1}, or {max(last, 1)} again",
            code="invalid-iteration",
        )
    if iteration > 1 and not reason.strip():
        raise UsageError(
            f"iteration {iteration} needs a reason",
            fix='say why with --refinement-reason "Review feedback: ..."',
            code="missing-refinement-reason",
        )


def _check_type(prompt: Prompt, iteration: int, named: str, reason: str) -> str:
    if iteration == 1 and named in ("", "initial"):
        return "initial"
    from porch.plan.prompts.walkthrough_reader import WALKTHROUGH_TYPES

    if iteration == 1 or named == "initial" or named not in ("", *WALKTHROUGH_TYPES):
        raise UsageError(
            f"iteration {iteration} cannot have the type '{named}'",
            fix="the first is initial; later ones are review-refinement or testing-refinement",
            code="invalid-type",
        )
    is_tested = prompt.testing == "failed" or reason.lower().startswith("testing")
    return named or ("testing-refinement" if is_tested else "review-refinement")


def complete_prompt(
    where: ProjectPaths, id_: PromptId, *, force: bool = False, caller: str = ""
) -> PromptCompleted:
    """Done with: its work is on the feature branch, and everything the protocol asks for was so."""
    with plan_session.hold_plan(where, caller) as held:
        locked_plan.require_open_plan(held)
        prompt, file = prompt_pictures.read_open_prompt(held, id_)
        merged = prompt.merge_commit_hash or find_merge_commit(held.plan, prompt)
        # Work that somebody merged by hand has not passed the look at its files yet.
        found = {} if merged == prompt.merge_commit_hash else {"merge_commit_hash": merged}
        fresh = list_outdated_conditions(held.plan, prompt) if found else ()
        known = {**held.prompts, id_: replace(prompt, **found)}
        # Also of a merge that was forced, or that an older release made.
        marked = markers_in_feature(held, merged, prompt.base_commit) if merged else ()
        left = late_commit_conditions(held.plan, {id_: prompt})
        by_hand = check_broken_rules("complete-prompt", id_, [*left, *marked, *fresh], force)
        unmet_now = unmet_conditions("complete-prompt", known, id_)
        forced = check_broken_rules("complete-prompt", id_, unmet_now, force) + by_hand
        news = {"status": "merged", "in_progress": False, **found}
        held.move("complete-prompt", {id_: news}, forced)
        prompt_pictures.draw_file(held, id_, file)
        return PromptCompleted(
            id=str(id_),
            merge_commit_hash=merged or None,
            unmerged_alternatives=list_unmerged_alternatives(held.plan, known, id_.number),
            forced=list(forced),
            notes=held.notes,
        )


def find_merge_commit(plan: Plan, prompt: Prompt) -> str:
    """The commit that brought a branch home, if somebody merged it by hand."""
    from porch.git.merge import has_ancestor
    from porch.plan.branches.merged_branches import find_bringing_commit, has_begun

    repo, feature, branch = plan.where.base, find_feature_head(plan), prompt.worktree_branch_name
    head = repository.resolve_commit(repo, f"refs/heads/{branch}")
    if not head or not feature or head == prompt.base_commit:
        return ""
    if not has_ancestor(repo, feature, head) or not has_begun(repo, plan.branch, branch):
        return ""
    return find_bringing_commit(repo, feature, head) or head


CLAIMS = ("merged", "put-aside")


def verify_prompt(
    where: ProjectPaths, id_: PromptId, claim: str, branch: str = ""
) -> PromptVerified:
    """Hold what an agent says about a prompt against what is so; nothing else is asked."""
    plan = (
        plan_location.plan_of_branch(where, branch)
        if branch
        else plan_location.find_current_plan(where)
    )
    if not plan.exists and os.environ.get("PORCH_DRY_RUN"):
        return PromptVerified(id=str(id_), note="this is a dry run, and nothing is planned")
    prompt = plan_snapshot.read_plan(plan_location.require_plan(plan)).demand(id_)
    is_so = prompt.is_put_aside if claim == "put-aside" else _is_merged(plan, prompt)
    late = late_commit_conditions(plan, {id_: prompt}) if claim == "merged" and is_so else ()
    if not is_so or late:
        why = late[0].otherwise if late else f"its status is {prompt.status}"
        raise FailedError(
            f"prompt {id_} is not {claim}: {why}",
            fix="do the remaining steps, or end with the output that is true",
            code="claim-not-so",
        )
    return PromptVerified(id=str(id_))


def _is_merged(plan: Plan, prompt: Prompt) -> bool:
    feature = repository.resolve_commit(plan.where.base, f"refs/heads/{plan.branch}")
    merged = prompt.merge_commit_hash
    if prompt.status != "merged" or not merged or not feature:
        return False
    from porch.git.merge import has_ancestor

    return has_ancestor(plan.where.base, feature, merged)
