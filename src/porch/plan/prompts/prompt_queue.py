"""The order in which the prompts of a plan can be carried out, and what can be started now."""

import os
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import PorchError, UsageError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import (
    Prompt,
    Prompts,
    merged_numbers,
    unmerged_dependencies,
)
from porch.plan.files import plan_snapshot
from porch.plan.files.prompt_files import Fields
from porch.plan.prompts import claim_owner
from porch.plan.prompts.claim_standing import judge_claim
from porch.plan.prompts.dependencies import find_cycles
from porch.plan.prompts.late_commits import list_late_commits
from porch.plan.prompts.prompt_next_step import start_command
from porch.store.where import ProjectPaths
from porch.system.clock import Clock


class MissingDependencies(Struct, frozen=True, kw_only=True):
    """Numbers that a prompt builds on and that the plan does not have."""

    id: str
    missing: Sequence[int]


class DependenciesChecked(Struct, frozen=True, kw_only=True):
    """All that is wrong with the order of the prompts."""

    valid: bool
    stale_prompt_ids: Sequence[str]
    missing_dependencies: Sequence[MissingDependencies]
    cycles: Sequence[Sequence[int]]


class DependenciesUpdated(Struct, frozen=True, kw_only=True):
    """What a prompt builds on now."""

    id: str
    depends_on: Sequence[int]
    planned_at: str
    previous_planned_at: str | None
    notes: Sequence[str]


class StartablePrompt(Struct, frozen=True, kw_only=True):
    """A prompt that nothing keeps from being started."""

    prompt_num: int
    variant: str | None
    description: str
    relevant_files: Sequence[str]
    kind: str
    status: str
    interrupted: bool
    start_with: str


class BlockedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt that others must come before."""

    id: str
    waiting_on: Sequence[int]


class ClaimedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt that somebody is working on."""

    id: str
    specialist: str | None
    since: str | None
    status: str
    yours: bool
    continue_with: str | None


class NextPrompts(Struct, frozen=True, kw_only=True):
    """What can be started now, and what cannot."""

    prompts: Sequence[StartablePrompt]
    count: int
    requested: int
    blocked: Sequence[BlockedPrompt]
    in_progress: Sequence[ClaimedPrompt]
    all_done: bool
    notes: Sequence[str]


def validate_dependencies(where: ProjectPaths) -> DependenciesChecked:
    """Prompts that were planned before something they build on was planned anew."""
    found = plan_snapshot.read_current_plan(where)
    planned: dict[int, str] = {}
    for id_, prompt in found.prompts.items():
        planned[id_.number] = max(planned.get(id_.number, ""), prompt.planned_at)
    stale, missing = [], []
    for id_, prompt in found.prompts.items():
        gone = [number for number in prompt.depends_on if number not in planned]
        missing += [MissingDependencies(id=str(id_), missing=gone)] if gone else []
        if any(planned.get(number, "") > prompt.planned_at for number in prompt.depends_on):
            stale.append(str(id_))
    rings = [list(ring) for ring in find_cycles(found.prompts)]
    return DependenciesChecked(
        valid=not (stale or missing or rings),
        stale_prompt_ids=stale,
        missing_dependencies=missing,
        cycles=rings,
    )


def update_dependencies(
    where: ProjectPaths,
    id_: PromptId,
    depends_on: Sequence[int],
    *,
    force: bool = False,
    caller: str = "",
) -> DependenciesUpdated:
    """Planned anew at this moment: otherwise nothing would ever cease to be stale."""
    from porch.plan.files import prompt_pictures
    from porch.plan.prompts.prompt_edits import require_sound_order
    from porch.plan.prompts.prompt_rules import check_prompt_rules
    from porch.plan.session import plan_session

    with plan_session.hold_plan(where, caller) as held:
        old, file = prompt_pictures.read_open_prompt(held, id_)
        forced = check_prompt_rules("update-prompt-dependencies", held, id_, force)
        now = Clock().now()
        news = {"depends_on": list(depends_on), "planned_at": now}
        require_sound_order({**held.prompts, id_: _with_dependencies(old, depends_on)}, id_)
        held.move("update-prompt-dependencies", {id_: news}, forced)
        prompt_pictures.draw_file(held, id_, file)
        return DependenciesUpdated(
            id=str(id_),
            depends_on=list(depends_on),
            planned_at=now,
            previous_planned_at=old.planned_at or None,
            notes=held.notes,
        )


