"""The picture that read commands show: what a journal means, with how much of it is covered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from porch.account.consequences import FilesNow, Objection, object_to_nothing
from porch.account.gaps import Gap, list_other_gaps
from porch.account.outcomes import GAPS, SIGNS
from porch.account.phases import PhaseAccount, list_phases
from porch.account.waiting import list_waits, wants_driver
from porch.machine.state import RunState, Standing
from porch.model import protocol as p
from porch.show import board, cost, status
from porch.show.board import PICTURE_VERSION, cut_text
from porch.show.decision import NOT_LOOKED_AT, list_decisions
from porch.show.evidence_notes import describe_measurement, list_abstentions, list_check_notes
from porch.show.phase_words import describe_gap, describe_outcome, name_outcome
from porch.show.request_lines import render_request
from porch.show.wait_words import describe_waits, make_wait_data
from porch.text.printable import make_printable

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import (
        BoardRowExtras,
        BoardRowShape,
        DecisionShape,
        OutcomeShape,
        PictureShape,
        PositionShape,
        RunRowShape,
        StatusDocument,
    )

__all__ = ["PICTURE_VERSION", "list_decisions", "make_run_picture", "row_with_decisions"]

_PHASE_MARKS = {"complete": "x", "in_progress": ">", "pending": " "}


def make_run_picture(
    protocol: p.Protocol,
    state: RunState,
    length: int,
    sum: str,
    *,
    definition_changed: bool = False,
    request: str = "",
    objection: Objection = object_to_nothing,
    files: Mapping[str, FilesNow] = NOT_LOOKED_AT,
) -> PictureShape:
    """Everything a read command prints; nothing is ever decided from it."""
    document = status.make_status_document(protocol, state)
    asked = list_decisions(protocol, state, request, objection, files)
    # The tasks and confirmations of a track have rows of their own.
    phases = [] if protocol.subject == p.TRACK else list_phases(protocol, state)
    text = _render_status_lines(
        protocol,
        state,
        document,
        asked,
        phases,
        definition_changed=definition_changed,
        request=request,
    )
    picture: PictureShape = {
        "v": PICTURE_VERSION,
        "seq": state.seq,
        "length": length,
        "sum": sum,
        "run": state.run.name,
        "status": document,
        "positions": [_position_data(protocol, state, each) for each in state.positions.values()],
        "outcomes": [
            *(_outcome_data(each) for each in phases),
            *_list_track_outcomes(protocol, state),
            *(_gap_data(each) for each in list_other_gaps(protocol, state)),
        ],
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
    protocol: p.Protocol,
    state: RunState,
    length: int,
    sum: str,
    *,
    request: str = "",
    objection: Objection = object_to_nothing,
    files: Mapping[str, FilesNow] = NOT_LOOKED_AT,
) -> RunRowShape:
    """What lists of all runs print of one."""
    asked = state.decisions and list_decisions(protocol, state, request, objection, files)
    return {
        "v": PICTURE_VERSION,
        "seq": state.seq,
        "length": length,
        "sum": sum,
        "row": _make_board_row(protocol, state),
        "decisions": asked or [],
    }


def _outcome_data(phase: PhaseAccount) -> OutcomeShape:
    """What became of a phase, and who went on without it."""
    told: OutcomeShape = {"phase": phase.name, "outcome": phase.outcome}
    if phase.decided:
        told |= {"by": phase.decided.by, "reason": phase.decided.text}
    return told


def _list_track_outcomes(protocol: p.Protocol, state: RunState) -> Iterator[OutcomeShape]:
    if protocol.subject != p.TRACK:
        return
    from porch.show.track_rows import list_track_rows

    for row in list_track_rows(protocol, state):
        yield {"phase": row.id, "outcome": row.outcome}


def _gap_data(gap: Gap) -> OutcomeShape:
    return {"phase": gap.name, "outcome": gap.outcome, "kind": gap.kind}


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
    waits = list_waits(protocol, state)
    return {
        "id": _make_plain_line(run.id),
        "title": _make_plain_line(run.title),
        "protocol": _make_plain_line(run.protocol),
        "state": _make_plain_line(stands),
        **heading,
        "waits": _make_plain_line(describe_waits(waits)),
        "waiting": [make_wait_data(each) for each in waits],
        "wants_driver": wants_driver(protocol, state),
    }


def _render_status_lines(
    protocol: p.Protocol,
    state: RunState,
    document: StatusDocument,
    asked: list[DecisionShape],
    phases: list[PhaseAccount],
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
            "The protocol files changed after this run started, or this release of porch reads "
            "them in another way. The run uses the old version. "
            "Switch to the new one: porch upgrade",
            2,
        )
    yield from render_request(request, state.run.request_from)
    yield from _render_gaps(protocol, state, phases)
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
    waits = describe_waits(list_waits(protocol, state))
    if waits:
        yield "waits for", f"{waits} (the run is stopped)" if state.paused else waits
    yield from _list_troubles(state)
    if document["worktree"]:
        yield "worktree", document["worktree"]
    yield "started", board.format_moment(document["started_at"])
    yield "updated", board.format_moment(document["last_updated"])
    yield from (("checks", note) for note in list_check_notes(state))
    spent = cost.make_cost_data(protocol, state)
    yield "spent", cost.format_cost(state, spent)
    for title, names in describe_measurement(protocol, state).items():
        yield "note", f"{title}: {names}"
    phases = spent["phases"]
    for name, used in phases.items() if len(phases) > 1 else ():
        took = cost.format_duration(used["seconds"])
        yield "", f"{name}: {cost.format_cost(state, used)}, {took}"


def _list_troubles(state: RunState) -> Iterator[tuple[str, str]]:
    for failure in filter(None, (state.marked(each, "failure") for each in state.positions)):
        yield "trouble", f"the last attempt failed: {failure}"
    for missing in list_abstentions(state):
        yield "reviews", missing


def _render_gaps(
    protocol: p.Protocol, state: RunState, phases: list[PhaseAccount]
) -> Iterator[str]:
    """The phases that were left and have not passed, and what no phase tells of."""
    told = [
        (phase.outcome, f"{phase.name}: {', '.join(describe_outcome(phase))}")
        for phase in phases
        if phase.outcome in GAPS
    ]
    told += [(gap.outcome, describe_gap(gap)) for gap in list_other_gaps(protocol, state)]
    if told:
        yield "  not passed"
    for outcome, words in told:
        first, *more = board.wrap_text(_make_plain_line(words), 8)
        yield f"    [{SIGNS[outcome]}] {first.strip()}"
        yield from more


def _render_phases(document: StatusDocument) -> Iterator[str]:
    if document["phases"]:
        yield "  plan"
    for item in document["plan_phases"]:
        status = document["phases"][item["id"]]
        outcome = status.get("outcome", "")
        mark = SIGNS[outcome] if outcome else _PHASE_MARKS[status["status"]]
        words = f"{item['id']} {item['title']}" + (f": {name_outcome(outcome)}" if outcome else "")
        told = f"[{mark}] {_make_plain_line(words)}"
        yield cut_text(f"    {'  ' * item.get('level', 0)}{told}", board.WIDTH)


def _render_gates(document: StatusDocument) -> Iterator[str]:
    if document["gates"]:
        yield "  gates"
    for name, gate in document["gates"].items():
        at = board.format_moment(gate.get("decided_at") or gate.get("requested_at", ""))
        by = f" by {gate['by']}" if "by" in gate else ""
        status = "not yet" if gate["status"] == "waiting" else gate["status"]
        told = f"{name}: {status}{by}{' ' + at if at else ''}"
        yield cut_text(f"    {_make_plain_line(told)}", board.WIDTH)
