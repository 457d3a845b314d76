"""The turns of a run by number, in the order of its journal: a directory alone has none."""

import os
from datetime import datetime
from typing import Any, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from porch.agents import transcripts
from porch.agents.transcripts import TranscriptPart
from porch.errors import UsageError
from porch.machine.records import RawRecord
from porch.machine.state import effect_parts
from porch.store import journal
from porch.store.journal_look import find_records
from porch.store.journal_tail import read_window
from porch.store.where import ProjectPaths

_KINDS = ("agent", "review")
_OPEN = "not ended"


class TurnShape(TypedDict):
    """A turn as `porch log --turns --json` prints it; `parts` says how many it has."""

    number: int
    effect: str
    position: str
    name: str
    began_at: str
    outcome: str
    seconds: float | None
    usd: float
    tokens: int
    agent: str
    parts: int


class NumberedTurn(Struct, frozen=True):
    """One piece of work of an agent, numbered in the order in which the journal began them."""

    number: int
    effect: str
    position: str
    name: str
    began_at: str
    outcome: str
    seconds: float | None
    usd: float
    tokens: int
    parts: tuple[TranscriptPart, ...]

    @property
    def is_ended(self) -> bool:
        return self.outcome != _OPEN

    @property
    def agent(self) -> str:
        return ", ".join(dict.fromkeys(part.agent for part in self.parts))

    def as_json(self) -> TurnShape:
        return {
            "number": self.number,
            "effect": self.effect,
            "position": self.position,
            "name": self.name,
            "began_at": self.began_at,
            "outcome": self.outcome,
            "seconds": self.seconds,
            "usd": self.usd,
            "tokens": self.tokens,
            "agent": self.agent,
            "parts": len(self.parts),
        }


class _LightHand(Struct, frozen=True, gc=False):
    effect: str
    kind: str
    position: str


class _LightFact(Struct, frozen=True, gc=False):
    effect: str = ""


class _LightRecord(Struct, frozen=True):
    seq: int
    at: str
    fact: _LightFact
    begun: tuple[_LightHand, ...] = ()


class BegunTurn(Struct, frozen=True):
    """Where the journal has a turn: its number, and the number of the record that ended it."""

    number: int
    hand: _LightHand
    at: str
    end: int


def list_begun_turns(where: ProjectPaths, name: str) -> list[BegunTurn] | None:
    """For whoever shows a few of very many; None if the journal has to be read whole."""
    path = os.path.join(where.run_dir(name), "journal.jsonl")
    records = find_records(path, [f"/{kind}/".encode() for kind in _KINDS], _LightRecord)
    if records is None:
        return None
    ends = {each.fact.effect: each.seq for each in records}
    begun = [(each.at, hand) for each in records for hand in each.begun if hand.kind in _KINDS]
    return [
        BegunTurn(number, hand, at, ends.get(hand.effect, 0))
        for number, (at, hand) in enumerate(begun, 1)
    ]


def read_begun_turn(where: ProjectPaths, name: str, begun: BegunTurn) -> NumberedTurn:
    home, hand = where.run_dir(name), begun.hand
    path = os.path.join(home, "journal.jsonl")
    end = read_window(path, begun.end, begun.end) if begun.end else None
    told = {"effect": hand.effect, "position": hand.position}
    return _numbered_turn(home, begun.number, told, at=begun.at, end=end[0] if end else None)


def list_turns(where: ProjectPaths, name: str) -> list[NumberedTurn]:
    """All that were begun, also those that go on or left nothing."""
    home = where.run_dir(name)
    records = journal.scan_journal(os.path.join(home, "journal.jsonl")).records
    ends = {r["fact"]["effect"]: r for r in records if "effect" in r["fact"]}
    begun = [(r["at"], h) for r in records for h in r.get("begun", ()) if h["kind"] in _KINDS]
    return [
        _numbered_turn(home, number, hand, at=at, end=ends.get(hand["effect"]))
        for number, (at, hand) in enumerate(begun, 1)
    ]


def _numbered_turn(
    home: str, number: int, hand: dict[str, Any], *, at: str, end: RawRecord | None
) -> NumberedTurn:
    fact = end["fact"] if end else {}
    effect = hand["effect"]
    return NumberedTurn(
        number,
        effect,
        hand["position"],
        effect_parts(effect)[2],
        at,
        _describe_outcome(fact),
        _seconds_between(at, end["at"]) if end else None,
        float(fact.get("usd", 0)),
        int(fact.get("tokens", 0)),
        tuple(transcripts.list_transcript_parts(home, effect)),
    )


def _seconds_between(begin: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def _describe_outcome(fact: dict[str, Any]) -> str:
    match fact.get("is"):
        case "ExitAccepted":
            return str(fact.get("signal") or fact.get("exit"))
        case "TurnEndedSilent":
            return "no signal"
        case "EffectFailed":
            return f"failed: {fact.get('why')}"
        case "EffectInterrupted":
            return "interrupted"
        case "EffectStopped":
            return "stopped"
        case "ReviewEnded":
            why = f" ({fact['why']})" if fact.get("why") else ""
            return f"{fact.get('verdict')}{why}"
        case _:
            return _OPEN


def find_turn(where: ProjectPaths, name: str, word: str) -> NumberedTurn:
    """The turn that a number means; `3.2` is the second part of the third."""
    known = list_turns(where, name)
    number, dot, inner = word.partition(".")
    found = [each for each in known if str(each.number) == number]
    if not found or (dot and inner not in map(str, range(1, len(found[0].parts) + 1))):
        there = f"1 to {len(known)}" if known else "none yet"
        raise UsageError(
            f"run {name} has no turn '{word}'",
            fix=f"known turns: {there}; list them: `porch log {name} --turns`",
            code="unknown-turn",
        )
    if not dot:
        return found[0]
    return replace(found[0], parts=(found[0].parts[int(inner) - 1],))
