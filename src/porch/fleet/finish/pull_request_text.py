"""What a pull request says of a run: what was asked, what was measured, and who decided.

Everything comes from the journal. Texts of agents are quoted and shortened.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.machine.state import RunState, effect_parts
from porch.model.protocol import Protocol
from porch.run.engine.fact_redaction import redact_text
from porch.show.evidence_notes import describe_touched_files
from porch.text.printable import make_printable

Raw = Mapping[str, Any]
LONGEST_REQUEST = 4000
LONGEST_TEXT = 300


def write_pull_request_text(
    protocol: Protocol,
    state: RunState,
    request: str,
    records: Sequence[Raw],
    *,
    accepted: Sequence[str] = (),
) -> str:
    """The body in Markdown, without secrets; `accepted` are changes of approved files."""
    facts = [record["fact"] for record in records]
    parts = [
        (
            "What was asked",
            _quote(request, LONGEST_REQUEST) or [state.run.heading or state.run.title],
        ),
        ("Checks", list(_list_checks(facts))),
        ("Reviews", list(_list_reviews(facts))),
        ("Decisions", list(_list_decisions(facts))),
        ("Changed after the approval", [f"- {each}" for each in accepted]),
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


def _list_checks(facts: Sequence[Raw]) -> Iterator[str]:
    last = {effect_parts(fact["effect"])[2]: fact for fact in facts if fact["is"] == "CheckEnded"}
    for name, fact in last.items():
        flaky = " (flaky: it failed first)" if fact.get("flaky") else ""
        yield f"- {name}: {fact['result']}{flaky}"


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
    for title, told in describe_touched_files(protocol, state).items():
        yield f"- {title}: {told}"


def _first_words(text: Any) -> str:
    told = str(text.get("clip", "")) if isinstance(text, Mapping) else str(text)
    line = " ".join(told.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} ..."
