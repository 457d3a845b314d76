"""The picture that read commands show: what a journal means, with how much of it is covered."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, assert_never

from porch.machine.state import Standing, State
from porch.model import protocol as p
from porch.views import board, cost, status
from porch.views.decision import decisions
from porch.views.text import printable

__all__ = ["VERSION", "decisions", "picture"]

VERSION = 1
_MARKS = {"complete": "x", "in_progress": ">", "pending": " "}


def picture(
    protocol: p.Protocol, state: State, length: int, sum: str, definition_changed: bool = False
) -> dict[str, Any]:
    """Everything a read command prints; nothing is ever decided from it."""
    document = status.document(protocol, state)
    asked = decisions(protocol, state)
    return {
        "v": VERSION,
        "seq": state.seq,
        "length": length,
        "sum": sum,
        "run": state.run.name,
        "status": document,
        "positions": [_position(protocol, state, each) for each in state.positions.values()],
        "decisions": asked,
        "paused": state.paused,
        "outcome": state.outcome,
        "usd": state.usd,
        "tokens": state.tokens,
        "cost": cost.data(protocol, state),
        "in_hand": [
            {"effect": hand.effect, "position": hand.position, "kind": hand.kind, "name": hand.name}
            for hand in state.in_hand.values()
        ],
        "text": list(_text(protocol, state, document, asked, definition_changed)),
        "row": _row(protocol, state, document),
    }


def _position(protocol: p.Protocol, state: State, standing: Standing) -> dict[str, Any]:
    return {
        "position": standing.position,
        "state": standing.state,
        "item": standing.item,
        "visit": standing.visit,
        "instance": standing.instance,
        "since": standing.entered_at,
        "title": status.title_of(protocol, state, standing),
    }


def _plain(text: str) -> str:
    """Whole escape sequences go first; what is left of the unprintable becomes blanks."""
    return board.one_line(printable(text))


def _row(protocol: p.Protocol, state: State, document: status.Document) -> dict[str, str]:
    told = {key: document[key] for key in ("id", "title", "protocol", "state")}
    return {key: _plain(value) for key, value in {**told, "waits": _waits(protocol, state)}.items()}


def _waits(protocol: p.Protocol, state: State) -> str:
    if state.outcome:
        return ""
    if state.paused:
        return "porch resume"
    waiting = (_waiting(protocol, state, each) for each in state.positions.values())
    return ", ".join(dict.fromkeys(waiting))


def _waiting(protocol: p.Protocol, state: State, standing: Standing) -> str:
    kind = protocol.states.get(standing.state)
    if kind is None:
        return "porch upgrade"
    if kind.loop and not standing.item:
        return "the plan"
    if isinstance(kind.actor, p.Join) and not kind.waits_for:
        return "commands of envoy"
    return _mover(state, standing, kind.actor)


def _mover(state: State, standing: Standing, actor: p.Actor) -> str:
    match actor:
        case p.Agent():
            return f"an agent{_pause(state, standing)}"
        case p.Check(commands=commands):
            return f"checks: {', '.join(command.name for command in commands)}"
        case p.Panel(reviewers=reviewers):
            seen = state.marks.get(standing.position, {})
            left = ", ".join(n for n in reviewers if f"review/{n}" not in seen)
            return f"reviews: {left}{_pause(state, standing)}"
        case p.Human(name=name):
            return f"you: {name}"
        case p.Git() | p.Children() | p.Join() | p.End():
            return _MOVERS[type(actor)]
        case _:
            assert_never(actor)


def _pause(state: State, standing: Standing) -> str:
    """What has to be sat out before anybody works on."""
    marks = state.marks.get(standing.position, {})
    waits = [value for key, value in marks.items() if key.startswith("wait/")]
    for wait in (each for each in waits if f"fired/{each['name']}" not in marks):
        if not wait["since"]:
            return ", after a pause"
        due = datetime.fromisoformat(wait["since"]) + timedelta(seconds=wait["seconds"])
        until = due.isoformat(timespec="seconds").replace("+00:00", "Z")
        return f", after a limit until {board.moment(until)}"
    return ""


_MOVERS = {
    p.Git: "git",
    p.Children: "the children",
    p.Join: "what it waits for",
    p.End: "nobody",
}


def _text(
    protocol: p.Protocol,
    state: State,
    document: status.Document,
    asked: list[dict[str, Any]],
    definition_changed: bool,
) -> Iterator[str]:
    yield from board.wrapped(
        _plain(f"{document['id']} {document['title']} ({document['protocol']})")
    )
    for name, value in _facts(protocol, state, document):
        first, *more = board.wrapped(_plain(value), 14) or [""]
        yield f"  {name:<10}  {first.strip()}".rstrip()
        yield from more
    if definition_changed:
        yield from board.wrapped(
            "The definition changed since the start; this run keeps its own. "
            "`porch upgrade` takes the new one.",
            2,
        )
    yield from _phases(document)
    yield from _gates(document)
    if asked:
        yield ""
        yield from board.pending(asked).rstrip("\n").split("\n")


def _facts(
    protocol: p.Protocol, state: State, document: status.Document
) -> Iterator[tuple[str, str]]:
    yield "state", ", ".join([each.position for each in state.positions.values()]) or state.outcome
    if document["current_phase"]:
        yield "phase", document["current_phase"]
    waits = _waits(protocol, state)
    if waits:
        yield "waits for", f"{waits} (the run was stopped)" if state.paused else waits
    for failure in filter(None, (state.marked(each, "failure") for each in state.positions)):
        yield "trouble", f"the last try failed: {failure}"
    if document["worktree"]:
        yield "worktree", document["worktree"]
    yield "started", board.moment(document["started_at"])
    yield "updated", board.moment(document["last_updated"])
    yield "spent", f"{state.turns} agent turns, {state.usd:.2f} USD, {state.tokens} tokens"
    phases = cost.by_phase(protocol, state)
    for name, used in phases.items() if len(phases) > 1 else ():
        yield "", f"{name}: {cost.text(used)}"


def _phases(document: status.Document) -> Iterator[str]:
    if document["phases"]:
        yield "  plan"
    for item in document["plan_phases"]:
        mark = _MARKS[document["phases"][item["id"]]["status"]]
        yield board.clip(f"    [{mark}] {_plain(item['id'] + ' ' + item['title'])}", board.WIDTH)


def _gates(document: status.Document) -> Iterator[str]:
    if document["gates"]:
        yield "  gates"
    for name, gate in document["gates"].items():
        at = board.moment(gate.get("decided_at") or gate.get("requested_at", ""))
        by = f" by {gate['by']}" if "by" in gate else ""
        told = f"{name}: {gate['status']}{by}{' ' + at if at else ''}"
        yield board.clip(f"    {_plain(told)}", board.WIDTH)
