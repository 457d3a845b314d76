"""How far each task and each confirmation of a track is: told from its journal, never stored."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from porch.machine.facts import Payload
from porch.machine.state import CHANGED, RunState
from porch.model.memory_paths import settled_path
from porch.model.protocol import BLOCKED, Agent, Human, Protocol
from porch.model.track_names import DONE, blocked_state, gate_of_state, moment_of_gate, state_name

NodeStatus = Literal["TODO", "IN_PROGRESS", "DONE", "BLOCKED", "CANCELLED"]
CLOSED = ("DONE", "CANCELLED")
_APPROVALS = ("approved",)
_REFUSALS = ("rejected", "declined", "stopped", "changes", "undecided", "retry")
_HELPERS = ("", ":issues", ":fallback", ":halted")


class TaskState(Struct, frozen=True):
    """The status of a task, and what stands in its way."""

    status: NodeStatus
    blocker: str = ""


class TrackStates(Struct, frozen=True):
    """Everything that a plan shows of its run: tasks by id, gates by the names of their states."""

    tasks: Mapping[str, TaskState]
    gates: Mapping[str, NodeStatus]
    outcome: str = ""


def find_track_states(protocol: Protocol, state: RunState) -> TrackStates:
    gates = _gates_by_node(protocol)
    known = {
        gate: _gate_status(protocol, state, gate) for names in gates.values() for gate in names
    }
    tasks = {}
    for kind in protocol.states.values():
        if isinstance(kind.actor, Agent) and ":" not in kind.name:
            mine = {gate: known[gate] for gate in gates.get(kind.group, ())}
            tasks[kind.group] = _task_state(state, kind.name, mine)
            if tasks[kind.group].status == "CANCELLED":
                # Whoever gives a task up gives up its open questions, too.
                known.update({g: "CANCELLED" for g, s in mine.items() if s != "DONE"})
    return TrackStates(tasks, known, state.outcome)


def _gates_by_node(protocol: Protocol) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for kind in protocol.states.values():
        if gate_of_state(kind.name) == kind.name:
            found.setdefault(kind.group, []).append(kind.name)
    return found


def _memory(state: RunState) -> Mapping[str, Payload]:
    return state.memory.get(("", ""), {})


def _gate_status(protocol: Protocol, state: RunState, gate: str) -> NodeStatus:
    """Where it stands, else its last verdict: of each gate only that is remembered."""
    actor = protocol.states[gate].actor
    for standing in state.positions.values():
        if standing.state == CHANGED and isinstance(actor, Human) and standing.item == actor.name:
            return "BLOCKED"
        if gate_of_state(standing.state) == gate:
            return "IN_PROGRESS" if standing.state == gate else "BLOCKED"
    memory = _memory(state)
    for payload in _recall_verdicts(memory, gate, (*_APPROVALS, "waived")):
        return "CANCELLED" if payload.get("waived") else "DONE"
    return "BLOCKED" if any(_recall_verdicts(memory, gate, _REFUSALS)) else "TODO"


def _recall_verdicts(
    memory: Mapping[str, Payload], gate: str, exits: tuple[str, ...]
) -> Iterator[Payload]:
    """What is remembered under one of these exits; a waiver says so itself."""
    known = memory.get(settled_path(gate))
    if known is not None and known.get("exit") in exits:
        yield known
    for helper in _HELPERS:
        for exit_ in exits:
            payload = memory.get(f"{gate}{helper}.{exit_}")
            if payload is not None:
                yield {**payload, "waived": True} if exit_ == "waived" else payload


def _task_state(state: RunState, work: str, gates: Mapping[str, NodeStatus]) -> TaskState:
    memory, standing = _memory(state), {each.state for each in state.positions.values()}
    settled = memory.get(settled_path(work), {})
    if f"{blocked_state(work)}.skip" in memory or settled_path(blocked_state(work)) in memory:
        return TaskState("CANCELLED")
    is_done = f"{work}.{DONE}" in memory or settled.get("exit") == DONE
    after = [status for gate, status in gates.items() if moment_of_gate(gate) == "after"]
    if is_done and work not in standing and all(status in CLOSED for status in after):
        return TaskState("DONE")
    if settled.get("exit") == BLOCKED:
        return TaskState(settled.get("status", "BLOCKED"))
    return _open_task_state(state, work, gates, standing, is_done=is_done)


def _open_task_state(
    state: RunState,
    work: str,
    gates: Mapping[str, NodeStatus],
    standing: set[str],
    *,
    is_done: bool,
) -> TaskState:
    if work in standing:
        return TaskState("IN_PROGRESS")
    if blocked_state(work) in standing:
        return TaskState("BLOCKED", "porch: the agent could not go on")
    for gate, status in gates.items():
        if status == "BLOCKED":
            return TaskState("BLOCKED", f"confirm:{moment_of_gate(gate)}")
    has_begun = is_done or state.visits.get(("", work, ""), 0) > 0
    return TaskState("IN_PROGRESS" if has_begun else "TODO")


def join_moments(statuses: Iterable[NodeStatus]) -> NodeStatus:
    """One status for a confirm that is asked at several moments: done only if all of them are."""
    found = set(statuses)
    if "BLOCKED" in found:
        return "BLOCKED"
    if found == {"CANCELLED"}:
        return "CANCELLED"
    if found <= {"DONE", "CANCELLED"}:
        return "DONE"
    return "IN_PROGRESS" if found != {"TODO"} and found != {"TODO", "CANCELLED"} else "TODO"


def join_tasks(statuses: Iterable[NodeStatus]) -> NodeStatus:
    """The status of a phase, from its tasks and its own confirmations."""
    found = set(statuses)
    for status in ("BLOCKED", "IN_PROGRESS"):
        if status in found:
            return status
    if found == {"CANCELLED"}:
        return "CANCELLED"
    return (
        "DONE"
        if found and found <= {"DONE", "CANCELLED"}
        else ("TODO" if found <= {"TODO"} else "IN_PROGRESS")
    )


def find_gate_state(protocol: Protocol, word: str) -> str:
    """The gate or the task that somebody names, as a state; nothing if there is none."""
    for kind in protocol.states.values():
        named = kind.actor.name if isinstance(kind.actor, Human) else kind.title
        if gate_of_state(kind.name) == kind.name and word in (named, kind.name):
            return kind.name
    work = state_name(word)
    kind_ = protocol.states.get(work)
    return work if kind_ is not None and isinstance(kind_.actor, Agent) else ""
