"""Who works on a prompt: claimed by one worker, given back, or taken from one who is gone."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import FailedError, UsageError
from porch.git.command import run_git, try_git
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_ids import require_specialist_name as name_of_specialist
from porch.machine.plan.prompt_lifecycle import Prompt, unmet_conditions
from porch.plan.branches import base_branch
from porch.plan.branches.branch_names import branch_of, feature_of
from porch.plan.branches.implementation_branches import find_worktree_path
from porch.plan.files import prompt_files, prompt_pictures
from porch.plan.files.locked_plan import LockedPlan, require_open_plan
from porch.plan.files.plan_location import Plan
from porch.plan.gates.unfinished_variants import ask_about_unfinished
from porch.plan.prompts import claim_owner
from porch.plan.prompts.branch_contents import find_feature_head
from porch.plan.prompts.claim_standing import describe_former_worker, judge_claim, require_claim
from porch.plan.prompts.late_commits import count_late_commits, describe_late_commits
from porch.plan.prompts.prompt_next_step import describe_next_step
from porch.plan.prompts.prompt_rules import check_broken_rules, check_prompt_rules
from porch.plan.session import plan_session
from porch.run.engine.fact_redaction import redact_text
from porch.store.where import ProjectPaths
from porch.system.clock import Clock


class RecordedIteration(Struct, frozen=True, kw_only=True):
    """What an earlier worker has recorded of a prompt, in short."""

    iteration: int
    type: str
    refinement_reason: str | None


class PromptStarted(Struct, frozen=True, kw_only=True):
    """A claim, and where the work of the prompt is done."""

    id: str
    in_progress: bool = True
    specialist: str
    worktree: str
    worktree_path: str | None
    current_iteration: int
    resumed: bool
    status: str
    recorded: Sequence[RecordedIteration]
    next_step: str
    notes: Sequence[str]


class PromptReleased(Struct, frozen=True, kw_only=True):
    """A prompt that was given back, if somebody had it."""

    id: str
    released: bool
    blocked_reason: str | None
    notes: Sequence[str]


class KeptClaim(Struct, frozen=True, kw_only=True):
    """Somebody who is still at work."""

    id: str
    specialist: str | None
    since: str


class PromptsReleased(Struct, frozen=True, kw_only=True):
    """The prompts that are free again, and those that are not."""

    released_count: int
    released: Sequence[str]
    kept: Sequence[KeptClaim]
    total_prompts: int
    notes: Sequence[str]


def start_prompt(
    where: ProjectPaths,
    id_: PromptId,
    specialist: str,
    worktree: str = "",
    *,
    take_over: bool = False,
    force: bool = False,
    caller: str = "",
) -> PromptStarted:
    """Claim a prompt; of two that try, one gets it. Earlier work is gone on with."""
    name = name_of_specialist(specialist)
    with plan_session.hold_plan(where, caller) as held:
        prompt, file = prompt_pictures.read_open_prompt(held, id_)
        late = count_late_commits(held.plan, prompt)
        forced = _check_start(held, id_, prompt, late, force)
        me = claim_owner.describe_caller()
        standing = judge_claim(prompt, name, me)
        taken = require_claim(id_, prompt, standing, take_over)
        branch = worktree or prompt.worktree_branch_name or _own_branch(held.plan, id_)
        _require_branch(held, id_, branch)
        news = {
            "in_progress": True,
            "delegated_to": name,
            "worktree_branch_name": branch,
            "started_at": prompt.started_at or Clock().now(),
            "base_commit": prompt.base_commit or find_feature_head(held.plan),
            "owner": me,
            "blocked_reason": "",
            **({"status": "implemented"} if late else {}),
        }
        payload = {"taken_from": describe_former_worker(prompt)} if taken else {}
        held.move("start-prompt", {id_: news}, (*forced, *taken), **payload)
        prompt_pictures.draw_file(held, id_, file)
        recorded = prompt_files.prompt_fields(file, id_, prompt)["walkthrough"]
        return PromptStarted(
            id=str(id_),
            specialist=name,
            worktree=branch,
            worktree_path=find_worktree_path(where, branch),
            current_iteration=prompt.current_iteration,
            resumed=bool(prompt.started_at),
            status=held.prompts[id_].status,
            recorded=[_recorded_iteration(each) for each in recorded],
            next_step=describe_next_step(held.prompts, id_),
            notes=held.notes,
        )


def _check_start(
    held: LockedPlan, id_: PromptId, prompt: Prompt, late: int, force: bool
) -> tuple[str, ...]:
    """A merged prompt is over, unless its branch has gone on since: then it is taken up again."""
    if not late:
        return check_prompt_rules("start-prompt", held, id_, force)
    require_open_plan(held)
    held.notes.append(describe_late_commits(late, prompt.worktree_branch_name, held.plan.branch))
    known = {**held.prompts, id_: replace(prompt, status="implemented")}
    return check_broken_rules(
        "start-prompt", id_, unmet_conditions("start-prompt", known, id_), force
    )


def _recorded_iteration(entry: Mapping[str, Any]) -> RecordedIteration:
    return RecordedIteration(
        iteration=int(entry.get("iteration") or 0),
        type=str(entry.get("type") or ""),
        refinement_reason=entry.get("refinement_reason") or None,
    )


def _own_branch(plan: Plan, id_: PromptId) -> str:
    return branch_of(plan.branch, id_.number, id_.variant)


def _require_branch(held: LockedPlan, id_: PromptId, branch: str) -> None:
    plan = held.plan
    is_name = _is_branch_name(plan.where.base, branch)
    others = {p.worktree_branch_name for other, p in held.prompts.items() if other != id_}
    # A variant that is discarded takes its branch with it.
    taken = branch in (plan.branch, "HEAD", *others) or base_branch.is_protected_branch(branch)
    if not is_name or branch.startswith("-") or taken:
        raise UsageError(
            f"{branch!r} cannot be the branch of a prompt",
            fix=f"use {plan.branch}--implementation-N[-V]",
            code="bad-worktree",
        )
    known, own = feature_of(branch), _own_branch(plan, id_)
    if known is not None and branch != own:
        raise UsageError(
            f"'{branch}' is the name of a branch for another prompt, and this is {id_}",
            fix=f"use --worktree {own}",
            code="bad-worktree",
        )
    if known is None:
        _refuse_colliding_branch(plan, branch, own)
        held.notes.append(
            f"in a worktree of '{branch}' envoy cannot find this plan; it knows only names like "
            f"{plan.branch}--implementation-N"
        )


def _refuse_colliding_branch(plan: Plan, branch: str, own: str) -> None:
    """Git keeps branches as paths: of `feat/x` and `feat/x/y` only one can exist."""
    first = f"refs/heads/{branch.partition('/')[0]}"
    listed = run_git(plan.where.base, "for-each-ref", "--format=%(refname:lstrip=2)", first)
    for other in (plan.branch, *listed.splitlines()):
        if branch.startswith(f"{other}/") or other.startswith(f"{branch}/"):
            raise UsageError(
                f"git cannot make the branch '{branch}' beside the branch '{other}'",
                fix=f"use --worktree {own}",
                code="bad-worktree",
            )


def _is_branch_name(repo: str, branch: str) -> bool:
    """Words with single slashes between them are one; of all others git knows."""
    words = branch.split("/")
    if all(word.replace("-", "").isalnum() and word.isascii() for word in words):
        return True
    return try_git(repo, "check-ref-format", f"refs/heads/{branch}").returncode == 0


def release_prompt(
    where: ProjectPaths, id_: PromptId, reason: str = "", *, force: bool = False, caller: str = ""
) -> PromptReleased:
    """Give a prompt back, by whoever worked on it or handed it out; its work stays as it is."""
    reason = redact_text(reason)
    with plan_session.hold_plan(where, caller) as held:
        prompt = held.demand(id_)
        forced = _refuse_others(id_, prompt, force)
        if prompt.in_progress:
            news = {"in_progress": False, "blocked_reason": reason}
            held.move("release-prompt", {id_: news}, forced, reason=reason)
            prompt_pictures.refresh_files(held, [id_])
            ask_about_unfinished(held, id_.number)
        return PromptReleased(
            id=str(id_),
            released=prompt.in_progress,
            blocked_reason=reason or None,
            notes=held.notes,
        )


def _refuse_others(id_: PromptId, prompt: Prompt, force: bool) -> tuple[str, ...]:
    """The process that has a claim gives it back; agents that share one are not told apart."""
    if not prompt.in_progress or not claim_owner.is_owner_present(prompt.owner):
        return ()
    if claim_owner.is_same_owner(prompt.owner, claim_owner.describe_caller()):
        return ()
    if not force:
        raise FailedError(
            f"prompt {id_} is being worked on by {prompt.delegated_to or 'somebody'} elsewhere",
            fix="ask them to give it back; only a person can take it from them",
            code="already-in-progress",
        )
    return ("already-in-progress",)


def release_all_prompts(
    where: ProjectPaths, *, force: bool = False, caller: str = ""
) -> PromptsReleased:
    """Claims of workers that are gone; those of living ones stay unless it is forced."""
    with plan_session.hold_plan(where, caller) as held:
        taken = {id_: prompt for id_, prompt in held.prompts.items() if prompt.in_progress}
        gone = [
            id_ for id_, p in taken.items() if force or not claim_owner.is_owner_present(p.owner)
        ]
        if gone:
            living = [id_ for id_ in gone if claim_owner.is_owner_present(taken[id_].owner)]
            forced = ("already-in-progress",) if living else ()
            held.move("release-all-prompts", {key: {"in_progress": False} for key in gone}, forced)
        prompt_pictures.refresh_files(held, gone)
        for number in {id_.number for id_ in gone}:
            ask_about_unfinished(held, number)
        kept = [
            KeptClaim(id=str(id_), specialist=p.delegated_to or None, since=p.started_at)
            for id_, p in taken.items()
            if id_ not in gone
        ]
        return PromptsReleased(
            released_count=len(gone),
            released=[str(id_) for id_ in gone],
            kept=kept,
            total_prompts=len(held.prompts),
            notes=held.notes,
        )
