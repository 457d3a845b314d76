"""What people take back in a track: a confirmation that is not needed, a task, something done."""

from collections.abc import Iterator
from typing import Any

from porch.machine import approvals
from porch.machine import moves as m
from porch.machine.exits.departure import exit_moves
from porch.machine.facts import Payload, Wish
from porch.machine.rollback import rollback_moves, rollback_problem
from porch.machine.state import RunState, Standing
from porch.machine.track.track_status import CLOSED, TrackStates, find_track_states
from porch.model.memory_paths import settled_path
from porch.model.protocol import BLOCKED, TRACK, Human, Panel, Protocol
from porch.model.track_names import (
    DONE,
    REOPENED,
    blocked_state,
    gate_of_state,
    moment_of_gate,
    state_name,
)


def find_track_problem(protocol: Protocol, state: RunState, wish: Wish) -> str:
    """Why something cannot be cancelled or reopened; nothing if it can."""
    target = str(wish.data.get("state", ""))
    if protocol.subject != TRACK:
        return "only what belongs to a track can be cancelled or reopened"
    if not wish.text.strip():
        return f"to {wish.kind} something needs a reason"
    status = _status_of(protocol, find_track_states(protocol, state), target)
    if not status:
        return f"'{target}' is no confirmation and no task of this track"
    if wish.kind == "cancel":
        return f"it is {status} already; to take that back: porch reopen" * (status in CLOSED)
    if status not in CLOSED:
        return f"it is {status}, so there is nothing to reopen"
    return rollback_problem(protocol, state, _rollback_wish(_place_of(protocol, target)))


def _status_of(protocol: Protocol, states: TrackStates, target: str) -> str:
    """Nothing for a state that is neither the one nor the other."""
    kind = protocol.states.get(target)
    if kind is None or target in states.gates:
        return states.gates.get(target, "")
    is_task = kind.group in states.tasks and target == state_name(kind.group)
    return states.tasks[kind.group].status if is_task else ""


def _rollback_wish(target: str) -> Wish:
    return Wish(id="", kind="rollback", data={"state": target})


def cancel_moves(protocol: Protocol, state: RunState, wish: Wish) -> Iterator[m.Move]:
    """A waiver: said by a person, with a reason, and told wherever the gate is told."""
    target, why = str(wish.data["state"]), {"text": wish.text, "by": wish.who}
    if gate_of_state(target):
        yield from _cancel_gate(protocol, state, wish, target, why)
        return
    group, standing = protocol.states[target].group, _standing_in(state, target)
    yield from _give_up_task(state, target, standing, why)
    for gate in _gates_of(protocol, state, group):
        yield from _cancel_gate(protocol, state, wish, gate, why)
    if standing is not None:
        exit_ = BLOCKED if standing.state == target else "skip"
        yield from exit_moves(protocol, state, standing, exit_, why)


def _standing_in(state: RunState, target: str) -> Standing | None:
    """At the work of a task, or where a person is asked about it."""
    places = (target, blocked_state(target))
    return next((each for each in state.positions.values() if each.state in places), None)


def _gates_of(protocol: Protocol, state: RunState, group: str) -> Iterator[str]:
    known = find_track_states(protocol, state).gates
    for gate, status in known.items():
        if protocol.states[gate].group == group and status not in CLOSED:
            yield gate


def _give_up_task(
    state: RunState, target: str, standing: Standing | None, why: Payload
) -> Iterator[m.Move]:
    """Whoever comes to it, or stands in it, goes past it."""
    blocked = blocked_state(target)
    if f"{target}.{DONE}" in state.memory.get(("", ""), {}):
        yield m.Remembered(f"{blocked}.skip", why)
    elif standing is None:
        yield m.Remembered(settled_path(target), {"exit": BLOCKED, "status": "CANCELLED", **why})
        yield m.Remembered(settled_path(blocked), {"exit": "skip", **why})
    elif standing.state == target:
        yield m.Remembered(settled_path(blocked), {"exit": "skip", **why})


def _cancel_gate(
    protocol: Protocol, state: RunState, wish: Wish, gate: str, why: Payload
) -> Iterator[m.Move]:
    actor, waived = protocol.states[gate].actor, {**why, "waived": True}
    standing = next((p for p in state.positions.values() if gate_of_state(p.state) == gate), None)
    if isinstance(actor, Human):
        yield from _close_changed_question(state, actor.name)
        yield m.GateNoted(actor.name, "waived", wish.who)
    if standing is None:
        exit_ = "waived" if isinstance(actor, Human) else "approved"
        yield m.Remembered(settled_path(gate), {"exit": exit_, **waived})
        return
    if standing.position in state.decisions:
        yield m.Closed(standing.position, "waived", wish.text, wish.who, wish.channel)
    is_review = isinstance(protocol.states[standing.state].actor, Panel)
    yield from exit_moves(protocol, state, standing, "approved" if is_review else "waived", waived)


def _close_changed_question(state: RunState, gate: str) -> Iterator[m.Move]:
    asked = approvals.open_questions(state).get(gate)
    if asked is not None:
        yield m.Forgot(approvals.FOUND, gate)
        yield m.Left(asked.position)


def reopen_moves(protocol: Protocol, state: RunState, wish: Wish) -> Iterator[m.Move]:
    """Go back to it; what was done behind it stays done, and is confirmed again."""
    target = str(wish.data["state"])
    if state.outcome:
        yield m.Reopened()
    yield from back_moves(protocol, state, target)
    yield m.Remembered(f"{REOPENED}{target}", {"text": wish.text, "by": wish.who})


def back_moves(
    protocol: Protocol, state: RunState, target: str, answered: str = ""
) -> Iterator[m.Move]:
    """A rollback that keeps work; where ways part, to the fork, so that nobody is left behind."""
    place = _place_of(protocol, target)
    yield from rollback_moves(protocol, state, _rollback_wish(place), answered)
    for name, payload in _still_settled(protocol, state, target, place):
        yield m.Remembered(settled_path(name), payload)
    yield m.Forgot(settled_path(target))


def _place_of(protocol: Protocol, target: str) -> str:
    return protocol.states[target].beside or target


def _still_settled(
    protocol: Protocol, state: RunState, target: str, place: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tasks behind the place that are done or given up, and what was confirmed before them.

    Of the target's own way also what lies in front of it.
    """
    states, order, group = (
        find_track_states(protocol, state), protocol.order, protocol.states[target].group,
    )  # fmt: skip
    for name, kind in protocol.states.items():
        if name == target or order(name) <= order(place):
            continue
        is_ahead = kind.group == group and order(name) < order(target)
        is_begun = kind.group not in states.tasks or states.tasks[kind.group].status in CLOSED
        if gate_of_state(name) == name:
            is_kept = is_ahead or (moment_of_gate(name) == "before" and is_begun)
            if is_kept and states.gates[name] == "DONE":
                yield name, {"exit": "approved", "source": "before it was reopened"}
        elif kind.group in states.tasks and ":" not in name:
            yield from _settled_task(name, state)


def _settled_task(name: str, state: RunState) -> Iterator[tuple[str, dict[str, Any]]]:
    memory = state.memory.get(("", ""), {})
    if f"{blocked_state(name)}.skip" in memory:
        yield name, {"exit": BLOCKED, "status": "CANCELLED"}
        yield blocked_state(name), {"exit": "skip", **memory[f"{blocked_state(name)}.skip"]}
    elif f"{name}.{DONE}" in memory:
        yield name, {"exit": DONE, "source": "before it was reopened"}
