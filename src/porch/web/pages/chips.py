"""What is known of the evidence behind a decision, as a few words each; nothing is made up."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.show.evidence_notes import TITLE
from porch.web.pages.wording import count_of

Chip = dict[str, str]


def list_chips(decision: Mapping[str, Any]) -> Iterator[Chip]:
    """Each with a look: good, bad, or a warning; the word says it too."""
    if decision.get("needs_override"):
        yield _chip("bad", "a check or review failed")
    if decision.get("problems"):
        yield _chip("bad", "your answer cannot be used yet")
    yield from _list_good_chips(decision.get("evidence") or ())
    yield from _list_check_chips(str(decision.get("reason") or ""))
    yield from _list_review_chips(decision)
    reports = decision.get("reports") or {}
    if TITLE in reports:
        yield _chip("warn", TITLE, str(reports[TITLE]))
    if decision.get("stale"):
        yield _chip("warn", "waits too long")


def _list_good_chips(evidence: Sequence[str]) -> Iterator[Chip]:
    for line in evidence:
        word, _, told = str(line).partition(": ")
        if word == "passed":
            yield _chip("good", f"{count_of(told.count(', ') + 1, 'check')} passed", told)
        else:
            yield _chip("good", told)


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
