"""The turns under way: since when, and what their transcripts have so far.

The journal counts a turn when it ends. Until then this is measured by whoever looks; it is told
beside what the journal has and never added to it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from porch.agents import AGENTS, events
from porch.agents.transcripts import (
    TranscriptListener,
    list_transcript_parts,
    read_transcript_lines,
)
from porch.run.agents.turn_numbers import list_begun_turns
from porch.show.cost import format_duration
from porch.store.run_drivers import parse_instant

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import CurrentTurnShape
    from porch.store.where import ProjectPaths

_PAID = ("agent", "review")


def list_current_turns(
    where: ProjectPaths, name: str, in_hand: Iterable[Mapping[str, Any]]
) -> list[CurrentTurnShape]:
    """Of the effects in hand those of agents and reviewers, in the order in which they began."""
    open_ = {str(hand["effect"]) for hand in in_hand if hand["kind"] in _PAID}
    if not open_:
        return []
    began = {turn.hand.effect: turn.at for turn in list_begun_turns(where, name) or ()}
    found = [measure_turn(where.run_dir(name), effect, began.get(effect, "")) for effect in open_]
    return sorted(found, key=lambda turn: (turn["began_at"], turn["effect"]))


def measure_turn(directory: str, effect: str, began_at: str) -> CurrentTurnShape:
    tools, tokens, usd, agents, notes = 0, 0, 0.0, [], []
    for part in list_transcript_parts(directory, effect):
        if part.agent not in AGENTS:
            continue
        started: list[events.Event] = []
        feed = AGENTS[part.agent].feed
        listener = TranscriptListener(feed, lambda e, kept=started: _keep_tools(kept, e))  # type: ignore[misc]
        for line in read_transcript_lines(part, is_ended=False):
            listener.take(line)
        tools += len(started)
        tokens, usd = tokens + listener.summary.tokens, usd + listener.summary.usd
        agents.append(part.agent)
        notes.append(part.note)
    return {
        "effect": effect,
        "agent": ", ".join(dict.fromkeys(agents)),
        "began_at": began_at,
        "seconds": max(0, round(time.time() - parse_instant(began_at))) if began_at else 0,
        "tools": tools,
        "tokens": tokens,
        "usd": round(usd, 6),
        "notes": [*filter(None, notes)],
    }


def _keep_tools(kept: list[events.Event], event: events.Event) -> None:
    if type(event) is events.ToolStarted:
        kept.append(event)


def describe_current_turn(turn: CurrentTurnShape) -> str:
    """`claude has worked for 27 s: 4 tool calls, 3,400 tokens so far, not counted yet`."""
    calls = "1 tool call" if turn["tools"] == 1 else f"{turn['tools']} tool calls"
    amounts = [calls, f"{turn['tokens']:,} tokens" if turn["tokens"] else ""]
    amounts.append(f"{turn['usd']:.2f} USD" if turn["usd"] else "")
    told = ", ".join(filter(None, amounts))
    who, time_ = turn["agent"] or "an agent", format_duration(turn["seconds"])
    return "; ".join(
        (f"{who} has worked for {time_}: {told} so far, not counted yet", *turn["notes"])
    )
