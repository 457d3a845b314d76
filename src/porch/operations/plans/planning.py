"""Making a plan and looking at it: init, status, check, write-plan, get-full-plan, user input."""

from typing import Any

from porch.adapters import base_branch, plan_files
from porch.adapters.where import Where
from porch.dialects import front_matter
from porch.errors import FailedError, UsageError
from porch.machine.facts import PlanMoved
from porch.machine.prompts import PLAN
from porch.model.prompt_ids import PromptId
from porch.operations.plans import opening, place, shelf
from porch.operations.plans.settling import INPUT
from porch.operations.plans.shelf import PLAN_FILE, Shelf
from porch.runtime.clock import Clock
from porch.views import user_input

SUMMARY = "summary.md"
_OBJECTIVE, _CONTEXT = "## Objective", "## Context"


def init(where: Where, caller: str = "") -> dict[str, Any]:
    """Have the directories; what is there stays."""
    with opening.held(where, caller, make=True) as held:
        known = held.recalled(PLAN)
        if not known:
            held.record(PlanMoved("init", plan={"stage": "draft"}))
        return {"initialized": True, **_where(held.plan), "notes": held.notes}


def status(where: Where) -> dict[str, Any]:
    plan = place.current(where)
    return {"exists": plan.exists, **_where(plan)}


def _where(plan: place.Plan) -> dict[str, Any]:
    return {
        "branch": plan.branch,
        "base_branch": base_branch.of(plan.where.workspace).branch,
        "direct_mode": base_branch.is_direct(plan.branch),
        "directory": plan.directory,
    }


def check(where: Where) -> dict[str, Any]:
    """What somebody who takes the plan up has to know first."""
    plan = place.current(where)
    if not plan.exists:
        message = f"the branch {plan.branch} has no plan; `envoy plan init` makes one"
        return {"exists": False, "branch": plan.branch, "message": message}
    found = shelf.of(plan)
    told: dict[str, Any] = {"exists": True, "stage": found.stage, "branch": plan.branch}
    if found.stage == "completed":
        return {**told, "summary": found.text(SUMMARY)}
    told["user_input"] = found.text(INPUT)
    if found.stage == "draft":
        return told
    notes = found.notes()
    context = shelf.plan_page(found).body.strip("\n")
    return {**told, "plan_context": context, "prompts": _rows(found, notes), "notes": notes}


def _rows(found: Shelf, notes: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(id_),
            "description": found.page(id_, notes).fields["description"],
            "status": prompt.status,
            "kind": prompt.kind,
            "depends_on": list(prompt.depends_on),
            "in_progress": prompt.in_progress,
            "variant_solution": prompt.variant_solution or None,
        }
        for id_, prompt in found.prompts.items()
    ]


def write_plan(
    where: Where, title: str, objective: str, context: str, caller: str = ""
) -> dict[str, Any]:
    """The words of the plan; what reviews and audits said of it stays."""
    if not title.strip():
        raise UsageError("a plan needs a title", fix="give one with --title", code="empty-content")
    with opening.held(where, caller, make=True) as held:
        opening.demand_open(held)
        path = held.plan.file(PLAN_FILE)
        old = plan_files.text(path)
        body = _body(title, objective, context)
        mine = {"stage": held.stage, "branch_name": held.plan.branch}
        if old is None:
            text = front_matter.fresh({**mine, "audits": [], "reviews": []}, body)
        else:
            text = front_matter.with_body(front_matter.changed(old, path, mine), path, body)
        held.record(PlanMoved("write-plan", plan={"stage": held.stage}, payload={"text": body}))
        plan_files.write(path, text)
        return {"created": old is None, "branch": held.plan.branch, "notes": held.notes}


def _body(title: str, objective: str, context: str) -> str:
    parts = (f"# {title.strip()}", _OBJECTIVE, objective.strip(), _CONTEXT, context.strip())
    return "\n\n".join(part for part in parts if part)


def full_plan(where: Where) -> dict[str, Any]:
    found = shelf.opened(where)
    page, notes = shelf.plan_page(found), found.notes()
    fields = {**page.fields, "stage": found.stage}
    return {
        "branch": found.plan.branch,
        "plan": {"front_matter": fields, "content": page.body.strip("\n")},
        "user_input": found.text(INPUT),
        "summary": found.text(SUMMARY),
        "prompts": [_whole(found, id_, notes) for id_ in found.prompts],
        "notes": notes,
    }


def _whole(found: Shelf, id_: PromptId, notes: list[str]) -> dict[str, Any]:
    page = found.page(id_, notes)
    return {"id": str(id_), "front_matter": dict(page.fields), "content": page.body.strip("\n")}


def append_user_input(where: Where, text: str, caller: str = "") -> dict[str, Any]:
    if not text.strip():
        raise FailedError("there is no text", fix="give what the user said", code="empty-content")
    with opening.held(where, caller, make=True) as held:
        path = held.plan.file(INPUT)
        # Whoever was killed before the record was made comes again with the same number.
        mark = f"said {held.state.seq + 1}"
        if user_input.kept(mark, text) not in (plan_files.text(path) or ""):
            entry = user_input.entry(Clock().now(), text, mark)
            plan_files.append(path, entry, user_input.HEADING)
        held.note("append-user-input", text=text)
        return {"appended": True, "notes": held.notes}
