"""What a gate answers to whoever waited at it: per gate the same keys, whatever came of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from porch.machine.plan import run_rules
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import PLAN_PATH
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.findings import approach_answers, findings_files
from porch.plan.findings.approaches import ApproachKey
from porch.plan.prompts import branch_contents

ResultForm = Mapping[str, Any]


class AnswerSource(Struct, frozen=True, kw_only=True):
    """Whether a person answered, and by which way; nobody did where there was nothing to ask."""

    state: str = "skipped"
    answered_by: str | None = None
    channel: str | None = None


class ApproachRow(Struct, frozen=True, kw_only=True):
    """An approach that a person said something about."""

    specialist_name: str
    approach_id: str


class OpenQuestion(Struct, frozen=True, kw_only=True):
    """A question of a specialist that nobody has answered."""

    specialist_name: str
    approach_id: str
    question: str


class FindingsAnswer(Struct, frozen=True, kw_only=True):
    """What a person wants of the approaches."""

    state: str
    thoughts: str
    affected_approaches: Sequence[ApproachRow]
    rejected_approaches: Sequence[ApproachRow]
    unanswered_questions: Sequence[OpenQuestion]
    skipped: bool
    answered_by: str | None
    channel: str | None
    notes: Sequence[str]
    duration_ms: int = 0


class PromptChange(Struct, frozen=True, kw_only=True):
    """What a person wants changed in one prompt."""

    prompt_id: str
    user_required_changes: str


class PlanAnswer(Struct, frozen=True, kw_only=True):
    """Whether a person accepts the plan."""

    state: str
    thoughts: str
    has_user_required_changes: bool
    user_required_plan_changes: str
    prompt_changes: Sequence[PromptChange]
    archived_findings: Sequence[str]
    answered_by: str | None
    channel: str | None
    notes: Sequence[str]
    duration_ms: int = 0


class TestingAnswer(Struct, frozen=True, kw_only=True):
    """Whether it works, as a person found."""

    state: str
    thoughts: str
    passed: bool
    user_required_changes: str
    logs: str
    answered_by: str | None
    channel: str | None
    notes: Sequence[str]
    duration_ms: int = 0


class VariantAnswer(Struct, frozen=True, kw_only=True):
    """What a person chose this variant to be."""

    state: str
    thoughts: str
    variant_solution: str | None
    reason: str
    unmerged_alternatives: Sequence[str]
    skipped: bool
    answered_by: str | None
    channel: str | None
    notes: Sequence[str]
    duration_ms: int = 0


class LogsAnswer(Struct, frozen=True, kw_only=True):
    """What a program printed while the fault happened."""

    state: str
    thoughts: str
    logs: str
    answered_by: str | None
    channel: str | None
    notes: Sequence[str]
    duration_ms: int = 0


class GatePending(Struct, frozen=True, kw_only=True):
    """Nobody has answered yet."""

    state: str = "pending"
    file: str | None
    decision: str | None
    waiting_on: Sequence[str]
    message: str
    notes: Sequence[str]
    problems: Sequence[str] = ()  # what keeps the file from being an answer
    duration_ms: int = 0


GateAnswer = FindingsAnswer | PlanAnswer | TestingAnswer | VariantAnswer | LogsAnswer


def answered_result(
    held: LockedPlan, gate: str, id_: PromptId | None, answer: Mapping[str, Any]
) -> GateAnswer:
    """The words of a person, and who said them by which way."""
    source = AnswerSource(
        state="answered",
        answered_by=answer.get("by") or "unknown",
        channel=answer.get("channel", ""),
    )
    return _make_result(held, gate, id_, answer["form"], source)


def skipped_result(held: LockedPlan, gate: str, id_: PromptId | None) -> GateAnswer:
    """Where there was nothing to ask."""
    return _make_result(held, gate, id_, {}, AnswerSource())


def _make_result(
    held: LockedPlan, gate: str, id_: PromptId | None, form: ResultForm, source: AnswerSource
) -> GateAnswer:
    match gate:
        case "findings":
            return _findings_answer(held, form, source)
        case "plan":
            return _plan_answer(held, form, source)
        case "testing":
            return _testing_answer(held, form, source)
        case "variants" if id_ is not None:
            return _variant_answer(held, id_, form, source)
        case _:
            return LogsAnswer(
                state=source.state,
                thoughts=_form_thoughts(form),
                logs=str(form.get("logs", "")),
                answered_by=source.answered_by,
                channel=source.channel,
                notes=held.notes,
            )


def _form_thoughts(form: ResultForm) -> str:
    return str(form.get("thoughts", ""))


def _findings_answer(held: LockedPlan, form: ResultForm, source: AnswerSource) -> FindingsAnswer:
    affected, rejected = approach_answers.split_feedback_keys(form.get("approach_feedback", {}))
    return FindingsAnswer(
        state=source.state,
        thoughts=_form_thoughts(form),
        affected_approaches=[_approach_row(key) for key in affected],
        rejected_approaches=[_approach_row(key) for key in rejected],
        unanswered_questions=list(_list_open_questions(held)),
        skipped=source.state == "skipped",
        answered_by=source.answered_by,
        channel=source.channel,
        notes=held.notes,
    )


def _list_open_questions(held: LockedPlan) -> Iterator[OpenQuestion]:
    """What a person was asked and went past, so that nobody takes silence for an answer."""
    for known in findings_files.read_all_findings(held.plan):
        for approach in known.approaches:
            for each in approach.questions:
                if not each.answer:
                    yield OpenQuestion(
                        specialist_name=known.specialist,
                        approach_id=str(approach.id),
                        question=each.question,
                    )


def _approach_row(key: ApproachKey) -> ApproachRow:
    return ApproachRow(specialist_name=key.specialist, approach_id=str(key.approach))


def _plan_answer(held: LockedPlan, form: ResultForm, source: AnswerSource) -> PlanAnswer:
    has_changes = run_rules.has_changes(form)
    archived = held.recalled(PLAN_PATH).get("archived_findings", [])
    changes = [
        PromptChange(prompt_id=id_, user_required_changes=given["user_required_changes"])
        for id_, given in form.get("prompt_feedback", {}).items()
        if str(given.get("user_required_changes", "")).strip()
    ]
    return PlanAnswer(
        state=source.state,
        thoughts=_form_thoughts(form),
        has_user_required_changes=has_changes,
        user_required_plan_changes=str(form.get("user_required_plan_changes", "")),
        prompt_changes=changes,
        archived_findings=[] if has_changes else list(archived),
        answered_by=source.answered_by,
        channel=source.channel,
        notes=held.notes,
    )


def _testing_answer(held: LockedPlan, form: ResultForm, source: AnswerSource) -> TestingAnswer:
    return TestingAnswer(
        state=source.state,
        thoughts=_form_thoughts(form),
        passed=form.get("test_passed") is True,
        user_required_changes=str(form.get("user_required_changes", "")),
        logs=str(form.get("logs", "")),
        answered_by=source.answered_by,
        channel=source.channel,
        notes=held.notes,
    )


def _variant_answer(
    held: LockedPlan, id_: PromptId, form: ResultForm, source: AnswerSource
) -> VariantAnswer:
    prompt = held.prompts[id_]
    # Where nobody was asked, nobody competes with it.
    alone = "main" if source.state == "skipped" else None
    return VariantAnswer(
        state=source.state,
        thoughts=_form_thoughts(form),
        variant_solution=prompt.variant_solution or alone,
        reason=prompt.variant_reason or "",
        unmerged_alternatives=branch_contents.list_unmerged_alternatives(
            held.plan, held.prompts, id_.number
        ),
        skipped=source.state == "skipped",
        answered_by=source.answered_by,
        channel=source.channel,
        notes=held.notes,
    )
