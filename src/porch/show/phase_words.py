"""What became of a phase in a few words, the same in lists, on pages and in pull requests."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from porch.account.gaps import Gap
from porch.account.outcomes import GAPS
from porch.account.phases import Decided, PhaseAccount, ReviewAccount
from porch.text.printable import make_printable

# How a phase looks: the classes of the pages, and the signs of lists.
LOOKS: Mapping[str, str] = {
    "passed": "done",
    "working": "now",
    "waiting": "asked",
    "not run": "later",
    "stale": "later",
    "nothing to run": "later",
    "skipped": "skipped",
    "waived": "skipped",
    "failed": "failed",
    "could not measure": "failed",
    "stopped": "failed",
}


def name_outcome(outcome: str) -> str:
    """As people say it."""
    return "must be done again" if outcome == "stale" else outcome


def describe_outcome(phase: PhaseAccount) -> list[str]:
    """Why a phase is not simply done, ahead of it or being worked on; empty if it is."""
    if phase.outcome not in GAPS:
        return []
    if phase.outcome == "stale":
        return [name_outcome(phase.outcome)]
    words = [name_outcome(phase.outcome), *_list_causes(phase)]
    if phase.decided:
        words.append(describe_answer(phase.decided))
    return words


def _list_causes(phase: PhaseAccount) -> Iterator[str]:
    """Checks that were not good, with the plan phases they belong to; then open reviews."""
    for part in (phase, *phase.parts):
        where = f" ({part.item})" if part.item and part is not phase else ""
        for gap in part.gaps if part is not phase or not phase.parts else ():
            times = f" {gap.runs} times" if gap.runs > 1 else ""
            yield f"{gap.name} {gap.outcome}{times}{where}"
        yield from (describe_review(each) for each in part.reviews if each.is_open)


def describe_answer(decided: Decided) -> str:
    """Who decided, and the reason that was given."""
    verb = {"skip": "skipped", "stopped": "stopped"}.get(decided.exit, decided.exit)
    # On one line: a reason must not look like a line of its own in a list or a pull request.
    reason = f": {' '.join(make_printable(decided.text).split())}" if decided.text else ""
    return f"{verb} by {decided.by or 'somebody unknown'}{reason}"


def describe_review(review: ReviewAccount) -> str:
    """`round 3 of 3: claude asks for changes; no rounds are left`."""
    number = f"round {review.round}" + (f" of {review.limit}" if review.limit else "")
    asking = list_asking(review)
    verb = "asks" if len(asking) == 1 else "ask"
    none = "too few verdicts" if review.result == "undecided" else f"result: {review.result}"
    what = f"{', '.join(asking)} {verb} for changes" if asking else none
    return f"{number}: {what}{'; no rounds are left' if review.is_used_up else ''}"


def list_asking(review: ReviewAccount) -> list[str]:
    """The reviewers who asked for changes; a review can be open without any."""
    return [name for name, verdict in review.verdicts.items() if verdict == "REQUEST_CHANGES"]


def describe_gap(gap: Gap) -> str:
    """`defend (phase_1): tests failed 3 times, skipped by ann: later`."""
    answer = describe_answer(gap.decided) if gap.decided else ""
    times = f" {gap.runs} times" if gap.runs > 1 else ""
    match gap.kind:
        case "check":
            words = [f"{gap.name} {gap.outcome}{times}", answer]
        case "review":
            words = [describe_review(gap.review) if gap.review else gap.name, answer]
        case "gate":
            words = [f"{gap.name} {answer}" if answer else f"{gap.name} {gap.outcome}"]
        case "phase":
            words = [answer or name_outcome(gap.outcome)]
        case "child" | "run":
            return make_printable(f"{gap.name}: {gap.outcome}")
        case _:
            assert_never(gap.kind)
    item = f" ({gap.item})" if gap.item else ""
    place = " ".join(filter(None, (gap.instance, gap.phase)))
    return make_printable(f"{place}{item}: {', '.join(filter(None, words))}")
