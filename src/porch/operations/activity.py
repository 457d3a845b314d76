"""What an agent did in a turn, out of its transcript, without secrets."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, assert_never

from porch.adapters import transcripts
from porch.adapters.agents import AGENTS, events
from porch.adapters.redaction import Redactor, secrets_of
from porch.adapters.transcripts import Part
from porch.errors import UsageError
from porch.operations.turns import Turn
from porch.views import activity
from porch.views.activity import Entry

_LONGEST_ANSWER = 2000


def raw(turn: Turn) -> Iterator[str]:
    """The transcript as it lies there, and still without secrets where nobody has put it away."""
    redactor = Redactor(secrets_of(os.environ))
    for part in turn.parts:
        for line in transcripts.lines(part, turn.is_ended):
            yield redactor.line(line.text) + (" ... (cut)" if line.cut else "")


def events_of(turn: Turn, part: Part) -> Iterator[events.Event]:
    """What the agent's lines mean; an agent that this release does not know is not guessed at."""
    if part.agent not in AGENTS:
        raise UsageError(
            f"turn {turn.number} was taken by '{part.agent}', an agent that is not known here",
            fix=f"read it with `porch log --turn {turn.number} --raw`",
            code="unknown-transcript",
        )
    redactor = Redactor(secrets_of(os.environ))
    feed = AGENTS[part.agent].feed
    for line in transcripts.lines(part, turn.is_ended):
        if line.cut:
            yield events.Warned("a line that is too long was left out")
        else:
            yield from feed(redactor.line(line.text))


def told(turn: Turn) -> Iterator[Entry]:
    """All parts one after the other, for the view of an activity."""
    if not turn.parts:
        yield activity.NOTE, "no transcript is kept of this turn"
    for number, part in enumerate(turn.parts, 1):
        if len(turn.parts) > 1:
            yield activity.NOTE, f"part {number} of {len(turn.parts)}"
        yield from _entries(events_of(turn, part))


def _entries(found: Iterable[events.Event]) -> Iterator[Entry]:
    tally = events.Tally()
    for event in found:
        tally.add(event)
        yield from _entry(event)
    summary = tally.summary
    if summary.tokens or summary.usd:
        yield (
            activity.USED,
            activity.usage(summary.tokens, summary.cached, summary.output, summary.usd),
        )


def _entry(event: events.Event) -> Iterator[Entry]:
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
            yield activity.ANSWER, f"{event.exit} {_short(event.payload)}"
        case events.Session() | events.Used() | events.Done():
            return
        case events.Denied() | events.Warned() | events.Failed():
            yield _trouble(event)
        case _:
            assert_never(event)


def _trouble(event: events.Denied | events.Warned | events.Failed) -> Entry:
    match event:
        case events.Denied():
            return activity.DENIED, event.text
        case events.Warned():
            return activity.WARNED, event.text
        case events.Failed():
            wait = f" (may be asked again in {event.wait_s:g} s)" if event.wait_s else ""
            return activity.FAILED, f"{event.kind}: {event.text}{wait}"
        case _:
            assert_never(event)


def _short(payload: Any) -> str:
    text = json.dumps(payload, ensure_ascii=False)
    return text if len(text) <= _LONGEST_ANSWER else f"{text[:_LONGEST_ANSWER]} ..."


def data(turn: Turn) -> list[dict[str, Any]]:
    """The same for programs: the events of each part, named as the journal names its facts."""
    return [
        {
            "agent": part.agent,
            "events": [{"is": type(e).__name__, **asdict(e)} for e in events_of(turn, part)],
        }
        for part in turn.parts
    ]
