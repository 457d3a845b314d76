"""Writing the prompts of a plan, reading them, and taking them out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from porch.adapters.where import Where
from porch.errors import DefinitionError, FailedError
from porch.machine.prompt_order import problems
from porch.machine.prompts import Condition, Prompt, Prompts, as_fields, replanned, unmet
from porch.model.prompt_ids import PromptId
from porch.operations.plans import opening, pages, papers, shelf
from porch.operations.plans.desk import Desk
from porch.operations.plans.paths import project_paths
from porch.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Written:
    """What `write-prompt` is given; None leaves what an earlier version said."""

    files: Sequence[str] | None = None
    depends_on: Sequence[int] | None = None
    debug: bool | None = None
    criteria: str | None = None
    context: str | None = None
    requires_testing: bool | None = None
    description: str | None = None


def write_prompt(
    where: Where, id_: PromptId, given: Written, *, force: bool = False, caller: str = ""
) -> dict[str, Any]:
    """A new prompt, or a new version of one: what was done for the old one stays written down."""
    # Wrong words make no plan.
    words = dict(_authored(where, given))
    with opening.held(where, caller, make=True) as held:
        opening.demand_open(held)
        known = held.prompts
        old = known.get(id_)
        forced = allowed("write-prompt", held, id_, force) if old else ()
        prompt = _planned(old or Prompt(), given)
        demand_sound({**known, id_: prompt}, id_)
        pages.demand_drawable(held.plan, id_)
        held.move("write-prompt", {id_: as_fields(prompt)}, forced, text=given.context or "")
        papers.put(held, id_, words, given.context)
        return {"id": str(id_), "created": old is None, "notes": held.notes}


def _planned(old: Prompt, given: Written) -> Prompt:
    kind = {None: old.kind, True: "debug", False: "feature"}[given.debug]
    tested = old.requires_manual_testing if given.requires_testing is None else False
    return replace(
        replace(old, **replanned(old)),
        kind=kind,
        depends_on=old.depends_on if given.depends_on is None else tuple(given.depends_on),
        requires_manual_testing=bool(given.requires_testing or tested),
        planned_at=Clock().now(),
    )


def _authored(where: Where, given: Written) -> Iterator[tuple[str, Any]]:
    if given.description is not None:
        yield "description", given.description
    if given.files is not None:
        yield "relevant_files", project_paths(where, given.files)
    if given.criteria is not None:
        yield "success_criteria", given.criteria


def demand_sound(prompts: Prompts, id_: PromptId) -> None:
    """All that is wrong with the prompts once this one is among them, as far as it is about it."""
    wrong = list(problems(prompts, id_))
    if wrong:
        raise DefinitionError(wrong)


def clear_prompt(
    where: Where, id_: PromptId, *, force: bool = False, caller: str = ""
) -> dict[str, Any]:
    """The file is kept aside: whoever removes a prompt by mistake has it still."""
    with opening.held(where, caller) as held:
        held.demand(id_)
        forced = allowed("clear-prompt", held, id_, force) + _accepted(held, id_, force)
        left = [each for each in held.prompts if each.number == id_.number and each != id_]
        users = [str(u) for u, p in held.prompts.items() if id_.number in p.depends_on]
        if users and not left:
            if not force:
                raise FailedError(
                    f"prompt {id_} is needed by {', '.join(users)}",
                    fix="change what they depend on first, or add --force",
                    code="needed-by-others",
                )
            forced = (*forced, "needed-by-others")
        aside = papers.put_aside(held.plan, id_)
        held.move("clear-prompt", {id_: None}, forced)
        return {"id": str(id_), "deleted": True, "kept_as": aside, "notes": held.notes}


def _accepted(held: Desk, id_: PromptId, force: bool) -> tuple[str, ...]:
    """What a person has accepted is not taken out behind their back."""
    if held.stage != "in_progress":
        return ()
    if not force:
        raise FailedError(
            f"a person has accepted the plan with prompt {id_} in it",
            fix="let a person decide; --force takes it out all the same, and is logged",
            code="plan-accepted",
        )
    return ("plan-accepted",)


def allowed(action: str, held: Desk, id_: PromptId, force: bool) -> tuple[str, ...]:
    """The rules that --force sets aside; without it the first of them refuses."""
    opening.demand_open(held)
    return forced_past(action, id_, unmet(action, held.prompts, id_), force)


def forced_past(
    action: str, id_: PromptId, broken: Sequence[Condition], force: bool
) -> tuple[str, ...]:
    if broken and not force:
        rest = "".join(f"; also: {each.otherwise}" for each in broken[1:])
        raise FailedError(
            f"{action}: prompt {id_}: {broken[0].otherwise}{rest}",
            fix=f"{broken[0].fix}; --force goes on all the same, and is logged",
            code=broken[0].code,
        )
    return tuple(each.code for each in broken)


def read_prompt(where: Where, id_: PromptId) -> dict[str, Any]:
    found = shelf.opened(where)
    fields = found.fields(id_)
    body = pages.page_of(found.plan, id_).body
    return {"id": str(id_), "front_matter": fields, "content": body.strip("\n")}
