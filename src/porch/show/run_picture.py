"""The picture that read commands show: what a journal means, with how much of it is covered."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, assert_never

from porch.account.outcomes import SIGNS
from porch.machine.state import CHANGED, RunState, Standing
from porch.model import protocol as p
from porch.show import board, cost, status
from porch.show.board import cut_text
from porch.show.decision import list_decisions
from porch.show.evidence_notes import describe_touched_files, list_abstentions, list_check_notes
from porch.show.request_lines import render_request
from porch.text.printable import make_printable

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import (
        BoardRowExtras,
        BoardRowShape,
        DecisionShape,
        PictureShape,
        PositionShape,
        RunRowShape,
        StatusDocument,
    )

__all__ = ["PICTURE_VERSION", "list_decisions", "make_run_picture", "row_with_decisions"]

PICTURE_VERSION = 1
_PHASE_MARKS = {"complete": "x", "in_progress": ">", "pending": " "}


def make_run_picture(
    protocol: p.Protocol,
    state: RunState,
    length: int,
    sum: str,
    *,
    definition_changed: bool = False,
    request: str = "",
) -> PictureShape:
    """Everything a read command prints; nothing is ever decided from it."""
    document = status.make_status_document(protocol, state)
    asked = list_decisions(protocol, state, request)
    text = _render_status_lines(
        protocol, state, document, asked, definition_changed=definition_changed, request=request
    )
    picture: PictureShape = {
        "v": PICTURE_VERSION,
        "seq": state.seq,
        "length": length,
        "sum": sum,
        "run": state.run.name,
        "status": document,
        "positions": [_position_data(protocol, state, each) for each in state.positions.values()],
        "decisions": asked,
        "paused": state.paused,
        "outcome": state.outcome,
        "usd": state.usd,
        "tokens": state.tokens,
        "cost": cost.make_cost_data(protocol, state),
        "in_hand": [
            {"effect": hand.effect, "position": hand.position, "kind": hand.kind, "name": hand.name}
            for hand in state.in_hand.values()
        ],
        "text": list(text),
        "row": _make_board_row(protocol, state),
    }
    if request:
        picture["request"] = {"from": state.run.request_from or "file", "text": request}
    return picture


def row_with_decisions(
    protocol: p.Protocol, state: RunState, length: int, sum: str, *, request: str = ""
) -> RunRowShape:
    """What lists of all runs print of one."""
    return {
        "v": PICTURE_VERSION,
        "seq": state.seq,
        "length": length,
        "sum": sum,
        "row": _make_board_row(protocol, state),
        "decisions": list_decisions(protocol, state, request) if state.decisions else [],
    }


def _position_data(protocol: p.Protocol, state: RunState, standing: Standing) -> PositionShape:
    return {
        "position": standing.position,
        "state": standing.state,
        "item": standing.item,
        "visit": standing.visit,
        "instance": standing.instance,
        "since": standing.entered_at,
        "title": status.find_position_title(protocol, state, standing),
    }


@lru_cache(maxsize=64)
def _make_plain_line(text: str) -> str:
    """Whole escape sequences go first; what is left of the unprintable becomes blanks.

    The rows of a run have nearly the same texts after each record.
    """
    return board.one_line(make_printable(text))


def _make_board_row(protocol: p.Protocol, state: RunState) -> BoardRowShape:
    run = state.run
    delivery, said = run.delivery, run.heading
    heading: BoardRowExtras = {"heading": _make_plain_line(said)} if said else {}
    # One word of what became of its work: this column is never cut.
    stands = status.name_place(state) if delivery is None else delivery.how
    return {
        "id": _make_plain_line(run.id),
        "title": _make_plain_line(run.title),
        "protocol": _make_plain_line(run.protocol),
        "state": _make_plain_line(stands),
        **heading,
        "waits": _make_plain_line(_describe_waits(protocol, state)),
    }


def _describe_waits(protocol: p.Protocol, state: RunState) -> str:
    if state.outcome:
        is_open = state.run.own_worktree and state.run.delivery is None
        return f"porch finish {state.run.id or state.run.name}" if is_open else ""
    if state.paused:
        return "porch resume"
    # While an approval is asked again nothing else begins.
    asked = [each for each in state.positions.values() if each.state == CHANGED]
    standing = asked or state.positions.values()
    waiting = (
        _describe_position_wait(protocol, state, each)
        for each in standing
        # Who has come to the end of a wave waits for those who are said anyway.
        if protocol.subject != p.TRACK or not isinstance(_actor_at(protocol, each), p.Join)
    )
    return ", ".join(dict.fromkeys(waiting))


def _actor_at(protocol: p.Protocol, standing: Standing) -> p.Actor | None:
    kind = protocol.states.get(standing.state)
    return kind.actor if kind else None


def _describe_position_wait(protocol: p.Protocol, state: RunState, standing: Standing) -> str:
    kind = protocol.states.get(standing.state)
    if kind is None:
        return "porch upgrade"
    if kind.loop and not standing.item:
        return "the plan"
    if isinstance(kind.actor, p.Join) and not kind.waits_for:
        return "`envoy` commands"
    return _describe_actor_wait(state, standing, kind.actor)


def _describe_actor_wait(state: RunState, standing: Standing, actor: p.Actor) -> str:
    match actor:
        case p.Agent():
            return f"an agent{_describe_pause(state, standing)}"
        case p.Check(commands=commands):
            return f"checks: {', '.join(command.name for command in commands)}"
        case p.Panel(reviewers=reviewers):
            seen = state.marks.get(standing.position, {})
            left = ", ".join(n for n in reviewers if f"review/{n}" not in seen)
            return f"reviews: {left}{_describe_pause(state, standing)}"
        case p.Human(name=name):
            return f"you: {standing.item if standing.state == CHANGED else name}"
        case p.Git() | p.Children() | p.Join() | p.End():
            return _ACTOR_WAITS[type(actor)]
        case _:
            assert_never(actor)


def _describe_pause(state: RunState, standing: Standing) -> str:
    """What has to be sat out before anybody works on."""
    marks = state.marks.get(standing.position, {})
    waits = [value for key, value in marks.items() if key.startswith("wait/")]
    for wait in (each for each in waits if f"fired/{each['name']}" not in marks):
        if not wait["since"]:
            return ", after a short wait"
        due = datetime.fromisoformat(wait["since"]) + timedelta(seconds=wait["seconds"])
        until = due.isoformat(timespec="seconds").replace("+00:00", "Z")
        return f", waiting until {board.format_moment(until)}"
    return ""


_ACTOR_WAITS = {
    p.Git: "git",
    p.Children: "its children",
    p.Join: "other work",
    p.End: "nobody",
}


def _render_status_lines(
    protocol: p.Protocol,
    state: RunState,
    document: StatusDocument,
    asked: list[DecisionShape],
    *,
    definition_changed: bool,
    request: str,
) -> Iterator[str]:
    title = state.run.heading or document["title"]
    yield from board.wrap_text(
        _make_plain_line(f"{document['id']} {title} ({document['protocol']})")
    )
    for name, value in _list_status_fields(protocol, state, document):
        first, *more = board.wrap_text(_make_plain_line(value), 14) or [""]
        yield f"  {name:<10}  {first.strip()}".rstrip()
        yield from more
    if definition_changed:
        yield from board.wrap_text(
            "The protocol files changed after this run started. The run uses the old version. "
            "Switch to the new one: porch upgrade",
            2,
        )
    yield from render_request(request, state.run.request_from)
    yield from _render_phases(document)
    yield from _render_gates(document)
    if asked:
        yield ""
        yield from board.render_pending_decisions(asked).rstrip("\n").split("\n")


def _list_status_fields(
    protocol: p.Protocol, state: RunState, document: StatusDocument
) -> Iterator[tuple[str, str]]:
    yield "state", ", ".join([each.position for each in state.positions.values()]) or state.outcome
    told = (("finished", document.get("finished")), ("phase", document["current_phase"]))
    yield from ((name, value) for name, value in told if value)
    waits = _describe_waits(protocol, state)
    if waits:
        yield "waits for", f"{waits} (the run is stopped)" if state.paused else waits
    yield from _list_troubles(state)
    if document["worktree"]:
        yield "worktree", document["worktree"]
    yield "started", board.format_moment(document["started_at"])
    yield "updated", board.format_moment(document["last_updated"])
    yield from (("checks", note) for note in list_check_notes(state))
    turns = cost.describe_turns(protocol, state)
    yield "spent", f"{turns}, {state.usd:.2f} USD, {state.tokens} tokens"
    for title, names in describe_touched_files(protocol, state).items():
        yield "note", f"{title}: {names}"
    phases = cost.sum_cost_by_phase(protocol, state)
    for name, used in phases.items() if len(phases) > 1 else ():
        yield "", f"{name}: {cost.format_cost(used)}"


def _list_troubles(state: RunState) -> Iterator[tuple[str, str]]:
    for failure in filter(None, (state.marked(each, "failure") for each in state.positions)):
        yield "trouble", f"the last attempt failed: {failure}"
    for missing in list_abstentions(state):
        yield "reviews", missing


def _render_phases(document: StatusDocument) -> Iterator[str]:
    if document["phases"]:
        yield "  plan"
    for item in document["plan_phases"]:
        status = document["phases"][item["id"]]
        outcome = status.get("outcome", "")
        mark = SIGNS[outcome] if outcome else _PHASE_MARKS[status["status"]]
        words = f"{item['id']} {item['title']}" + (f": {outcome}" if outcome else "")
        told = f"[{mark}] {_make_plain_line(words)}"
        yield cut_text(f"    {'  ' * item.get('level', 0)}{told}", board.WIDTH)


def _render_gates(document: StatusDocument) -> Iterator[str]:
    if document["gates"]:
        yield "  gates"
    for name, gate in document["gates"].items():
        at = board.format_moment(gate.get("decided_at") or gate.get("requested_at", ""))
        by = f" by {gate['by']}" if "by" in gate else ""
        told = f"{name}: {gate['status']}{by}{' ' + at if at else ''}"
        yield cut_text(f"    {_make_plain_line(told)}", board.WIDTH)
