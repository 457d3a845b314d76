"""A form in words: what somebody types behind `porch answer` for a gate of a plan."""

from collections.abc import Mapping
from typing import Any

from porch.errors import DefinitionError, UsageError
from porch.machine.plan import run_rules
from porch.machine.plan.prompt_lifecycle import prompts_of
from porch.machine.state import RunState, Standing
from porch.plan import forms
from porch.plan.files import plan_location
from porch.plan.findings import findings_files
from porch.plan.gate_files.gate_forms import WITH_LOGS, build_form
from porch.plan.gates import form_answers
from porch.run.engine.session import payload_directory
from porch.store.large_payloads import expand_payloads, slim_wish_text
from porch.store.where import ProjectPaths

_FILE = "the answer"


def read_typed_form(
    where: ProjectPaths, state: RunState, standing: Standing, text: str
) -> Mapping[str, Any] | None:
    """The form of a gate from YAML, or from plain words where they can mean only one thing."""
    if standing.state not in run_rules.FORMS:
        return None
    plan = plan_location.plan_of_branch(where, state.run.title)
    known = state.memory.get(("", standing.item), {}).get(
        run_rules.question_path(standing.state), {}
    )
    store = payload_directory(where, plan.run)
    posed = expand_payloads(store, known)
    form = build_form(plan, prompts_of(state), standing.state, standing.item, posed)
    values = dict(_read_form_text(form, standing.state, text))
    if standing.state == "findings" and (
        wrong := findings_files.list_answer_problems(plan, values)
    ):
        raise DefinitionError(wrong)
    if standing.state in WITH_LOGS:
        logs, refused = form_answers.read_logs_file(plan, standing.state, standing.item)
        if refused:
            raise DefinitionError(refused)
        values["logs"] = slim_wish_text(store, logs)
    return values


def _read_form_text(form: forms.GateForm, gate: str, text: str) -> Mapping[str, Any]:
    if _is_plain(text):
        return _read_plain_words(form, gate, text)
    reading = forms.read_form(text, form, _FILE, is_finished=True)
    if isinstance(reading, forms.FilledForm):
        return reading.values
    raise DefinitionError(reading.findings if isinstance(reading, forms.WrongForm) else ())


def _is_plain(text: str) -> bool:
    return not text.lstrip().startswith("{") and ": " not in text and ":\n" not in text


def _read_plain_words(form: forms.GateForm, gate: str, text: str) -> Mapping[str, Any]:
    given = form.given()
    questions = given.get("questions", ())
    if gate in ("findings", "logging"):
        return {**given, "thoughts": text}
    if gate == "clarifying" and len(questions) == 1:
        return {**given, "questions": [{**questions[0], "answer": text}]}
    names = ", ".join(given)
    raise UsageError(
        f"this question has the fields {names}, so plain text cannot answer it",
        fix="answer as YAML, such as 'variants: {A: {decision: main}, B: {decision: discard}}', "
        "or fill in the feedback file",
        code="bad-form",
    )
