"""Forms of a plan's gates: whether one can be taken as an answer, and what it says."""

from collections.abc import Callable, Mapping
from typing import Any

from porch.machine import prompts as life
from porch.machine.facts import Payload, Wish
from porch.machine.plan_protocol import FORMS
from porch.machine.state import Standing, State


def why_not(state: State, standing: Standing, wish: Wish) -> str:
    """Why a form cannot be taken as it is; nothing if it can."""
    if wish.exit != "answered" or standing.state not in FORMS:
        return ""
    form = wish.data.get("form")
    if not isinstance(form, Mapping):
        return "this question is answered with a form: its feedback file, or the same as YAML"
    odd = [name for name, value in form.items() if not _SHAPES.get(name, _is_text)(value)]
    if odd:
        return f"{', '.join(map(str, odd))} is not what the form has there"
    return _JUDGES.get(standing.state, _anything)(state, standing, form)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_text_or_kept(value: object) -> bool:
    """Long texts lie beside the journal and are named by their hash."""
    return isinstance(value, (str, Mapping))


def _are_parts(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values())


def _are_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


# What each field of a form must be; whoever can write wishes can write anything.
_SHAPES: Mapping[str, Callable[[object], bool]] = {
    "test_passed": _is_flag,
    "variants": _are_parts,
    "prompt_feedback": _are_parts,
    "approach_feedback": _are_parts,
    "questions": _are_rows,
    "logs": _is_text_or_kept,
}


def _anything(_state: State, _standing: Standing, _form: Payload) -> str:
    return ""


def _judge_variants(state: State, standing: Standing, form: Payload) -> str:
    number = int(standing.item)
    wanted = [each.variant for each in life.variants_of(life.prompts_of(state), number)]
    given = form.get("variants", {})
    if sorted(given) != wanted:
        return f"each of the variants {', '.join(wanted)} needs a decision"
    words = [str(given[letter].get("decision", "")) for letter in wanted]
    if any(word not in ("main", "alternative", "discard") for word in words):
        return "a decision is one of main, alternative, discard"
    if words.count("main") != 1:
        return f"exactly one variant is main, not {words.count('main')}"
    return ""


def _judge_testing(_state: State, _standing: Standing, form: Payload) -> str:
    if "test_passed" not in form:
        return "test_passed must be true or false"
    if form["test_passed"] is False and not str(form.get("user_required_changes", "")).strip():
        return "a test that did not pass needs user_required_changes: what is wrong"
    return ""


def _judge_clarifying(_state: State, _standing: Standing, form: Payload) -> str:
    answers = form.get("questions", ())
    if any(not str(each.get("answer", "")).strip() for each in answers):
        return "every question needs an answer"
    return ""


_JUDGES: Mapping[str, Callable[[State, Standing, Payload], str]] = {
    "variants": _judge_variants,
    "testing": _judge_testing,
    "clarifying": _judge_clarifying,
}


def filled(standing: Standing, wish: Wish) -> dict[str, Any]:
    """What a person said, in the words of the form, by whichever of the answers they gave."""
    form = wish.data.get("form")
    if wish.exit == "answered" and isinstance(form, Mapping):
        return dict(form)
    match standing.state, wish.exit:
        case "testing", "rejected":
            return {"thoughts": "", "test_passed": False, "user_required_changes": wish.text}
        case "testing", _:
            return {"thoughts": wish.text, "test_passed": True, "user_required_changes": ""}
        case "plan", "rejected":
            return {"thoughts": "", "user_required_plan_changes": wish.text}
        case _:
            return {"thoughts": wish.text}


def has_changes(form: Payload) -> bool:
    """Whether a person wants the plan, or any of its prompts, to be different."""
    changes = [form.get("user_required_plan_changes", "")]
    changes += [each.get("user_required_changes", "") for each in _prompts(form).values()]
    return any(str(text).strip() for text in changes)


def _prompts(form: Payload) -> Mapping[str, Payload]:
    return form.get("prompt_feedback") or {}
