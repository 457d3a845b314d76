"""The order in which the prompts of a plan can be carried out, and what can be started now."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from porch.adapters import owners
from porch.adapters.where import Where
from porch.errors import UsageError
from porch.machine.prompt_order import cycles
from porch.machine.prompts import Prompt, Prompts, merged_numbers, waiting_on
from porch.model.prompt_ids import PromptId
from porch.operations.plans import opening, papers, shelf
from porch.operations.plans.prompting import allowed, demand_sound
from porch.runtime.clock import Clock


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
