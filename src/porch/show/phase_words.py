"""What became of a phase in a few words, the same in lists, on pages and in pull requests."""

from collections.abc import Iterator, Mapping

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


def describe_outcome(phase: PhaseAccount) -> list[str]:
    """Why a phase is not simply done, ahead of it or being worked on; empty if it is."""
    if phase.outcome not in GAPS:
        return []
    if phase.outcome == "stale":
        return ["must be done again"]
    words = [str(phase.outcome), *_list_causes(phase)]
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
    reason = f": {make_printable(decided.text)}" if decided.text else ""
    return f"{verb} by {decided.by or 'somebody unknown'}{reason}"


def describe_review(review: ReviewAccount) -> str:
    """`round 3 of 3: claude asks for changes; no rounds are left`."""
    number = f"round {review.round}" + (f" of {review.limit}" if review.limit else "")
    asking = [name for name, verdict in review.verdicts.items() if verdict == "REQUEST_CHANGES"]
    verb = "asks" if len(asking) == 1 else "ask"
    what = f"{', '.join(asking)} {verb} for changes" if asking else f"result: {review.result}"
    return f"{number}: {what}{'; no rounds are left' if review.is_used_up else ''}"


def list_gaps(phases: list[PhaseAccount]) -> list[str]:
    """One line for each phase that has not passed although the run is over."""
    return [
        f"{phase.name}: {', '.join(words)}"
        for phase in phases
        if (words := describe_outcome(phase))
    ]
