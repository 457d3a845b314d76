"""A form in words: what somebody types behind `porch answer` for a gate of a plan."""

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from porch.errors import DefinitionError, UsageError
from porch.machine.plan import run_rules
from porch.machine.plan.prompt_lifecycle import prompts_of
from porch.machine.state import RunState, Standing
from porch.plan import forms
from porch.plan.files import plan_location
from porch.plan.files.plan_location import Plan
from porch.plan.findings import findings_files
from porch.plan.gate_files.gate_forms import WAYS, WITH_LOGS, build_form
from porch.plan.gates import form_answers
from porch.run.engine.fact_redaction import redact_text
from porch.run.engine.run_places import payload_directory
from porch.store.large_payloads import expand_payloads, slim_wish_text
from porch.store.where import ProjectPaths
from porch.text.late_pattern import late_pattern

_FILE = "the answer"
_KEY = late_pattern(r"""^[ \t]*["']?(\w+)["']?[ \t]*:(?=\s|$)""", re.MULTILINE)


def read_typed_form(
    where: ProjectPaths,
    state: RunState,
    standing: Standing,
    text: str,
    *,
    logs: str | None = None,
) -> Mapping[str, Any] | None:
    """The form of a gate from YAML, or from plain words where they can mean only one thing.

    Logs that are not given with it are those in their file.
    """
    if standing.state not in run_rules.FORMS:
        return None
    if logs is not None and standing.state not in WITH_LOGS:
        raise UsageError(
            f"the gate '{standing.state}' takes no logs",
            fix=f"leave out --logs; these gates take them: {', '.join(sorted(WITH_LOGS))}",
            code="bad-form",
        )
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
        values["logs"] = slim_wish_text(store, _read_logs(plan, standing, logs))
    return values


def _read_logs(plan: Plan, standing: Standing, given: str | None) -> str:
    if given is None:
        found, refused = form_answers.read_logs_file(plan, standing.state, standing.item)
    else:
        found, refused = form_answers.check_logs(redact_text(given), "--logs")
    if refused:
        raise DefinitionError(refused)
    return found


def _read_form_text(form: forms.GateForm, gate: str, text: str) -> Mapping[str, Any]:
    if _is_plain(form, text):
        return _read_plain_words(form, gate, text)
    reading = forms.read_form(text, form, _FILE, is_finished=True)
    if isinstance(reading, forms.FilledForm):
        return reading.values
    raise DefinitionError(reading.findings if isinstance(reading, forms.WrongForm) else ())


def _is_plain(form: forms.GateForm, text: str) -> bool:
    """Words that name no field of the form; a colon alone makes no field of a word."""
    if text.lstrip().startswith("{"):
        return False
    known = {field.name for field in form.fields}
    near = [get_close_matches(key, known, 1, 0.8) for key in _KEY.findall(text)]
    return not any(near)


def _read_plain_words(form: forms.GateForm, gate: str, text: str) -> Mapping[str, Any]:
    """Where they can mean only one thing; elsewhere the refusal shows how to say just this."""
    given = form.given()
    questions = given.get("questions", ())
    if gate == "unfinished" and text.strip().lower() in WAYS:
        return {**given, "decision": text.strip().lower()}
    if gate in ("findings", "logging"):
        return {**given, "thoughts": text}
    if gate == "clarifying" and len(questions) == 1:
        return {**given, "questions": [{**questions[0], "answer": text}]}
    raise UsageError(
        f"this question has the fields {', '.join(given)}; "
        "porch cannot tell which of them plain words are meant for",
        fix=f"answer as YAML, for example: {_show_example(given, gate, text)}\n"
        "or fill in the feedback file",
        code="bad-form",
    )


def _show_example(given: Mapping[str, Any], gate: str, text: str) -> str:
    """The same words in the place where they most likely belong; JSON is YAML, and is one line."""
    words = " ".join(text.split()) or "..."
    match gate:
        case "testing":
            example: dict[str, Any] = {"test_passed": False, "user_required_changes": words}
        case "plan":
            example = {"user_required_plan_changes": words}
        case "variants":
            letters = list(given["variants"])
            chosen = {
                each: {"decision": "discard" if number else "main"}
                for number, each in enumerate(letters)
            }
            example = {"variants": chosen, "thoughts": words}
        case "unfinished":
            example = {"decision": "alone", "thoughts": words}
        case _:
            asked = [{**each, "answer": "..."} for each in given.get("questions", ())]
            example = {"questions": asked, "thoughts": words}
    return json.dumps(example, ensure_ascii=False)