def _with_dependencies(prompt: Prompt, depends_on: Sequence[int]) -> Prompt:
    return replace(prompt, depends_on=tuple(depends_on))


def list_next_prompts(where: ProjectPaths, count: int | None) -> NextPrompts:
    """What can be started now: faults first, then by number, all variants of a number together."""
    wanted = _default_worker_count() if count is None else count
    if wanted < 1:
        raise UsageError(
            f"{wanted} is not a valid number of prompts",
            fix="ask for one or more",
            code="invalid-count",
        )
    found = plan_snapshot.read_current_plan(where)
    notes = found.notes()
    ready, blocked = _split_startable(found.prompts)
    rows = _list_first_rows(found, ready, wanted, notes)
    is_over = all(_is_over(found.prompts, each) for each in found.prompts)
    late = list_late_commits(found.plan, found.prompts)
    notes += [each.say(found.plan.branch) for each in late]
    return NextPrompts(
        prompts=rows,
        count=len(rows),
        requested=wanted,
        blocked=blocked,
        in_progress=[
            _claimed_prompt(id_, prompt)
            for id_, prompt in found.prompts.items()
            if prompt.in_progress and claim_owner.is_owner_present(prompt.owner)
        ],
        # Where nothing is planned, nothing is done.
        all_done=bool(found.prompts) and is_over and not found.broken and not late,
        notes=notes,
    )


def _claimed_prompt(id_: PromptId, prompt: Prompt) -> ClaimedPrompt:
    """Who was interrupted and is still there finds their own prompts here, and how to go on."""
    is_own = claim_owner.is_same_owner(prompt.owner, claim_owner.describe_caller())
    return ClaimedPrompt(
        id=str(id_),
        specialist=prompt.delegated_to or None,
        since=prompt.started_at or None,
        status=prompt.status,
        yours=is_own,
        continue_with=start_command(id_, prompt) if is_own else None,
    )


def _list_first_rows(
    found: plan_snapshot.PlanSnapshot, ready: Sequence[PromptId], wanted: int, notes: list[str]
) -> list[StartablePrompt]:
    """So many numbers that can be started; what comes behind them is not read.

    One that cannot be read is passed over with a note: nobody could start it as it is.
    """
    rows: list[StartablePrompt] = []
    for id_ in ready:
        numbers = {row.prompt_num for row in rows}
        if len(numbers) < wanted or id_.number in numbers:
            try:
                rows.append(_startable_prompt(id_, found.prompts[id_], found.page(id_).fields))
            except PorchError as error:
                notes.append(str(error))
    return rows


def _default_worker_count() -> int:
    """A variable that is no number counts as not set."""
    text = os.environ.get("N_PARALLEL_WORKERS", "")
    return int(text[:6]) if text.isdecimal() and int(text[:6]) else 1


def _is_over(prompts: Prompts, id_: PromptId) -> bool:
    return prompts[id_].is_put_aside or id_.number in merged_numbers(prompts)


def _split_startable(prompts: Prompts) -> tuple[list[PromptId], list[BlockedPrompt]]:
    ready, blocked = [], []
    for id_, prompt in prompts.items():
        # Whoever begins with a prompt of somebody who is gone takes it over.
        if _is_over(prompts, id_) or (
            prompt.in_progress and claim_owner.is_owner_present(prompt.owner)
        ):
            continue
        missing = unmerged_dependencies(prompts, prompt)
        if missing:
            blocked.append(BlockedPrompt(id=str(id_), waiting_on=missing))
        else:
            ready.append(id_)
    return sorted(ready, key=lambda each: (prompts[each].kind != "debug", each)), blocked


def _startable_prompt(id_: PromptId, prompt: Prompt, fields: Fields) -> StartablePrompt:
    is_anothers = prompt.in_progress and not _is_continued(prompt)
    return StartablePrompt(
        prompt_num=id_.number,
        variant=id_.variant or None,
        description=fields["description"],
        relevant_files=fields["relevant_files"],
        kind=fields["kind"],
        status=fields["status"],
        interrupted=prompt.in_progress,
        start_with=start_command(id_, prompt, take_over=is_anothers),
    )


def _is_continued(prompt: Prompt) -> bool:
    """Whether the same worker may take it up without a word: asked as who has the claim."""
    caller = claim_owner.describe_caller()
    return judge_claim(prompt, prompt.delegated_to, caller) == "own"
