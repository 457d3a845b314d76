"""Rounds without a verdict: they charge nothing, and after a few in a row a person is asked.

Rounds are for verdicts. A round in which a reviewer crashed, took too long, had no login or gave an
answer that cannot be read says nothing about the work, so it is not one of them. A caller could go
on like that for ever, so these rounds are counted on their own: since the last verdict, and since a
person was asked.
"""

from collections.abc import Sequence

from msgspec import Struct

from porch.machine.facts import Payload
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.reviews.reviewer_turns import ReviewerResult

MOST_MISSED = 3
# In the record of a review: why it gave no verdict.
MISSED = "missed"


class MissedRounds(Struct, frozen=True):
    """How many rounds in a row gave no verdict, and why the last one did not."""

    count: int = 0
    why: str = ""


def describe_absence(results: Sequence[ReviewerResult]) -> str:
    """Who could not answer and why; nothing if all gave a verdict."""
    absent = [each for each in results if each.is_absent]
    told = "; ".join(f"{each.name}: {each.answer.why}" for each in absent)
    return f"{len(absent)} of {len(results)} reviewers could not answer: {told}" if absent else ""


def count_missed_rounds(held: LockedPlan, item: str) -> MissedRounds:
    missed = MissedRounds()
    for fact in (raw["fact"] for raw in held.found.records_after(0)):
        if _is_question(fact, item):
            missed = MissedRounds()
        elif _is_review(fact, item):
            why = fact.get("payload", {}).get(MISSED, "")
            missed = MissedRounds(missed.count + 1, str(why)) if why else MissedRounds()
    return missed


def _is_question(fact: Payload, item: str) -> bool:
    is_posed = fact["is"] == "QuestionPosed" and fact.get("state") == "rounds"
    return is_posed and fact.get("item", "") == item


def _is_review(fact: Payload, item: str) -> bool:
    prompts = fact.get("prompts", {})
    return fact.get("action") == "review" and (item in prompts or not (item or prompts))
