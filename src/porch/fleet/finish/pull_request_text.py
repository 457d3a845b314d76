"""What a pull request says of a run: what was asked, what was measured, and who decided.

Everything comes from the journal, and what became of its parts from the account. Texts of agents
are quoted and shortened.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.account.phases import CheckAccount, list_phases
from porch.fleet.finish.run_work import RunWork
from porch.machine.state import RunState, effect_parts
from porch.model.protocol import Protocol
from porch.run.engine.fact_redaction import redact_text
from porch.show.evidence_notes import describe_measurement
from porch.show.phase_words import describe_answer
from porch.show.track_notes import list_review_notes
from porch.text.printable import make_printable

Raw = Mapping[str, Any]
LONGEST_REQUEST = 4000
LONGEST_TEXT = 300


def write_pull_request_text(
    protocol: Protocol,
    state: RunState,
    request: str,
    records: Sequence[Raw],
    work: RunWork,
) -> str:
    """The body in Markdown, without secrets."""
    facts = [record["fact"] for record in records]
    parts = [
        (
            "What was asked",
            _quote(request, LONGEST_REQUEST) or [state.run.heading or state.run.title],
        ),
        ("Not passed", list(_list_not_passed(work))),
        ("Noted by reviewers", list(_list_noted(protocol, state))),
        ("Checks", list(_list_checks(protocol, state))),
        ("Reviews", list(_list_reviews(facts))),
        ("Decisions", list(_list_decisions(facts))),
        ("Changed afterwards", [f"- {each}" for each in work.accepted]),
        ("What measured the work", list(_list_measured_by(protocol, state))),
    ]
    run = state.run
    begin = f"Run `{run.name}` of protocol `{run.protocol}`, {state.turns} agent turns."
    text = [begin, *(line for part in parts if part[1] for line in _render_part(*part))]
    return redact_text(make_printable("\n".join(text))) + "\n"


def _render_part(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines]


def _quote(text: str, limit: int) -> list[str]:
    cut = text.strip()
    cut = cut if len(cut) <= limit else f"{cut[:limit]} ..."
    return [f"> {line}".rstrip() for line in cut.splitlines()]


def _list_not_passed(work: RunWork) -> Iterator[str]:
    yield from (f"- {each}" for each in work.not_passed)
    if work.not_passed:
        yield from ("", f"Delivered all the same, with this reason: {_first_words(work.reason)}")


def _list_noted(protocol: Protocol, state: RunState) -> Iterator[str]:
    """Of a track: what reviewers noted without stopping it."""
    for note in list_review_notes(protocol, state):
        yield f"- {note.gate}, {note.by}: {_first_words(note.text)}"


def _list_checks(protocol: Protocol, state: RunState) -> Iterator[str]:
    """Each check of each phase and plan phase: two of one name are two."""
    for instance in state.instances or ("",):
        for phase in list_phases(protocol, state, instance):
            for part in phase.parts or (phase,):
                place = " ".join(filter(None, (instance, part.name)))
                item = f" ({part.item})" if part.item else ""
                for check in part.checks if part.outcome != "not run" else ():
                    yield f"- {place}{item}, {check.name}: {_describe_check(check)}"


def _describe_check(check: CheckAccount) -> str:
    flaky = " (flaky: it failed first)" if check.is_flaky else ""
    times = f" {check.runs} times" if check.runs > 1 and check.outcome == "failed" else ""
    answer = f", {describe_answer(check.let_pass)}" if check.let_pass else ""
    return f"{check.outcome}{times}{flaky}{answer}"


def _list_reviews(facts: Sequence[Raw]) -> Iterator[str]:
    last = {}
    for fact in facts:
        if fact["is"] == "ReviewEnded":
            position, _, name = effect_parts(fact["effect"])
            last[(position.rpartition("#")[0], name)] = fact
    for (place, name), fact in last.items():
        summary = _first_words(fact.get("summary") or fact.get("why") or "")
        yield f"- {place}, {name}: {fact['verdict']}{': ' + summary if summary else ''}"


def _list_decisions(facts: Sequence[Raw]) -> Iterator[str]:
    """Approvals, and what was let pass in spite of a failure, with the reason."""
    for fact in facts:
        wish = fact.get("wish") or {}
        if fact["is"] == "WishTaken" and wish.get("kind") == "decide":
            place = str(wish.get("position", "")).rpartition("#")[0]
            said = _first_words(wish.get("text") or "")
            by = wish.get("who") or "unknown"
            yield f"- {place}: {wish.get('exit')} by {by}{': ' + said if said else ''}"


def _list_measured_by(protocol: Protocol, state: RunState) -> Iterator[str]:
    for title, told in describe_measurement(protocol, state).items():
        yield f"- {title}: {told}"


def _first_words(text: Any) -> str:
    told = str(text.get("clip", "")) if isinstance(text, Mapping) else str(text)
    line = " ".join(told.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} ..."
