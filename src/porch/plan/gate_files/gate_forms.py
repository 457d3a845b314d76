"""What each gate asks in its file, from what the plan holds now, and which files those are."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.machine.plan import prompt_lifecycle as life
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompts
from porch.plan.files import prompt_files
from porch.plan.files.plan_location import Plan
from porch.plan.findings import findings_files
from porch.plan.findings.approaches import Approach, Findings, approach_key
from porch.plan.forms import (
    ChoiceKind,
    FlagKind,
    FormField,
    FormPart,
    FormParts,
    FormQuestion,
    GateForm,
    QuestionList,
    TextKind,
)
from porch.plan.gate_files.form_paths import WITH_LOGS, form_file, form_files, logs_file

__all__ = ["SOLUTIONS", "WAYS", "WITH_LOGS", "build_form", "form_file", "form_files", "logs_file"]

# What people typed before, and what it means now.
SOLUTIONS: Mapping[str, str] = {
    "main": "main",
    "alternative": "alternative",
    "accepted": "alternative",
    "discard": "discard",
    "rejected": "discard",
}
# What to do if nobody works on a variant any more.
WAYS = ("alone", "wait", "discard")
_CHANGES = "user_required_changes"


def build_form(
    plan: Plan, prompts: Prompts, gate: str, item: str, posed: Mapping[str, Any]
) -> GateForm:
    match gate:
        case "findings":
            return GateForm(_findings_fields(findings_files.read_all_findings(plan)))
        case "plan":
            return GateForm(tuple(_plan_fields(plan, prompts)))
        case "testing":
            return GateForm(_TESTING)
        case "variants":
            return GateForm((_variants_field(plan, prompts, int(item)),))
        case "unfinished":
            return GateForm((_UNFINISHED,))
        case "clarifying":
            return GateForm(_clarifying_fields(posed.get("questions", ())))
        case _:
            return GateForm()


_TESTING = (
    # Nothing stands there before a person writes it: a default would consent.
    FormField("test_passed", FlagKind(required=True), "does it work? nothing is decided for you"),
    FormField(_CHANGES, TextKind(), "what is wrong, if the test did not pass"),
)

_UNFINISHED = FormField(
    "decision",
    ChoiceKind({way: way for way in WAYS}, optional=True),
    "alone: go on without it and keep its branch; wait: until somebody works on it again; "
    "discard: go on without it and put its branch away",
)


def _findings_fields(known: Sequence[Findings]) -> tuple[FormField, ...]:
    parts = [
        _approach_part(each.specialist, approach) for each in known for approach in each.approaches
    ]
    return (FormField("approach_feedback", FormParts(tuple(parts)), "one entry for each approach"),)


def _approach_part(specialist: str, approach: Approach) -> FormPart:
    fields = [FormField(_CHANGES, TextKind(), "what must change; empty if nothing")]
    if approach.variant:
        fields.append(FormField("rejected", FlagKind(), "true to reject this variant"))
    asked = tuple(FormQuestion(each.question) for each in approach.questions if not each.answer)
    if asked:
        fields.append(FormField("question_answers", QuestionList(asked), "questions to you"))
    return FormPart(approach_key(specialist, approach.id), tuple(fields), approach.description)


def _plan_fields(plan: Plan, prompts: Prompts) -> Iterator[FormField]:
    yield FormField("user_required_plan_changes", TextKind(), "what must change in the plan")
    parts = [
        FormPart(str(id_), (FormField(_CHANGES, TextKind()),), _read_description(plan, id_))
        for id_ in prompts
    ]
    yield FormField("prompt_feedback", FormParts(tuple(parts)), "what must change in one prompt")


def _read_description(plan: Plan, id_: PromptId) -> str:
    return str(prompt_files.read_prompt_file(plan, id_).page.fields.get("description", ""))


def _variants_field(plan: Plan, prompts: Prompts, number: int) -> FormField:
    choice = ChoiceKind(SOLUTIONS, optional=True)
    parts = [
        FormPart(
            id_.variant,
            (
                FormField("decision", choice, "main, alternative or discard"),
                FormField("reason", TextKind(), "why"),
            ),
            _read_description(plan, id_),
        )
        for id_ in life.compared_variants(prompts, number)
    ]
    return FormField("variants", FormParts(tuple(parts)), "exactly one must be main; it is merged")


def _clarifying_fields(questions: Sequence[str]) -> tuple[FormField, ...]:
    asked = tuple(FormQuestion(str(each)) for each in questions)
    return (
        FormField("questions", QuestionList(asked), "what the reviewer needs to know"),
        FormField(
            "suggested_changes", TextKind(), "what should be changed, if you know it already"
        ),
    )
