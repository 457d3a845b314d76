"""Writing the prompts of a plan, and the order in which they can be carried out."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from porch.adapters import owners
from porch.adapters.where import Where
from porch.errors import DefinitionError, FailedError, Finding, UsageError
from porch.machine.prompts import (
    Prompt,
    Prompts,
    as_fields,
    merged_numbers,
    unmet,
    waiting_on,
)
from porch.model.prompt_ids import PromptId
from porch.operations.plans import opening, papers, shelf
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
    with opening.held(where, caller, make=True) as held:
        known = held.prompts
        old = known.get(id_)
        forced = allowed("write-prompt", held, id_, force) if old else ()
        prompt = _planned(old or Prompt(), given)
        demand_sound({**known, id_: prompt}, id_)
        words = dict(_authored(where, given))
        papers.demand_drawable(held.plan, id_)
        held.move("write-prompt", {id_: as_fields(prompt)}, forced, text=given.context or "")
        papers.put(held, id_, words, given.context)
        return {"id": str(id_), "created": old is None, "notes": held.notes}


def _planned(old: Prompt, given: Written) -> Prompt:
    kind = {None: old.kind, True: "debug", False: "feature"}[given.debug]
    tested = old.requires_manual_testing if given.requires_testing is None else False
    return replace(
        old,
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
    wrong = list(_wrong(prompts, id_))
    if wrong:
        raise DefinitionError(wrong)


def _wrong(prompts: Prompts, id_: PromptId) -> Iterator[Finding]:
    same = [each for each in prompts if each.number == id_.number and each != id_]
    if any(bool(each.variant) != bool(id_.variant) for each in same):
        code = "standalone-exists" if id_.variant else "variants-exist"
        names = ", ".join(map(str, same))
        said = f"prompt {id_} beside {names}: a number has one prompt, or variants with letters"
        yield Finding(code, said, None, f"remove {names} with `envoy plan clear-prompt` first")
    numbers = {each.number for each in prompts}
    for number in prompts[id_].depends_on:
        if number == id_.number:
            yield Finding(
                "self-dependency", f"prompt {id_} depends on itself", None, "leave it out"
            )
        elif number not in numbers:
            fix = f"numbers of the plan: {', '.join(map(str, sorted(numbers)))}; write it first"
            yield Finding("unknown-dependency", f"there is no prompt {number}", None, fix)
    for ring in cycles(prompts):
        if id_.number in ring and len(ring) > 2:
            way = " -> ".join(map(str, ring))
            yield Finding("dependency-cycle", f"prompts depend on each other: {way}", None, _CUT)


_CUT = "take one of these dependencies out with `envoy plan update-prompt-dependencies`"


def cycles(prompts: Prompts) -> list[tuple[int, ...]]:
    """Each ring of numbers once, from its smallest number on, and back to it."""
    ways: dict[int, set[int]] = {}
    for id_, prompt in prompts.items():
        ways.setdefault(id_.number, set()).update(prompt.depends_on)
    rings: dict[tuple[int, ...], None] = {}
    for start in sorted(ways):
        found = _back_to(ways, start)
        if found:
            rings[found] = None
    return list(rings)


def _back_to(ways: dict[int, set[int]], start: int) -> tuple[int, ...]:
    """The shortest way from a number to itself over numbers that are not smaller."""
    ahead: list[tuple[int, ...]] = [(start,)]
    seen: set[int] = set()
    for way in ahead:
        for number in sorted(ways.get(way[-1], ())):
            if number == start:
                return (*way, start)
            if number > start and number not in seen:
                seen.add(number)
                ahead.append((*way, number))
    return ()


def clear_prompt(
    where: Where, id_: PromptId, *, force: bool = False, caller: str = ""
) -> dict[str, Any]:
    """The file is kept aside: whoever removes a prompt by mistake has it still."""
    with opening.held(where, caller) as held:
        held.demand(id_)
        forced = allowed("clear-prompt", held, id_, force)
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


def allowed(action: str, held: Desk, id_: PromptId, force: bool) -> tuple[str, ...]:
    """The rules that --force sets aside; without it the first of them refuses."""
    broken = unmet(action, held.prompts, id_)
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
    body = papers.page_of(found.plan, id_).body
    return {"id": str(id_), "front_matter": fields, "content": body.strip("\n")}


def validate_dependencies(where: Where) -> dict[str, Any]:
    """Prompts that were planned before something they build on was planned anew."""
    found = shelf.opened(where)
    planned: dict[int, str] = {}
    for id_, prompt in found.prompts.items():
        planned[id_.number] = max(planned.get(id_.number, ""), prompt.planned_at)
    stale, missing = [], []
    for id_, prompt in found.prompts.items():
        gone = [number for number in prompt.depends_on if number not in planned]
        missing += [{"id": str(id_), "missing": gone}] if gone else []
        if any(planned.get(number, "") > prompt.planned_at for number in prompt.depends_on):
            stale.append(str(id_))
    rings = [list(ring) for ring in cycles(found.prompts)]
    return {
        "valid": not (stale or missing or rings),
        "stale_prompt_ids": stale,
        "missing_dependencies": missing,
        "cycles": rings,
    }


def update_dependencies(
    where: Where,
    id_: PromptId,
    depends_on: Sequence[int],
    *,
    force: bool = False,
    caller: str = "",
) -> dict[str, Any]:
    """Planned anew at this moment: otherwise nothing would ever cease to be stale."""
    with opening.held(where, caller) as held:
        old = papers.demand(held, id_)
        forced = allowed("update-prompt-dependencies", held, id_, force)
        now = Clock().now()
        news = {"depends_on": list(depends_on), "planned_at": now}
        demand_sound({**held.prompts, id_: _with(old, depends_on)}, id_)
        held.move("update-prompt-dependencies", {id_: news}, forced)
        papers.put(held, id_, {})
        return {
            "id": str(id_),
            "depends_on": list(depends_on),
            "planned_at": now,
            "previous_planned_at": old.planned_at or None,
            "notes": held.notes,
        }


def _with(prompt: Prompt, depends_on: Sequence[int]) -> Prompt:
    return replace(prompt, depends_on=tuple(depends_on))


def following(where: Where, count: int | None) -> dict[str, Any]:
    """What can be started now: faults first, then by number, all variants of a number together."""
    wanted = _count() if count is None else count
    if wanted < 1:
        raise UsageError(
            f"{wanted} is no number of prompts", fix="ask for one or more", code="invalid-count"
        )
    found = shelf.opened(where)
    notes = found.notes()
    ready, blocked = _sorted_out(found.prompts)
    ready = [id_ for id_ in ready if _is_readable(found, id_, notes)]
    numbers = list(dict.fromkeys(id_.number for id_ in ready))[:wanted]
    rows = [_row(found, id_) for id_ in ready if id_.number in numbers]
    is_over = all(_is_over(found.prompts, each) for each in found.prompts)
    return {
        "prompts": rows,
        "count": len(rows),
        "requested": wanted,
        "blocked": blocked,
        "in_progress": [
            _claim(id_, prompt)
            for id_, prompt in found.prompts.items()
            if prompt.in_progress and owners.is_present(prompt.owner)
        ],
        # Where nothing is planned, nothing is done.
        "all_done": bool(found.prompts) and is_over and not found.broken,
        "notes": notes,
    }


def _claim(id_: PromptId, prompt: Prompt) -> dict[str, Any]:
    since = {"specialist": prompt.delegated_to or None, "since": prompt.started_at or None}
    return {"id": str(id_), **since, "status": prompt.status}


def _is_readable(found: shelf.Shelf, id_: PromptId, notes: list[str]) -> bool:
    """Nobody could start it as it is."""
    before = len(notes)
    found.page(id_, notes)
    return len(notes) == before


def _count() -> int:
    """A variable that is no number counts as not set."""
    text = os.environ.get("N_PARALLEL_WORKERS", "")
    return int(text[:6]) if text.isdecimal() and int(text[:6]) else 1


def _is_over(prompts: Prompts, id_: PromptId) -> bool:
    return prompts[id_].is_put_aside or id_.number in merged_numbers(prompts)


def _sorted_out(prompts: Prompts) -> tuple[list[PromptId], list[dict[str, Any]]]:
    ready, blocked = [], []
    for id_, prompt in prompts.items():
        # Whoever begins with a prompt of somebody who is gone takes it over.
        if _is_over(prompts, id_) or (prompt.in_progress and owners.is_present(prompt.owner)):
            continue
        missing = waiting_on(prompts, prompt)
        if missing:
            blocked.append({"id": str(id_), "waiting_on": missing})
        else:
            ready.append(id_)
    return sorted(ready, key=lambda each: (prompts[each].kind != "debug", each)), blocked


def _row(found: shelf.Shelf, id_: PromptId) -> dict[str, Any]:
    fields = found.fields(id_)
    return {
        "prompt_num": id_.number,
        "variant": id_.variant or None,
        "description": fields["description"],
        "relevant_files": fields["relevant_files"],
        "kind": fields["kind"],
        "status": fields["status"],
    }
