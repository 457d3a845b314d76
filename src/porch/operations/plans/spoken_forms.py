"""A form in words: what somebody types behind `porch answer` for a gate of a plan."""

from collections.abc import Mapping
from typing import Any

from porch.adapters.where import Where
from porch.dialects import feedback
from porch.errors import DefinitionError, UsageError
from porch.machine import plans
from porch.machine.prompts import prompts_of
from porch.machine.state import Standing, State
from porch.operations.plans import findings, forms_taken, place
from porch.operations.plans.feedback_forms import WITH_LOGS, form_of
from porch.operations.session import payload_directory
from porch.runtime.payloading import aside, expand

_FILE = "the answer"


def form_in(where: Where, state: State, standing: Standing, text: str) -> Mapping[str, Any] | None:
    """The form of a gate from YAML, or from plain words where they can mean only one thing."""
    if standing.state not in plans.FORMS:
        return None
    plan = place.of(where, state.run.title)
    known = state.memory.get(("", standing.item), {}).get(plans.posed_path(standing.state), {})
    store = payload_directory(where, plan.run)
    posed = expand(store, known)
    form = form_of(plan, prompts_of(state), standing.state, standing.item, posed)
    values = dict(_read(form, standing.state, text))
    if standing.state == "findings" and (wrong := findings.complaints(plan, values)):
        raise DefinitionError(wrong)
    if standing.state in WITH_LOGS:
        logs, refused = forms_taken.logs_beside(plan, standing.state, standing.item)
        if refused:
            raise DefinitionError(refused)
        values["logs"] = aside(store, logs)
    return values


def _read(form: feedback.Form, gate: str, text: str) -> Mapping[str, Any]:
    if _is_plain(text):
        return _plain(form, gate, text)
    reading = feedback.read(text, form, _FILE, is_finished=True)
    if isinstance(reading, feedback.Filled):
        return reading.values
    raise DefinitionError(reading.findings if isinstance(reading, feedback.Wrong) else ())


def _is_plain(text: str) -> bool:
    return not text.lstrip().startswith("{") and ": " not in text and ":\n" not in text


def _plain(form: feedback.Form, gate: str, text: str) -> Mapping[str, Any]:
    given = form.given()
    questions = given.get("questions", ())
    if gate in ("findings", "logging"):
        return {**given, "thoughts": text}
    if gate == "clarifying" and len(questions) == 1:
        return {**given, "questions": [{**questions[0], "answer": text}]}
    names = ", ".join(given)
    raise UsageError(
        f"plain words cannot answer this: it has the fields {names}",
        fix="answer as YAML, such as 'variants: {A: {decision: main}, B: {decision: discard}}', "
        "or fill in the feedback file",
        code="bad-form",
    )
