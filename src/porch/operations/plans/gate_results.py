"""What a gate answers to whoever waited at it: per gate the same keys, whatever came of it."""

from collections.abc import Mapping
from typing import Any

from porch.machine import plans
from porch.machine.prompts import PLAN
from porch.model import finding_answers
from porch.model.findings import Key
from porch.model.prompt_ids import PromptId
from porch.operations.plans import working
from porch.operations.plans.desk import Desk

Told = dict[str, Any]


def answered(held: Desk, gate: str, id_: PromptId | None, answer: Mapping[str, Any]) -> Told:
    """The words of a person, and who said them by which way."""
    return {
        "state": "answered",
        **_of(held, gate, id_, answer["form"]),
        "answered_by": answer.get("by") or "unknown",
        "channel": answer.get("channel", ""),
        "notes": held.notes,
    }


def skipped(held: Desk, gate: str, id_: PromptId | None) -> Told:
    """Where there was nothing to ask."""
    told = {**_of(held, gate, id_, {}), "skipped": True}
    if gate == "variants":
        # Nobody competes with it.
        told["variant_solution"] = told["variant_solution"] or "main"
    who = {"answered_by": None, "channel": None}
    return {"state": "skipped", **told, **who, "notes": held.notes}


def _of(held: Desk, gate: str, id_: PromptId | None, form: Mapping[str, Any]) -> Told:
    told: Told = {"thoughts": str(form.get("thoughts", ""))}
    match gate:
        case "findings":
            return {**told, **_of_findings(form), "skipped": False}
        case "plan":
            return {**told, **_of_plan(held, form)}
        case "testing":
            return {**told, **_of_testing(form)}
        case "variants" if id_ is not None:
            return {**told, **_chosen(held, id_), "skipped": False}
        case _:
            return {**told, "logs": str(form.get("logs", ""))}


def _of_findings(form: Mapping[str, Any]) -> Told:
    affected, rejected = finding_answers.outcome(form.get("approach_feedback", {}))
    return {
        "affected_approaches": [_row(key) for key in affected],
        "rejected_approaches": [_row(key) for key in rejected],
    }


def _row(key: Key) -> dict[str, str]:
    return {"specialist_name": key.specialist, "approach_id": str(key.approach)}


def _of_plan(held: Desk, form: Mapping[str, Any]) -> Told:
    has_changes = plans.has_changes(form)
    archived = held.recalled(PLAN).get("archived_findings", [])
    return {
        "has_user_required_changes": has_changes,
        "user_required_plan_changes": str(form.get("user_required_plan_changes", "")),
        "prompt_changes": [
            {"prompt_id": id_, "user_required_changes": given["user_required_changes"]}
            for id_, given in form.get("prompt_feedback", {}).items()
            if str(given.get("user_required_changes", "")).strip()
        ],
        "archived_findings": [] if has_changes else list(archived),
    }


def _of_testing(form: Mapping[str, Any]) -> Told:
    return {
        "passed": bool(form.get("test_passed", True)),
        "user_required_changes": str(form.get("user_required_changes", "")),
        "logs": str(form.get("logs", "")),
    }


def _chosen(held: Desk, id_: PromptId) -> Told:
    prompt = held.prompts[id_]
    return {
        "variant_solution": prompt.variant_solution or None,
        "reason": prompt.variant_reason or "",
        "unmerged_alternatives": working.unmerged(held.plan, held.prompts, id_.number),
    }
