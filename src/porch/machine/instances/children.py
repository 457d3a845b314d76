"""Children of an instance, begun from specs and waited for, and what follows from a fact by itself.

What follows belongs to the record of the fact, so that no crash falls in between.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.machine import moves as m
from porch.machine.evolve import evolve_state
from porch.machine.exits.accepted_exits import LAST
from porch.machine.exits.departure import empty_instance_moves, exit_moves
from porch.machine.facts import Fact, Payload
from porch.machine.instances.child_specs import (
    child_part,
    find_latest_child,
    is_merged,
    list_awaited,
    make_child_spec,
)
from porch.machine.instances.waiting_children import begin_or_wait_moves, waiting_moves
from porch.machine.path_values import REVISION_PATH, look_up_path
from porch.machine.payload_equality import digest_payload
from porch.machine.records import JournalRecord
from porch.machine.state import Instance, RunState, Standing
from porch.model.protocol import Children, Join, Protocol

BEGUN = "begun"
# Of an end that shows no exit.
NO_REASON: Mapping[str, Any] = {"kind": "failed", "payload": {}}
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
    part, parent = child_part(actor, standing.state), state.instances[standing.instance].spec
    planned = {
        str(spec["id"]): make_child_spec(protocol, actor, part, parent, spec) for spec in specs
    }
    mine: dict[str, str] = {}
    moves: dict[str, list[m.Move]] = {}
    for key, spec in planned.items():
        mine[key], moves[key] = _place_child(
            protocol, state, standing, key=key, spec=spec, others=[*mine.values()], part=part
        )
    waits = _awaited_children(state, standing.instance, actor, specs, mine)
    for key, name in mine.items():
        yield from moves[key]
        yield from begin_or_wait_moves(protocol, state, name, waits.get(key, ()), moves[key])
    for name, known in _living_children(state, standing.instance):
        if known.key not in planned:
            yield from cancel_instance_moves(state, name)
    yield m.Marked(standing.position, BEGUN, [*mine.values()])


def _awaited_children(
    state: RunState,
    parent: str,
    actor: Children,
    specs: Sequence[Mapping[str, Any]],
    mine: Mapping[str, str],
) -> dict[str, tuple[str, ...]]:
    """By id, the instances that each planned child waits for; who has merged is not waited for."""
    found: dict[str, tuple[str, ...]] = {}
    for spec in specs:
        names = [
            mine.get(id_, find_latest_child(state, parent, id_))
            for id_ in list_awaited(actor, spec)
        ]
        found[str(spec["id"])] = tuple(n for n in names if not _has_merged(state, n))
    return found


def _has_merged(state: RunState, name: str) -> bool:
    return name in state.instances and is_merged(state.instances[name])


def _place_child(
    protocol: Protocol,
    state: RunState,
    standing: Standing,
    *,
    key: str,
    spec: Payload,
    others: Sequence[str],
    part: str,
) -> tuple[str, list[m.Move]]:
    """The instance that does a spec, and what has to happen to it before it begins."""
    said = digest_payload(spec)
    name = find_latest_child(state, standing.instance, key)
    known = state.instances.get(name)
    if known and known.outcome in ("", "complete") and known.digest == said:
        return name, []
    if known and not known.outcome:
        return name, list(_respecify_moves(protocol, state, name, spec, said))
    # Never revived: its branch was squashed or archived, so new work begins from where that is.
    fresh = _free_child_name(state, standing.instance, key, others)
    move = _spawn_move(state, standing, fresh, key=key, spec=spec, before=known, part=part)
    return fresh, [move]


def _rework_moves(
    protocol: Protocol, state: RunState, standing: Standing, actor: Children
) -> Iterator[m.Move]:
    """The same specs once more, from where the branch is now, with what failed."""
    failed = look_up_path(protocol, state, standing, actor.rework) or []
    report = look_up_path(protocol, state, standing, standing.because)
    specs = look_up_path(protocol, state, standing, actor.specs) or []
    mine: dict[str, str] = {}
    spawned: dict[str, list[m.Move]] = {}
    # Of an older plan only what fails now: how its other children ended was told then.
    for key in dict.fromkeys((*(str(spec["id"]) for spec in specs), *failed)):
        name = find_latest_child(state, standing.instance, key)
        known = state.instances.get(name)
        if known and key in failed:
            name = _free_child_name(state, standing.instance, key, [*mine.values()])
            move = _spawn_move(
                state,
                standing,
                name,
                key=key,
                spec=known.spec,
                before=known,
                report=report,
                part=known.part,
            )
            spawned[key] = [move]
        if known:
            mine[key] = name
    waits = _awaited_children(state, standing.instance, actor, specs, mine)
    for key, moves in spawned.items():
        yield from moves
        yield from begin_or_wait_moves(protocol, state, mine[key], waits.get(key, ()), moves)
    yield m.Marked(standing.position, BEGUN, [*mine.values()])


def _spawn_move(
    state: RunState,
    standing: Standing,
    name: str,
    *,
    key: str,
    spec: Payload,
    before: Instance | None,
    part: str,
    report: Payload | None = None,
) -> m.Spawned:
    parent = state.instances[standing.instance]
    revision = None
    if before is not None:
        why = report or before.why
        revision = {"kind": "rework", "payload": {"outcome": before.outcome, "why": why}}
    branch = f"{state.instances[''].branch}.{name}"
    said, into = digest_payload(spec), parent.branch
    return m.Spawned(name, standing.instance, key, spec, said, branch, into, revision, part)


def _respecify_moves(
    protocol: Protocol, state: RunState, name: str, spec: Payload, said: str
) -> Iterator[m.Move]:
    """A living child is told its new spec, and plans anew; one that waits has no plan yet."""
    if state.instances[name].after:
        yield m.Told(name, spec, said, state.instances[name].revision)
        return
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
    epoch = protocol.part(state.instances[name].part).epoch
    yield from (m.Charged(f"{name}/{budget}", 0) for budget in (epoch.resets if epoch else ()))


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
        "failed": [{"id": k.key, "spec": k.spec, "why": {**NO_REASON, **k.why}} for k in lost],
        "cancelled": [k.key for k in known if k.outcome == "abandoned"],
    }


def _children_of(state: RunState, parent: str) -> Iterator[tuple[str, Instance]]:
    for name, known in state.instances.items():
        if name and known.parent == parent:
            yield name, known


def _living_children(state: RunState, parent: str) -> list[tuple[str, Instance]]:
    return [(name, known) for name, known in _children_of(state, parent) if not known.outcome]


def _free_child_name(state: RunState, parent: str, key: str, others: Sequence[str]) -> str:
    front = f"{parent}." if parent else ""
    name, number = f"{front}{key}", 2
    while name in state.instances or name in others:
        name, number = f"{front}{key}-r{number}", number + 1
    return name


def add_follow_up_moves(protocol: Protocol, state: RunState, fact: Fact, moves: Moves) -> Moves:
    """The moves of a fact in a tree, and of everything that follows from it."""
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
            case Children() if moves := waiting_moves(
                protocol, state, state.marked(standing.position, BEGUN)
            ):
                yield moves
            case Children() if moves := children_settled_moves(protocol, state, standing):
                yield moves
            case _:
                continue


def _deadlock_moves(protocol: Protocol, state: RunState) -> Moves:
    """Who only waits, for nobody, ends as failed: silence is the worst answer."""
    waits: dict[str, dict[str, list[str]]] = {}
    for each in state.positions.values():
        missing = _missing_paths(protocol, state, each)
        waits.setdefault(each.instance, {})[each.position] = missing
    for name, known in state.instances.items():
        mine = waits.get(name, {})
        if not known.outcome and not known.after and all(mine.values()):
            why = {"kind": "Deadlock", "payload": {"waits": mine}}
            return (*empty_instance_moves(state, name), m.Ended("failed", name, why))
    return ()


def _missing_paths(protocol: Protocol, state: RunState, standing: Standing) -> list[str]:
    waits_for = protocol.states[standing.state].waits_for
    return [path for path in waits_for if state.recall(standing, path) is None]
