"""The status of a run as plain data: what its status file, its picture and its prompts show."""

from collections.abc import Callable, Iterator
from typing import Any

from porch.machine.facts import Item
from porch.machine.state import Gate, Standing, State
from porch.model.protocol import Protocol

LOG_SHOWN = 50
Document = dict[str, Any]
GATE_STATUSES = ("waiting", "pending", "approved", "rejected")

# As they print: with a finished item of one loop and a standing one of another, work goes on.
_RANK = ("complete", "pending", "in_progress")


def main_position(state: State) -> Standing | None:
    """The oldest position of the run itself, else of any instance inside it."""
    standing = state.positions.values()
    return next((each for each in standing if not each.instance), next(iter(standing), None))


def title_of(protocol: Protocol, state: State, standing: Standing) -> str:
    """What a position is about: its item's title, else its state's."""
    kind = protocol.states.get(standing.state)
    if kind is None:
        return standing.state
    item = state.item_of(standing, kind.loop) if kind.loop else None
    return item.title if item else kind.title or kind.group


def _each_gate(protocol: Protocol, state: State) -> Iterator[tuple[str, dict[str, str]]]:
    """Every gate of the protocol, then what is known of gates that it no longer has."""
    asked = {each.name for each in state.decisions.values() if each.kind == "gate"}
    for name in dict.fromkeys((*protocol.gates, *state.gates)):
        yield name, _gate(state.gates.get(name), name in asked)


def _gate(known: Gate | None, asked: bool) -> dict[str, str]:
    """Only a gate that is being asked says pending: whoever greps for it must not be misled."""
    if known is None or not (asked or known.status in ("approved", "rejected")):
        return {"status": "waiting"}
    if asked:
        return {"status": "pending", "requested_at": known.requested_at}
    told = {
        "status": known.status,
        "requested_at": known.requested_at,
        "decided_at": known.decided_at,
        "by": known.by,
    }
    return {key: value for key, value in told.items() if value}


def _items(state: State) -> Iterator[Item]:
    mine = (known for (instance, _), known in state.items.items() if not instance)
    return (item for known in mine for item in known.items)


def _phases(state: State) -> dict[str, dict[str, str]]:
    if not state.items:
        return {}
    standing = {each.item for each in state.positions.values() if not each.instance}
    found: dict[str, int] = {}
    for (instance, _), known in state.items.items():
        if instance:
            continue
        for item in known.items:
            rank = 2 if item.id in standing else 0 if item.id in known.finished else 1
            found[item.id] = max(rank, found.get(item.id, 0))
    return {name: {"status": _RANK[rank]} for name, rank in found.items()}


def _plan_phase(item: Item) -> dict[str, str]:
    return {"id": item.id, "title": item.title, "description": item.description}


def document(protocol: Protocol, state: State) -> Document:
    """The status of a run as plain data, keys in the order in which they are printed."""
    told = {key: value for section in SECTIONS for key, value in section[1](protocol, state)}
    return {**told, "log": list(state.log[-LOG_SHOWN:])}


Inputs = Callable[[Protocol, State], tuple[object, ...]]
Part = tuple[str, Any]
Parts = Callable[[Protocol, State], Iterator[Part]]


def _identity(_: Protocol, state: State) -> Iterator[Part]:
    yield "id", state.run.id
    yield "title", state.run.title
    yield "protocol", state.run.protocol


def _place(protocol: Protocol, state: State) -> Iterator[Part]:
    main = main_position(state)
    yield "state", state.outcome or (main.label if main else "")
    if state.paused:
        yield "paused", True
    is_at_work = main is not None and not state.outcome
    yield "current_phase", title_of(protocol, state, main) if main and is_at_work else ""


def _worktree(_: Protocol, state: State) -> Iterator[Part]:
    yield "worktree", state.run.worktree


def _gates(protocol: Protocol, state: State) -> Iterator[Part]:
    yield "gates", dict(_each_gate(protocol, state))


def _progress(_: Protocol, state: State) -> Iterator[Part]:
    yield "phases", _phases(state)


def _plan(_: Protocol, state: State) -> Iterator[Part]:
    yield "plan_phases", [_plan_phase(item) for item in _items(state)]


def _turns(_: Protocol, state: State) -> Iterator[Part]:
    yield "iteration", state.turns


def _start(_: Protocol, state: State) -> Iterator[Part]:
    yield "started_at", state.run.started_at


def _last(_: Protocol, state: State) -> Iterator[Part]:
    yield "last_updated", state.at


# What each section but the log is drawn from: a state never changes its parts in place, so the
# same objects mean the same text.
SECTIONS: tuple[tuple[Inputs, Parts], ...] = (
    (lambda _, s: (s.run,), _identity),
    (lambda p, s: (p, s.positions, s.items, s.outcome, s.paused), _place),
    (lambda _, s: (s.run,), _worktree),
    (lambda p, s: (p, s.gates, s.decisions), _gates),
    (lambda _, s: (s.items, s.positions), _progress),
    (lambda _, s: (s.items,), _plan),
    (lambda _, s: (s.turns,), _turns),
    (lambda _, s: (s.run,), _start),
    (lambda _, s: (s.at,), _last),
)
