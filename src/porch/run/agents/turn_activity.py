"""What an agent did in a turn, out of its transcript, without secrets."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypedDict, assert_never

from msgspec.structs import asdict

from porch.agents import AGENTS, events, transcripts
from porch.agents.redaction import Redactor, find_secrets
from porch.agents.transcripts import TranscriptPart
from porch.errors import UsageError
from porch.run.agents.turn_numbers import NumberedTurn
from porch.show import activity
from porch.show.activity import Entry
from porch.system.variables import read_environment

_LONGEST_ANSWER = 2000


def iterate_raw_lines(turn: NumberedTurn) -> Iterator[str]:
    """The transcript as it lies there, and still without secrets where nobody has put it away."""
    redactor = Redactor(find_secrets(read_environment()))
    for part in turn.parts:
        passing = transcripts.find_passing_lines(part.agent)
        for line in transcripts.read_transcript_lines(part, turn.is_ended):
            # Of a secret that comes in pieces none is recognised.
            if passing and line.text.startswith(passing):
                continue
            yield redactor.line(line.text) + (" ... (cut)" if line.cut else "")


def iterate_events(turn: NumberedTurn, part: TranscriptPart) -> Iterator[events.Event]:
    """What the agent's lines mean; an agent that this release does not know is not guessed at."""
    if part.agent not in AGENTS:
        raise UsageError(
            f"turn {turn.number} was done by '{part.agent}', an unknown agent",
            fix=f"read it with `porch log --turn {turn.number} --raw`",
            code="unknown-transcript",
        )
    redactor = Redactor(find_secrets(read_environment()))
    feed = AGENTS[part.agent].feed
    for line in transcripts.read_transcript_lines(part, turn.is_ended):
        if line.cut:
            yield events.Warned("a line was too long and is not shown")
        else:
            told = feed(redactor.line(line.text))
            yield from (event for event in told if type(event) is not events.ProviderWait)


def iterate_activity(turn: NumberedTurn) -> Iterator[Entry]:
    """All parts one after the other, for the view of an activity."""
    if not turn.parts:
        yield activity.NOTE, "there is no transcript of this turn"
    for number, part in enumerate(turn.parts, 1):
        if len(turn.parts) > 1:
            yield activity.NOTE, f"part {number} of {len(turn.parts)}"
        if part.note:
            yield activity.NOTE, part.note
        yield from _iterate_entries(iterate_events(turn, part))


def _iterate_entries(found: Iterable[events.Event]) -> Iterator[Entry]:
    tally = events.GrowingSummary()
    for event in found:
        tally.add(event)
        yield from _event_entries(event)
    summary = tally.summary
    if summary.tokens or summary.usd:
        yield (
            activity.USED,
            activity.format_usage(summary.tokens, summary.cached, summary.output, summary.usd),
        )


def _event_entries(event: events.Event) -> Iterator[Entry]:
    match event:
        case events.Said():
            yield activity.SAID, event.text
        case events.ToolStarted():
            yield activity.TOOL, event.name
        case events.ToolEnded():
            yield activity.OUTPUT, event.output
        case events.Final():
            yield activity.FINAL, event.text
        case events.Answered():
            yield activity.ANSWER, f"{event.exit} {_shorten_payload(event.payload)}"
        case events.Session() | events.Used() | events.Done() | events.ProviderWait():
            return
        case events.Denied() | events.Warned() | events.Failed():
            yield _trouble_entry(event)
        case _:
            assert_never(event)


def _trouble_entry(event: events.Denied | events.Warned | events.Failed) -> Entry:
    match event:
        case events.Denied():
            return activity.DENIED, event.text
        case events.Warned():
            return activity.WARNED, event.text
        case events.Failed():
            wait = f" (retrying is possible after {event.wait_s:g} s)" if event.wait_s else ""
            return activity.FAILED, f"{event.kind}: {event.text}{wait}"
        case _:
            assert_never(event)


def _shorten_payload(payload: Any) -> str:
    text = json.dumps(payload, ensure_ascii=False)
    return text if len(text) <= _LONGEST_ANSWER else f"{text[:_LONGEST_ANSWER]} ..."


class TurnPartShape(TypedDict):
    """One part of a turn for programs: who worked, and every event of its transcript."""

    agent: str
    events: list[dict[str, Any]]


def turn_parts_json(turn: NumberedTurn) -> list[TurnPartShape]:
    """The same for programs: the events of each part, named as the journal names its facts."""
    return [
        {
            "agent": part.agent,
            "events": [{"is": type(e).__name__, **asdict(e)} for e in iterate_events(turn, part)],
        }
        for part in turn.parts
    ]
