"""What each gate asks in its file, from what the plan holds now, and which files those are."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.dialects.feedback import (
    Choice,
    Field,
    Flag,
    Form,
    Part,
    Parts,
    Question,
    Questions,
    Text,
)
from porch.machine import prompts as life
from porch.machine.prompts import Prompts
from porch.model.findings import Approach, Findings, key_of
from porch.model.prompt_ids import PromptId
from porch.operations.plans import findings, pages
from porch.operations.plans.place import Plan

# What people typed before, and what it means now.
SOLUTIONS: Mapping[str, str] = {
    "main": "main",
    "alternative": "alternative",
    "accepted": "alternative",
    "discard": "discard",
    "rejected": "discard",
}
_CHANGES = "user_required_changes"
_FILES: Mapping[str, str] = {
    "findings": "findings_gate",
    "plan": "plan_gate",
    "testing": "{item}_testing",
    "logging": "{item}_logging",
    "variants": "{item}_variants",
}
WITH_LOGS = ("testing", "logging")


def file_of(plan: Plan, gate: str, item: str) -> str:
    """The file in which a person answers this gate."""
    if gate == "clarifying":
        stem = f"{item}_review_questions" if item else "full_review_questions"
    else:
        stem = _FILES[gate].format(item=item)
    return os.path.join(plan.feedback_dir, f"{stem}.yaml")


def logs_file_of(plan: Plan, gate: str, item: str) -> str:
    return os.path.join(plan.feedback_dir, f"{_FILES[gate].format(item=item)}_logs.md")


def files_of(plan: Plan, gate: str, item: str) -> list[str]:
    if gate not in (*_FILES, "clarifying"):
        return []
    logs = [logs_file_of(plan, gate, item)] if gate in WITH_LOGS else []
    return [file_of(plan, gate, item), *logs]


def form_of(plan: Plan, prompts: Prompts, gate: str, item: str, posed: Mapping[str, Any]) -> Form:
    match gate:
        case "findings":
            return Form(_findings_fields(findings.read_all(plan)))
        case "plan":
            return Form(tuple(_plan_fields(plan, prompts)))
        case "testing":
            return Form(_TESTING)
        case "variants":
            return Form((_variants(plan, prompts, int(item)),))
        case "clarifying":
            return Form(_clarifying(posed.get("questions", ())))
        case _:
            return Form()


_TESTING = (
    Field("test_passed", Flag(), "false if something is wrong", value=True),
    Field(_CHANGES, Text(), "what is wrong, if the test did not pass"),
)


def _findings_fields(known: Sequence[Findings]) -> tuple[Field, ...]:
    parts = [_approach(each.specialist, approach) for each in known for approach in each.approaches]
    return (Field("approach_feedback", Parts(tuple(parts)), "one entry for each approach"),)


def _approach(specialist: str, approach: Approach) -> Part:
    fields = [Field(_CHANGES, Text(), "what should be different; empty if it is right")]
    if approach.variant:
        fields.append(Field("rejected", Flag(), "true to drop this variant"))
    asked = tuple(Question(each.question) for each in approach.questions if not each.answer)
    if asked:
        fields.append(Field("question_answers", Questions(asked), "questions to you"))
    return Part(key_of(specialist, approach.id), tuple(fields), approach.description)


def _plan_fields(plan: Plan, prompts: Prompts) -> Iterator[Field]:
    yield Field("user_required_plan_changes", Text(), "what should be different in the plan")
    parts = [Part(str(id_), (Field(_CHANGES, Text()),), _about(plan, id_)) for id_ in prompts]
    yield Field("prompt_feedback", Parts(tuple(parts)), "what should be different in one prompt")


def _about(plan: Plan, id_: PromptId) -> str:
    return str(pages.page_of(plan, id_).fields.get("description", ""))


def _variants(plan: Plan, prompts: Prompts, number: int) -> Field:
    choice = Choice(SOLUTIONS, optional=True)
    parts = [
        Part(
            id_.variant,
            (
                Field("decision", choice, "main, alternative or discard"),
                Field("reason", Text(), "why"),
            ),
            _about(plan, id_),
        )
        for id_ in life.variants_of(prompts, number)
    ]
    return Field("variants", Parts(tuple(parts)), "exactly one is main; it is merged")


def _clarifying(questions: Sequence[str]) -> tuple[Field, ...]:
    asked = tuple(Question(str(each)) for each in questions)
    return (
        Field("questions", Questions(asked), "what the reviewer has to know"),
        Field("suggested_changes", Text(), "what should be changed, if you know it already"),
    )
