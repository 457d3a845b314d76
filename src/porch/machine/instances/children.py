"""Children of an instance, begun from specs and waited for, and what follows from a fact by itself.

What follows belongs to the record of the fact, so that no crash falls in between.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.machine import moves as m
from porch.machine.evolve import evolve_state
from porch.machine.exits.accepted_exits import LAST
from porch.machine.exits.departure import empty_instance_moves, entry_moves, exit_moves
from porch.machine.exits.interrupts import Departure
from porch.machine.facts import Fact, Payload
from porch.machine.path_values import REVISION_PATH, look_up_path
from porch.machine.payload_equality import digest_payload
from porch.machine.records import JournalRecord
from porch.machine.state import Instance, RunState, Standing
from porch.model.protocol import Children, Join, Protocol, Target

BEGUN = "begun"
Moves = tuple[m.Move, ...]


def begin_children_moves(
    protocol: Protocol, state: RunState, standing: Standing, actor: Children
) -> Iterator[m.Move]:
    """The moves of entering: what the plan names lives, what it no longer names is cancelled."""
    again = actor.rework and standing.because == ".".join(actor.rework.split(".")[:2])
    if again:
        yield from _rework_moves(protocol, state, standing, actor)
    else:
        yield from _reconcile_moves(protocol, state, standing, actor)


def _reconcile_moves(
    protocol: Protocol, state: RunState, standing: Standing, actor: Children
) -> Iterator[m.Move]:
    specs = look_up_path(protocol, state, standing, actor.specs) or []
    planned = {str(spec["id"]): _inherited_spec(state, standing, spec) for spec in specs}
    mine: list[str] = []
    for key, spec in planned.items():
        name, moves = _place_child(protocol, state, standing, key, spec, mine)
        mine.append(name)
        yield from moves
    for name, known in _living_children(state, standing.instance):
        if known.key not in planned:
            yield from cancel_instance_moves(state, name)
    yield m.Marked(standing.position, BEGUN, mine)


def _place_child(
    protocol: Protocol,
    state: RunState,
    standing: Standing,
    key: str,
    spec: Payload,
    others: Sequence[str],
) -> tuple[str, list[m.Move]]:
    """The instance that does a spec, and what has to happen to it."""
    said = digest_payload(spec)
    name = _latest_child(state, standing.instance, key)
    known = state.instances.get(name)
    if known and known.outcome in ("", "complete") and known.digest == said:
        return name, []
    if known and not known.outcome:
        return name, list(_respecify_moves(protocol, state, name, spec, said))
    # Never revived: its branch was squashed or archived, so new work begins from where that is.
    fresh = _free_child_name(state, standing.instance, key, others)
    return fresh, list(_spawn_moves(protocol, state, standing, fresh, key, spec, known))


def _rework_moves(
    protocol: Protocol, state: RunState, standing: Standing, actor: Children
) -> Iterator[m.Move]:
    """The same specs once more, from where the branch is now, with what failed."""
    failed = look_up_path(protocol, state, standing, actor.rework) or []
    report = look_up_path(protocol, state, standing, standing.because)
    mine: list[str] = []
    planned = [
        str(spec["id"]) for spec in look_up_path(protocol, state, standing, actor.specs) or []
    ]
    # Of an older plan only what fails now: how its other children ended was told then.
    for key in dict.fromkeys((*planned, *failed)):
        name = _latest_child(state, standing.instance, key)
        known = state.instances.get(name)
        if known and key in failed:
            name = _free_child_name(state, standing.instance, key, mine)
            yield from _spawn_moves(protocol, state, standing, name, key, known.spec, known, report)
        if known:
            mine.append(name)
    yield m.Marked(standing.position, BEGUN, mine)


def _spawn_moves(
    protocol: Protocol,
    state: RunState,
    standing: Standing,
    name: str,
    key: str,
    spec: Payload,
    before: Instance | None,
    report: Payload | None = None,
) -> Iterator[m.Move]:
    parent = state.instances[standing.instance]
    revision = None
    if before is not None:
        why = report or before.why
        revision = {"kind": "rework", "payload": {"outcome": before.outcome, "why": why}}
    branch = f"{state.instances[''].branch}.{name}"
    yield m.Spawned(
        name, standing.instance, key, spec, digest_payload(spec), branch, parent.branch, revision
    )
    yield from _arrival_moves(protocol, state, name)


def _respecify_moves(
    protocol: Protocol, state: RunState, name: str, spec: Payload, said: str
) -> Iterator[m.Move]:
    """A living child is told its new spec, and plans anew."""
    revision = {"kind": "respecified", "payload": {"spec": spec}}
    yield m.Told(name, spec, said, revision)
    # Remembered too, so that it is newer than whatever came back to the planner before.
    yield m.Remembered(REVISION_PATH, revision, "", name)
    # What it said about the old spec may well be said again about the new one.
    last = [path for path in state.memory.get((name, ""), {}) if path.startswith(LAST)]
    yield from (m.Forgot(path, "", name) for path in last)
    for position, standing in state.positions.items():
        if standing.instance == name:
            yield m.Left(position)
    epoch = protocol.epoch
    yield from (m.Charged(f"{name}/{budget}", 0) for budget in (epoch.resets if epoch else ()))
    yield from _arrival_moves(protocol, state, name)


def _arrival_moves(protocol: Protocol, state: RunState, name: str) -> Iterator[m.Move]:
    nobody = Standing("", name, "", "", 0, "")
    yield from entry_moves(
        Departure(protocol, state, nobody, "", {}), Target(protocol.initial.state)
    )


def cancel_instance_moves(state: RunState, name: str) -> Iterator[m.Move]:
    """An instance and all below it stop; nothing of theirs is lost, it is archived."""
    yield from empty_instance_moves(state, name)
    yield m.Ended("abandoned", name)


def children_settled_moves(
    protocol: Protocol, state: RunState, standing: Standing
) -> tuple[m.Move, ...]:
    """The exit of a children state once none of them lives; nothing before."""
    names = state.marked(standing.position, BEGUN)
    if names is None or any(not state.instances[name].outcome for name in names):
        return ()
    return exit_moves(protocol, state, standing, "settled", summarise_outcomes(state, names))


def summarise_outcomes(state: RunState, names: list[str]) -> dict[str, Any]:
    """What became of each: criteria are never dropped silently, so a failure keeps its spec."""
    known = [state.instances[name] for name in names]
    lost = [k for k in known if k.outcome == "failed"]
    return {
        "merged": [dict(k.merged) for k in known if k.outcome == "complete"],
        "failed": [{"id": k.key, "spec": k.spec, "why": k.why} for k in lost],
        "cancelled": [k.key for k in known if k.outcome == "abandoned"],
    }


def _inherited_spec(state: RunState, standing: Standing, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A child's spec inherits what the plan does not say about it."""
    return {**state.instances[standing.instance].spec, **spec}


