"""Writing the prompts of a plan, reading them, and taking them out."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import DefinitionError, FailedError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import (
    Prompt,
    Prompts,
    as_fields,
    fields_after_replanning,
)
from porch.plan.files import locked_plan, plan_snapshot, prompt_files
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.files.prompt_files import Fields
from porch.plan.prompts.dependencies import list_order_problems
from porch.plan.prompts.prompt_rules import check_prompt_rules
from porch.store.where import ProjectPaths
from porch.system.clock import Clock


class PromptWords(Struct, frozen=True):
    """What `write-prompt` is given; None leaves what an earlier version said."""

    files: Sequence[str] | None = None
    depends_on: Sequence[int] | None = None
    debug: bool | None = None
    criteria: str | None = None
    context: str | None = None
    requires_testing: bool | None = None
    description: str | None = None


class PromptWritten(Struct, frozen=True, kw_only=True):
    """A prompt that the plan has now."""

    id: str
    created: bool
    notes: Sequence[str]


class PromptCleared(Struct, frozen=True, kw_only=True):
    """A prompt that the plan had, and where its file is."""

    id: str
    deleted: bool = True
    kept_as: str
    notes: Sequence[str]


class WholePrompt(Struct, frozen=True, kw_only=True):
    """All of a prompt, as its file and the journal have it."""

    id: str
    front_matter: Fields
    content: str


def write_prompt(
    where: ProjectPaths, id_: PromptId, given: PromptWords, *, force: bool = False, caller: str = ""
) -> PromptWritten:
    """A new prompt, or a new version of one: what was done for the old one stays written down."""
    # Wrong words make no plan.
    words = dict(_authored_fields(where, given))
    from porch.plan.files import prompt_pictures
    from porch.plan.session import plan_session

    with plan_session.hold_plan(where, caller, make=True) as held:
        locked_plan.require_open_plan(held)
        known = held.prompts
        old = known.get(id_)
        forced = check_prompt_rules("write-prompt", held, id_, force) if old else ()
        prompt = _replan_prompt(old or Prompt(), given)
        require_sound_order({**known, id_: prompt}, id_)
        file = prompt_files.find_prompt_file(held.plan, id_)
        held.move("write-prompt", {id_: as_fields(prompt)}, forced, text=given.context or "")
        if file is None:
            prompt_pictures.draw_new_file(held, id_, words, given.context)
        else:
            prompt_pictures.draw_file(held, id_, file, authored=words, body=given.context)
        return PromptWritten(id=str(id_), created=old is None, notes=held.notes)


def _replan_prompt(old: Prompt, given: PromptWords) -> Prompt:
    kind = {None: old.kind, True: "debug", False: "feature"}[given.debug]
    tested = old.requires_manual_testing if given.requires_testing is None else False
    return replace(
        replace(old, **fields_after_replanning(old)),
        kind=kind,
        depends_on=old.depends_on if given.depends_on is None else tuple(given.depends_on),
        requires_manual_testing=bool(given.requires_testing or tested),
        planned_at=Clock().now(),
    )


def _authored_fields(where: ProjectPaths, given: PromptWords) -> Iterator[tuple[str, Any]]:
    if given.description is not None:
        yield "description", given.description
    if given.files is not None:
        from porch.plan.files.project_paths import check_project_paths

        yield "relevant_files", check_project_paths(where, given.files)
    if given.criteria is not None:
        yield "success_criteria", given.criteria


def require_sound_order(prompts: Prompts, id_: PromptId) -> None:
    """All that is wrong with the prompts once this one is among them, as far as it is about it."""
    wrong = list(list_order_problems(prompts, id_))
    if wrong:
        raise DefinitionError(wrong)


def clear_prompt(
    where: ProjectPaths, id_: PromptId, *, force: bool = False, caller: str = ""
) -> PromptCleared:
    """The file is kept aside: whoever removes a prompt by mistake has it still."""
    from porch.plan.files import prompt_pictures
    from porch.plan.session import plan_session

    with plan_session.hold_plan(where, caller) as held:
        held.demand(id_)
        forced = check_prompt_rules("clear-prompt", held, id_, force) + _check_accepted_plan(
            held, id_, force
        )
        left = [each for each in held.prompts if each.number == id_.number and each != id_]
        users = [str(u) for u, p in held.prompts.items() if id_.number in p.depends_on]
        if users and not left:
            if not force:
                raise FailedError(
                    f"prompt {id_} is needed by {', '.join(users)}",
                    fix="change what they depend on first; only a person can remove it before that",
                    code="needed-by-others",
                )
            forced = (*forced, "needed-by-others")
        aside = prompt_pictures.set_file_aside(held.plan, id_)
        held.move("clear-prompt", {id_: None}, forced)
        return PromptCleared(id=str(id_), kept_as=aside, notes=held.notes)


def _check_accepted_plan(held: LockedPlan, id_: PromptId, force: bool) -> tuple[str, ...]:
    """What a person has accepted is not taken out behind their back."""
    if held.stage != "in_progress":
        return ()
    if not force:
        raise FailedError(
            f"a person has accepted the plan with prompt {id_}",
            fix="ask a person to decide; only they can remove it",
            code="plan-accepted",
        )
    return ("plan-accepted",)


def read_prompt(where: ProjectPaths, id_: PromptId) -> WholePrompt:
    page = plan_snapshot.read_current_plan(where).page(id_)
    return WholePrompt(id=str(id_), front_matter=page.fields, content=page.body.strip("\n"))
