"""What is known of the evidence behind a decision, as a few words each; nothing is made up."""

from collections.abc import Iterator, Mapping
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
    measured = decision.get("measured") or {}
    yield from _list_good_chips(measured, work)
    yield from _list_check_chips(measured)
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


def _list_good_chips(measured: Mapping[str, Any], work: WorkMeasure | None) -> Iterator[Chip]:
    passed = measured.get("passed") or ()
    if passed and work:
        yield from _list_measured_chips(work)
    elif passed:
        yield _chip("good", f"{count_of(len(passed), 'check')} passed", ", ".join(passed))
    for told in measured.get("reviews") or ():
        yield _chip("good", str(told))


def _list_measured_chips(work: WorkMeasure) -> Iterator[Chip]:
    """Checks that passed on other files prove nothing about these; they run again first."""
    if work.fresh:
        names = ", ".join(work.fresh)
        yield _chip("good", f"{count_of(len(work.fresh), 'check')} passed on these files", names)
    if work.stale:
        names = ", ".join(work.stale)
        told = f"{count_of(len(work.stale), 'check')} out of date"
        yield _chip("warn", told, f"files changed after: {names}")


def _list_check_chips(measured: Mapping[str, Any]) -> Iterator[Chip]:
    for word in ("skipped", "flaky", "unmeasured"):
        if names := measured.get(word):
            yield _chip("warn", f"{word}: {', '.join(names)}")


def _list_review_chips(decision: Mapping[str, Any]) -> Iterator[Chip]:
    findings = decision.get("findings") or ()
    if findings:
        yield _chip("warn", count_of(len(findings), "finding"))
    asked = decision.get("asked_changes") or ()
    for told in decision.get("reviews") or ():
        text = "changes were asked for" if told in asked else "reviews incomplete"
        yield _chip("bad" if told in asked else "warn", text, str(told))


def _chip(look: str, text: str, more: str = "") -> Chip:
    return {"look": look, "text": text, "more": more}
