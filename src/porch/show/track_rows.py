"""A track as rows and sentences: its phases, tasks and confirmations, and what was done so far."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.account.outcomes import Outcome, worst_outcome
from porch.account.phases import list_phases
from porch.machine.state import RunState, Standing
from porch.machine.track.track_status import NodeStatus, find_track_states, join_tasks
from porch.model.protocol import Agent, Human, Protocol, State
from porch.model.track_names import (
    CONTINUE,
    DONE,
    blocked_state,
    gate_of_state,
    moment_of_gate,
    state_name,
)
from porch.show.track_notes import list_open_notes
from porch.text.printable import describe_text

_MOST_LINES = 10
_MOST_FILES = 50
_MOST_NAMED = 5
_SHORT: Mapping[str, str] = {"DONE": "complete", "CANCELLED": "pending", "TODO": "pending"}
_OUTCOMES: Mapping[str, Outcome] = {"DONE": "passed", "CANCELLED": "skipped", "TODO": "not run"}


class TrackRow(Struct, frozen=True):
    """One line of the list: a phase, a task, or a confirmation."""

    id: str
    title: str
    status: NodeStatus
    level: int = 0  # of a phase; one more for what belongs to it, two for what belongs to a task
    outcome: Outcome = "working"

    @property
    def short_status(self) -> str:
        """In the three words of all plans."""
        is_open = self.outcome in ("working", "waiting")
        return _SHORT.get(self.status, "in_progress" if is_open else "pending")


def list_track_rows(protocol: Protocol, state: RunState) -> list[TrackRow]:
    """In the order of the walk; a phase stands before what belongs to it."""
    states = find_track_states(protocol, state)
    places = [state.positions[place] for place in state.decisions]
    # An approval that is asked again stands in a state of the engine, and names its gate as item.
    asked = {gate_of_state(each.state) for each in places} | {each.item for each in places}
    # Of a run that is over nobody works any more, whatever the plan says of its tasks.
    ended = {each.name: each.outcome for each in list_phases(protocol, state) if state.outcome}
    phases: dict[str, list[TrackRow]] = {}
    for kind in protocol.states.values():
        if kind.name in states.gates:
            status = states.gates[kind.name]
            level = 2 if kind.group in states.tasks else 1
            open_: Outcome = "stopped" if ended else "working"
            outcome = "waived" if status == "CANCELLED" else _OUTCOMES.get(status, open_)
            row = TrackRow(_gate_name(kind), f"confirmation, {status}", status, level, outcome)
        elif isinstance(kind.actor, Agent) and ":" not in kind.name:
            known = states.tasks[kind.group].status
            name = kind.title.removeprefix(kind.group).strip()
            outcome = _OUTCOMES.get(known) or ended.get(kind.group, "working")
            row = TrackRow(kind.group, f"{name}{_remark(known)}", known, 1, outcome)
        else:
            continue
        if {kind.name, row.id} & asked or any(e.state == blocked_state(kind.name) for e in places):
            row = replace(row, outcome="waiting")
        phases.setdefault(kind.description, []).append(row)
    return [
        row
        for phase, rows in phases.items()
        for row in (_phase_row(phase, rows, is_ended=bool(ended)), *rows)
    ]


def _phase_row(phase: str, rows: list[TrackRow], *, is_ended: bool) -> TrackRow:
    """It is over once all of it is, and has passed only if all of it has."""
    id_, _, name = phase.partition(" ")
    status = join_tasks(row.status for row in rows)
    is_over = is_ended or status in ("DONE", "CANCELLED")
    worst = worst_outcome(row.outcome for row in rows)
    return TrackRow(id_, name, status, 0, worst if is_over else _OUTCOMES.get(status, "working"))


def _remark(status: str) -> str:
    return f" ({status})" if status in ("BLOCKED", "CANCELLED") else ""


def _gate_name(kind: State) -> str:
    return kind.actor.name if isinstance(kind.actor, Human) else kind.title


def describe_question(protocol: Protocol, state: RunState, standing: Standing, human: Human) -> str:
    """The message of a confirmation, with its summary in front of the question."""
    if not human.title.endswith(CONTINUE):
        return human.title
    summary = "; ".join(_summarise(protocol, state, standing, human))
    return f"{human.title.removesuffix(CONTINUE)}Summary: {summary}. {CONTINUE}"


def _summarise(
    protocol: Protocol, state: RunState, standing: Standing, human: Human
) -> Iterator[str]:
    """In one line, what porch knows of it; nothing that an agent says of itself."""
    tasks = _list_tasks(protocol, state, standing)
    if tasks:
        done = sum(status == "DONE" for _, status in tasks)
        yield f"{done} of {len(tasks)} tasks done"
    if moment_of_gate(gate_of_state(standing.state)) == "before":
        yield from () if tasks else ("nothing is done yet",)
        return
    known = (state.recall(standing, path) for path in human.shows if path.endswith(f".{DONE}"))
    paid = [payload for payload in known if payload is not None]
    names = list(dict.fromkeys(str(name) for each in paid for name in each.get("files") or ()))
    more = len(names) - _MOST_NAMED + sum(int(each.get("more_files") or 0) for each in paid)
    told = [*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else ())]
    yield f"changed {', '.join(told)}" if names else "no file was changed"


def list_track_facts(
    protocol: Protocol, state: RunState, standing: Standing, human: Human
) -> Iterator[str]:
    """The summary of a confirmation: what porch knows, then what the agent says of itself."""
    known = ((path, state.recall(standing, path)) for path in human.shows)
    for path, payload in known:
        if payload is not None:
            name, _, exit_ = path.rpartition(".")
            yield from _describe_payload(protocol, name, exit_, payload)
    yield from _describe_tasks(protocol, state, standing)
    yield from _describe_waivers(protocol, state, standing)
    for note in list_open_notes(protocol, state, standing, human):
        yield note.line


def _describe_tasks(protocol: Protocol, state: RunState, standing: Standing) -> Iterator[str]:
    """Of a phase that is confirmed, how far each of its tasks is."""
    mine = [f"{id_} {status}" for id_, status in _list_tasks(protocol, state, standing)]
    if mine:
        yield f"tasks: {', '.join(mine)}"


def _list_tasks(
    protocol: Protocol, state: RunState, standing: Standing
) -> list[tuple[str, NodeStatus]]:
    """Those of the phase that is asked about; none where one task is."""
    kind, tasks = protocol.states[standing.state], find_track_states(protocol, state).tasks
    if kind.group in tasks:
        return []
    return [
        (each.group, tasks[each.group].status)
        for each in protocol.states.values()
        if each.description == kind.description and each.name == state_name(each.group)
    ]


def _describe_payload(
    protocol: Protocol, name: str, exit_: str, payload: Mapping[str, Any]
) -> Iterator[str]:
    if name == "said":
        yield from _describe_words(protocol, exit_, payload)
        return
    kind = protocol.states.get(name)
    who = _name_state(kind) if kind is not None else name
    if exit_ == DONE:
        yield f"{who}: {_describe_files(payload)}"
    elif payload.get("text"):
        yield f"{who}, {exit_} by {payload.get('by', 'somebody')}: {describe_text(payload['text'])}"


def _describe_files(payload: Mapping[str, Any]) -> str:
    if payload.get("unchanged"):
        return str(payload["unchanged"])
    names = [str(each) for each in payload.get("files") or ()]
    over = len(names) - _MOST_FILES
    told = [*names[:_MOST_FILES], *([f"and {over} more"] if over > 0 else ())]
    left = payload.get("more_files")
    told += [f"and {left} more, WHICH NO CONFIRMATION COVERS"] if left else []
    return f"changed {', '.join(told)}" if told else "done"


def _name_state(kind: State) -> str:
    return _gate_name(kind) if gate_of_state(kind.name) else kind.group


def _describe_words(protocol: Protocol, name: str, payload: Mapping[str, Any]) -> Iterator[str]:
    """At most ten lines, and marked: a claim is not a fact."""
    kind = protocol.states.get(name)
    lines = [line for line in describe_text(payload.get("text", "")).splitlines() if line.strip()]
    for line in lines[:_MOST_LINES]:
        yield f"the agent of {kind.group if kind else name} says: {line.strip()}"


def _describe_waivers(protocol: Protocol, state: RunState, standing: Standing) -> Iterator[str]:
    """Told in every question of the same phase, so that nobody takes a waiver for a yes."""
    here = protocol.states[standing.state].description
    waived = [
        _gate_name(protocol.states[gate])
        for gate, status in find_track_states(protocol, state).gates.items()
        if status == "CANCELLED" and protocol.states[gate].description == here
    ]
    if waived:
        yield f"waived in this phase: {', '.join(waived)}"
