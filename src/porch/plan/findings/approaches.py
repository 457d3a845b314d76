"""What specialists propose: approaches by number and letter, and what people said to them.

It lies in the model because a gate decides with it and a dialect writes it down, and those two do
not know each other.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from porch.errors import FailedError, Finding
from porch.machine.plan.prompt_ids import PromptId
from porch.text.late_pattern import late_pattern

# Greedy from the left, so that numbers in the name of a specialist stay in the name.
_KEY = late_pattern(r"([A-Za-z0-9][A-Za-z0-9_-]{0,63})_([1-9][0-9]{0,5})(?:_([A-Z]))?")


class SpecialistQuestion(Struct, frozen=True):
    """A question to the user; the empty text is no answer."""

    question: str
    answer: str = ""


class Approach(Struct, frozen=True):
    """One way to do it; `extra` is what the file says beside, and is kept.

    `questions` are what the specialist asks, `answers` what the user has said to them.
    """

    number: int
    variant: str = ""
    description: str = ""
    relevant_files: tuple[str, ...] = ()
    questions: tuple[SpecialistQuestion, ...] = ()
    answers: tuple[SpecialistQuestion, ...] = ()
    user_requested_changes: str = ""
    detail: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> PromptId:
        return PromptId(self.number, self.variant)


class Findings(Struct, frozen=True):
    """All that one specialist found; its approaches are sorted by number and letter."""

    specialist: str
    notes: str = ""
    approaches: tuple[Approach, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


class ApproachKey(NamedTuple):
    """An approach among those of all specialists."""

    specialist: str
    approach: PromptId

    def __str__(self) -> str:
        return f"{self.specialist}_{self.approach}"


def approach_key(specialist: str, approach: PromptId) -> str:
    return str(ApproachKey(specialist, approach))


def parse_key(text: str) -> ApproachKey | None:
    """`backend_1_2_A` is variant A of approach 2 of backend_1."""
    found = _KEY.fullmatch(text)
    return ApproachKey(found[1], PromptId(int(found[2]), found[3] or "")) if found else None


def sort_approaches(approaches: Iterable[Approach]) -> tuple[Approach, ...]:
    return tuple(sorted(approaches, key=lambda approach: approach.id))


def find_number_clash(known: Iterable[PromptId], new: PromptId) -> Finding | None:
    """A number belongs to one approach without a letter or to variants, never to both."""
    same = [each for each in known if each.number == new.number and each != new]
    if new.variant and any(not each.variant for each in same):
        return Finding(
            "standalone-exists",
            f"approach {new.number} has no variants, so it cannot have the variant {new}",
            fix=f"`envoy plan clear-approach SPECIALIST {new.number}` first, or take a new number",
        )
    if not new.variant and same:
        letters = ", ".join(map(str, same))
        return Finding(
            "variants-exist",
            f"approach {new.number} has variants ({letters}), so it needs a letter",
            fix=f"`envoy plan clear-approach SPECIALIST {new.number}` first, or give it a letter",
        )
    return None


def with_approach(findings: Findings, approach: Approach) -> Findings:
    """With this approach, in place of the one with its id; what the user said to that is over."""
    problem = find_number_clash([each.id for each in findings.approaches], approach.id)
    if problem is not None:
        fix = problem.fix.replace("SPECIALIST", findings.specialist)
        raise FailedError(problem.message, fix, problem.code)
    old = next((each for each in findings.approaches if each.id == approach.id), None)
    new = replace(approach, extra={**(old.extra if old else {}), **approach.extra})
    others = [each for each in findings.approaches if each is not old]
    return replace(findings, approaches=sort_approaches([*others, new]))


def find_matching_approaches(findings: Findings, wanted: PromptId) -> tuple[Approach, ...]:
    """The variant, or all that has this number; raises if there is none."""
    found = tuple(
        each
        for each in findings.approaches
        if each.id == wanted or (not wanted.variant and each.number == wanted.number)
    )
    if not found:
        there = ", ".join(str(each.id) for each in findings.approaches)
        fix = f"approaches: {there}" if there else "there are none yet; write one first"
        message = f"{findings.specialist} has no approach {wanted}"
        raise FailedError(message, fix, code="not-found")
    return found


def without_approach(findings: Findings, wanted: PromptId) -> Findings:
    gone = find_matching_approaches(findings, wanted)
    left = tuple(each for each in findings.approaches if each not in gone)
    return replace(findings, approaches=left)


def with_notes(findings: Findings, notes: str) -> Findings:
    return replace(findings, notes=notes)
