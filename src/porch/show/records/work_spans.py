"""The work of a run in time: what began when, who did it, how it ended, and who was waited for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.machine.state import effect_parts

LANES = ("agent", "check", "panel", "person", "git")
# Who does an effect of each kind; what is not here takes no time that anybody would see.
_LANE_BY_KIND = {
    "agent": "agent",
    "check": "check",
    "review": "panel",
    "commit": "git",
    "git": "git",
    "timer": "agent",
}
_WAITS = frozenset(("timer",))
_GOOD = frozenset(("passed", "APPROVE", "clean"))
_BAD = frozenset(("failed", "REQUEST_CHANGES", "conflict", "refused", "unmeasured"))


class WorkSpan(Struct, frozen=True, kw_only=True):
    """One piece of work or one wait; without `began` or `ended` that lies outside of the records.

    `look` is good, bad or empty.
    """

    key: str
    lane: str
    name: str
    position: str
    began: str = ""
    ended: str = ""
    result: str = ""
    look: str = ""
    is_wait: bool = False
    seq: int = 0


def list_spans(records: Iterable[Mapping[str, Any]]) -> list[WorkSpan]:
    """In the order in which they began; what only ended in these records comes first."""
    spans: dict[str, WorkSpan] = {}
    early: dict[str, WorkSpan] = {}
    for record in records:
        at, seq = str(record.get("at") or ""), int(record.get("seq") or 0)
        for end in _list_ends(record):
            known = spans.get(end.key)
            if known is not None and not known.ended:
                spans[end.key] = replace(known, ended=at, result=end.result, look=end.look)
            elif known is None and end.lane:
                early[end.key] = replace(end, ended=at, seq=seq)
        for begun in _list_beginnings(record):
            spans[begun.key] = replace(begun, began=at, seq=seq)
    return [*early.values(), *spans.values()]


def _list_beginnings(record: Mapping[str, Any]) -> Iterator[WorkSpan]:
    for hand in record.get("begun") or ():
        kind = str(hand.get("kind") or "")
        if kind in _LANE_BY_KIND:
            yield _make_span(str(hand.get("effect") or ""), kind)
    for move in record.get("moves") or ():
        if move.get("is") == "Asked":
            position = str(move.get("position") or "")
            yield _make_wait(position, str(move.get("name") or ""))
        elif move.get("is") == "Paused":
            yield WorkSpan(key="paused", lane="person", name="stopped", position="", is_wait=True)


def _list_ends(record: Mapping[str, Any]) -> Iterator[WorkSpan]:
    fact = record.get("fact") or {}
    effect = str(fact.get("effect") or "")
    kind = effect_parts(effect)[1]
    if kind in _LANE_BY_KIND:
        result = _describe_result(fact)
        yield replace(_make_span(effect, kind), result=result, look=_find_look(fact, result))
    for move in record.get("moves") or ():
        if move.get("is") == "Closed":
            answer = str(move.get("exit") or "no longer asked")
            by = f" by {move['who']}" if move.get("who") else ""
            yield replace(_make_wait(str(move.get("position") or ""), ""), result=f"{answer}{by}")
        elif move.get("is") == "Resumed":
            yield WorkSpan(
                key="paused", lane="", name="", position="", result="continued", is_wait=True
            )


def _make_span(effect: str, kind: str) -> WorkSpan:
    position, _, name = effect_parts(effect)
    return WorkSpan(
        key=effect,
        lane=_LANE_BY_KIND[kind],
        name="wait before the next try" if kind == "timer" else name,
        position=position,
        is_wait=kind in _WAITS,
    )


def _make_wait(position: str, name: str) -> WorkSpan:
    return WorkSpan(
        key=f"asked {position}",
        lane="person",
        name=name or "a decision",
        position=position,
        is_wait=True,
    )


def _describe_result(fact: Mapping[str, Any]) -> str:
    match fact.get("is"):
        case "TurnEndedSilent":
            return "ended without a signal"
        case "EffectFailed":
            return f"failed: {fact.get('why')}"
        case "EffectInterrupted":
            return "interrupted"
        case "EffectStopped":
            return "stopped"
        case "TimerFired":
            return "over"
        case "CommitEnded" if fact.get("passed_over"):
            return "passed over"
        case "CommitEnded":
            return "refused" if fact.get("refused") else "committed"
        case _:
            found = (fact.get(each) for each in ("signal", "result", "verdict", "exit"))
            return str(next(filter(None, found), ""))


def _find_look(fact: Mapping[str, Any], result: str) -> str:
    if fact.get("is") in ("EffectFailed", "EffectInterrupted", "TurnEndedSilent"):
        return "bad"
    return "good" if result in _GOOD else "bad" if result in _BAD else ""
