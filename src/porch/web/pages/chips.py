"""What is known of the evidence behind a decision, as a few words each; nothing is made up."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.run.decisions.decision_facts import WorkMeasure
from porch.show.cost import describe_turns
from porch.show.evidence_notes import TITLE
from porch.web.pages.page_words import count_of

Chip = dict[str, str]


def list_chips(decision: Mapping[str, Any], work: WorkMeasure | None = None) -> Iterator[Chip]:
    """Each with a look: good, bad, a warning or plain; the word says it too.

    Without a measurement nothing is said of lines, and nothing of the files that checks ran on.
    """
    if decision.get("needs_override"):
        yield _chip("bad", "a check or review failed")
    if decision.get("problems"):
        yield _chip("bad", "your answer cannot be used yet")
    yield from _list_good_chips(decision.get("evidence") or (), work)
    yield from _list_check_chips(str(decision.get("reason") or ""))
    yield from _list_review_chips(decision)
    reports = decision.get("reports") or {}
    if TITLE in reports:
        yield _chip("warn", TITLE, str(reports[TITLE]))
    if decision.get("stale"):
        yield _chip("warn", "waits too long")
    if work:
        yield _chip("plain", describe_lines(work), f"in {count_of(work.files, 'file')}")


def describe_lines(work: WorkMeasure) -> str:
    """How much a run has changed: `+120 -4 lines`."""
    if not work.files:
        return "no file changed"
    return f"+{work.added:,} -{work.removed:,} lines"


def describe_cost(cost: Any) -> str:
    """What was paid so far; an agent that tells no price is not called free."""
    turns = describe_turns(cost)
    usd = float(cost.get("usd") or 0)
    return f"{usd:.2f} USD, {turns}" if usd else f"{turns}, no price reported"


def _list_good_chips(evidence: Sequence[str], work: WorkMeasure | None) -> Iterator[Chip]:
    for line in evidence:
        word, _, told = str(line).partition(": ")
        if word != "passed":
            yield _chip("good", told)
        elif work is None:
            yield _chip("good", f"{count_of(told.count(', ') + 1, 'check')} passed", told)
        else:
            yield from _list_measured_chips(work)


def _list_measured_chips(work: WorkMeasure) -> Iterator[Chip]:
    """Checks that passed on other files prove nothing about these; they run again first."""
    if work.fresh:
        names = ", ".join(work.fresh)
        yield _chip("good", f"{count_of(len(work.fresh), 'check')} passed on these files", names)
    if work.stale:
        names = ", ".join(work.stale)
        told = f"{count_of(len(work.stale), 'check')} out of date"
        yield _chip("warn", told, f"files changed after: {names}")


def _list_check_chips(reason: str) -> Iterator[Chip]:
    for line in reason.split("\n"):
        word, _, names = line.partition(": ")
        if word in ("skipped", "flaky", "unmeasured"):
            yield _chip("warn", f"{word}: {names.partition(' (')[0]}", line)


def _list_review_chips(decision: Mapping[str, Any]) -> Iterator[Chip]:
    findings = decision.get("findings") or ()
    if findings:
        yield _chip("warn", count_of(len(findings), "finding"))
    for missing in decision.get("reviews") or ():
        yield _chip("warn", "reviews incomplete", str(missing))


def _chip(look: str, text: str, more: str = "") -> Chip:
    return {"look": look, "text": text, "more": more}