def _children_of(state: RunState, parent: str) -> Iterator[tuple[str, Instance]]:
    for name, known in state.instances.items():
        if name and known.parent == parent:
            yield name, known


def _living_children(state: RunState, parent: str) -> list[tuple[str, Instance]]:
    return [(name, known) for name, known in _children_of(state, parent) if not known.outcome]


def _latest_child(state: RunState, parent: str, key: str) -> str:
    return next((name for name, k in reversed([*_children_of(state, parent)]) if k.key == key), "?")


def _free_child_name(state: RunState, parent: str, key: str, others: Sequence[str]) -> str:
    front = f"{parent}." if parent else ""
    name, number = f"{front}{key}", 2
    while name in state.instances or name in others:
        name, number = f"{front}{key}-r{number}", number + 1
    return name


def add_follow_up_moves(protocol: Protocol, state: RunState, fact: Fact, moves: Moves) -> Moves:
    """The moves of a fact and of everything that follows from it."""
    if not protocol.spec:
        return moves
    state = _state_after(state, fact, moves)
    while not state.outcome and (more := _next_moves(protocol, state)):
        moves, state = (*moves, *more), _state_after(state, fact, more)
    return moves


def _next_moves(protocol: Protocol, state: RunState) -> Moves:
    return next(_follow_up_moves(protocol, state), ()) or _deadlock_moves(protocol, state)


def _state_after(state: RunState, fact: Fact, moves: Moves) -> RunState:
    return evolve_state(state, JournalRecord(state.seq, state.at, fact, moves))


def _follow_up_moves(protocol: Protocol, state: RunState) -> Iterator[Moves]:
    for standing in state.positions.values():
        kind = protocol.states[standing.state]
        match kind.actor:
            case Join() if all(state.recall(standing, p) is not None for p in kind.waits_for):
                yield exit_moves(protocol, state, standing, "ready", {})
            case Children() as actor if state.marked(standing.position, BEGUN) is None:
                yield tuple(begin_children_moves(protocol, state, standing, actor))
            case Children() if moves := children_settled_moves(protocol, state, standing):
                yield moves
            case _:
                continue


def _deadlock_moves(protocol: Protocol, state: RunState) -> Moves:
    """Who only waits, for nobody, ends as failed: silence is the worst answer."""
    for name, known in state.instances.items():
        mine = [each for each in state.positions.values() if each.instance == name]
        waits = {each.position: _missing_paths(protocol, state, each) for each in mine}
        if not known.outcome and all(waits.values()):
            why = {"kind": "Deadlock", "payload": {"waits": waits}}
            return (*empty_instance_moves(state, name), m.Ended("failed", name, why))
    return ()


def _missing_paths(protocol: Protocol, state: RunState, standing: Standing) -> list[str]:
    waits_for = protocol.states[standing.state].waits_for
    return [path for path in waits_for if state.recall(standing, path) is None]
