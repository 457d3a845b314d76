"""What the findings gate makes of findings: the rejected go, changes and answers are stored."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import DefinitionError, Finding
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.findings.approaches import (
    Approach,
    ApproachKey,
    Findings,
    SpecialistQuestion,
    parse_key,
    sort_approaches,
)


class Opinion(Struct, frozen=True):
    """What a person said to one approach."""

    changes: str = ""
    rejected: bool = False
    answers: tuple[SpecialistQuestion, ...] = ()

    @property
    def wants_work(self) -> bool:
        return bool(self.changes or self.answers)


class AnsweredFindings(Struct, frozen=True):
    """The findings afterwards; `affected` by the ids that they have now."""

    findings: tuple[Findings, ...]
    affected: tuple[ApproachKey, ...]
    rejected: tuple[ApproachKey, ...]


Feedback = Mapping[str, Mapping[str, Any]]


def list_feedback_problems(known: Sequence[Findings], feedback: Feedback) -> tuple[Finding, ...]:
    """Why the feedback of the findings gate cannot be taken as it is."""
    keys = [ApproachKey(each.specialist, a.id) for each in known for a in each.approaches]
    names = set(map(str, keys))
    strange = [
        Finding(
            "unknown-approach",
            f"there is no approach '{name}'",
            fix=f"approaches: {', '.join(map(str, keys)) or 'none'}",
        )
        for name in feedback
        if name not in names
    ]
    rejected = {name for name, said in feedback.items() if _read_opinion(said).rejected}
    left = {(key.specialist, key.approach.number) for key in keys if str(key) not in rejected}
    numbers = dict.fromkeys((key.specialist, key.approach.number) for key in keys)
    empty = [
        Finding(
            "all-variants-rejected",
            f"nothing is left of approach {number} of {specialist}: all of it is rejected",
            fix="keep one, and write in user_required_changes what must change",
        )
        for specialist, number in numbers
        if (specialist, number) not in left
    ]
    return (*strange, *empty, *_list_contradictions(feedback))


def _list_contradictions(feedback: Feedback) -> Iterator[Finding]:
    """What is said to an approach that goes would go with it, and reach nobody."""
    for name, said in feedback.items():
        opinion = _read_opinion(said)
        if opinion.rejected and opinion.wants_work:
            yield Finding(
                "contradicting-answer",
                f"approach '{name}' is rejected, but there is also something to change or answer",
                fix="reject it without more words, or keep it; other remarks go into thoughts",
            )


def apply_feedback(
    known: Sequence[Findings], feedback: Feedback, *, again: bool = False
) -> AnsweredFindings:
    """The rejected are gone, a variant left alone has no letter, changes and answers are stored.

    `again` repeats what a crash may have cut short: the same feedback gives the same result over
    findings of which some, or all, have it already.
    """
    problems = () if again else list_feedback_problems(known, feedback)
    if problems:
        raise DefinitionError(problems)
    said = _read_opinions(feedback)
    found: list[Findings] = []
    affected: list[ApproachKey] = []
    for each in known:
        mine = {key.approach: it for key, it in said.items() if key.specialist == each.specialist}
        new, ids = _apply_opinions(each, mine)
        found.append(new)
        affected.extend(ApproachKey(each.specialist, id_) for id_ in ids)
    rejected = tuple(sorted(key for key, opinion in said.items() if opinion.rejected))
    return AnsweredFindings(tuple(found), tuple(affected), rejected)


def split_feedback_keys(feedback: Feedback) -> tuple[list[ApproachKey], list[ApproachKey]]:
    """What is affected and what is rejected, out of feedback that names every approach.

    An answer is told for as long as it is asked for, when the findings may have moved on.
    """
    said = _read_opinions(feedback)
    rejected = sorted(key for key, opinion in said.items() if opinion.rejected)
    thinned = {(key.specialist, key.approach.number) for key in rejected}
    left = [key for key in said if key not in rejected]
    numbers = [(key.specialist, key.approach.number) for key in left]
    affected = []
    for key, number in zip(left, numbers, strict=True):
        is_alone = number in thinned and numbers.count(number) == 1
        if said[key].wants_work:
            affected.append(ApproachKey(key.specialist, PromptId(number[1])) if is_alone else key)
    return affected, rejected


def _read_opinions(feedback: Feedback) -> dict[ApproachKey, Opinion]:
    return {
        key: _read_opinion(value) for name, value in feedback.items() if (key := parse_key(name))
    }


def _read_opinion(said: Mapping[str, Any]) -> Opinion:
    pairs = [
        SpecialistQuestion(str(each.get("question") or ""), str(each.get("answer") or "").strip())
        for each in said.get("question_answers") or ()
    ]
    changes = str(said.get("user_required_changes") or "").strip()
    return Opinion(changes, said.get("rejected") is True, tuple(p for p in pairs if p.answer))


def _apply_opinions(
    findings: Findings, said: Mapping[PromptId, Opinion]
) -> tuple[Findings, list[PromptId]]:
    kept = [a for a in findings.approaches if not said.get(a.id, _NOTHING).rejected]
    thinned = {id_.number for id_, opinion in said.items() if opinion.rejected}
    numbers = [approach.number for approach in kept]
    affected: list[PromptId] = []
    result: list[Approach] = []
    for approach in kept:
        is_alone = approach.number in thinned and numbers.count(approach.number) == 1
        named = replace(approach, variant="") if is_alone else approach
        opinion = _find_opinion(approach, said)
        result.append(_with_opinion(named, opinion))
        if opinion.wants_work:
            affected.append(named.id)
    return replace(findings, approaches=sort_approaches(result)), affected


_NOTHING = Opinion()


def _find_opinion(approach: Approach, said: Mapping[PromptId, Opinion]) -> Opinion:
    """What was said to it, also under the letter that it has lost."""
    if approach.variant or approach.id in said:
        return said.get(approach.id, _NOTHING)
    same = [it for id_, it in said.items() if id_.number == approach.number]
    return next((it for it in same if not it.rejected), _NOTHING)


def _with_opinion(approach: Approach, opinion: Opinion) -> Approach:
    new = {each.question: each for each in opinion.answers}
    known = {each.question: each for each in approach.answers}
    return replace(
        approach,
        user_requested_changes=opinion.changes or approach.user_requested_changes,
        questions=tuple(new.get(each.question, each) for each in approach.questions),
        answers=tuple({**known, **new}.values()),
    )
