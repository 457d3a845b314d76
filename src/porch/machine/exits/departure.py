"""Leaving a position by an exit: which edge, what it charges, and where it leads."""

from collections.abc import Iterator
from typing import assert_never

from msgspec.structs import replace

from porch.machine import moves as m
from porch.machine.exits.causes import RETRY, repeated_state
from porch.machine.exits.held_resources import passed_on_moves
from porch.machine.exits.sibling_updates import (
    Departure,
    broadcast_moves,
    departure_from_nowhere,
    target_or_update,
)
from porch.machine.facts import Item, Payload
from porch.machine.path_values import is_inside, is_within, latest_path
from porch.machine.state import LoopItems, PositionKey, RunState, Standing, position_text
from porch.model.protocol import Agent, Edge, End, Guard, Human, Protocol, Target

__all__ = [
    "Departure",
    "departure_from_nowhere",
    "empty_instance_moves",
    "entry_moves",
    "exit_moves",
    "state_entry_moves",
    "still_finished",
]


def still_finished(known: LoopItems | None, items: tuple[Item, ...]) -> tuple[str, ...]:
    """Of a list that was read again: the finished ones whose id and text are as they were."""
    same = {item.id: item.digest for item in known.items} if known else {}
    old = frozenset(known.finished) if known else frozenset()
    return tuple(i.id for i in items if i.id in old and same.get(i.id) == i.digest)


def exit_moves(
    protocol: Protocol, state: RunState, standing: Standing, exit_: str, payload: Payload
) -> tuple[m.Move, ...]:
    """All moves of one exit, in the order in which they apply."""
    leaving = Departure(protocol, state, standing, exit_, payload)
    edge = _chosen_edge(leaving)
    if edge is None:
        # A defect of the definition, which reading refuses; standing still loses nothing.
        return ()
    charge, targets = _charge_and_targets(leaving, edge)
    if edge.spent_as and targets is edge.spent:
        return exit_moves(
            protocol, state, standing, edge.spent_as, _converted_payload(leaving, edge.spent_as)
        )
    moves = (
        m.Remembered(f"{standing.state}.{exit_}", payload, standing.item, standing.instance),
        *_kept_memory_moves(leaving, edge),
        *_respecified_moves(leaving, edge),
        *charge,
        *_reset_moves(leaving, edge),
        *_forget_moves(leaving, edge),
        m.Left(standing.position),
        *(_leave_others_moves(leaving) if edge.is_alone else ()),
        # Who is out of retries waits for nothing.
        *_arrival_moves(leaving, targets, edge.delay_s if targets is edge.targets else 0),
    )
    return (*moves, *passed_on_moves(protocol, state, standing, moves), *broadcast_moves(leaving))


def _leave_others_moves(leaving: Departure) -> Iterator[m.Move]:
    for other in leaving.state.positions.values():
        mine = other.instance == leaving.standing.instance
        if mine and other.position != leaving.standing.position:
            yield m.Left(other.position)


def _converted_payload(leaving: Departure, exit_: str) -> Payload:
    """An exit at its limit becomes another: fields of the same name stay, and it says so."""
    actor = leaving.protocol.states[leaving.standing.state].actor
    exits = actor.exits if isinstance(actor, Agent) else ()
    known = next(each for each in exits if each.name == exit_)
    asked = {name.name: leaving.payload.get(name.name, "") for name in known.record.fields}
    filled = {name: leaving.look(path) for name, path in known.filled.items()}
    return {**asked, **filled, "synthetic": f"{leaving.exit} at its limit"}


def _respecified_moves(leaving: Departure, edge: Edge) -> Iterator[m.Move]:
    """An instance is about something else from here on; its parent's plan is as it was."""
    if edge.respecifies:
        name = leaving.standing.instance
        known = leaving.state.instances[name]
        changed = {field: leaving.look(path) for field, path in edge.respecifies.items()}
        yield m.Told(name, {**known.spec, **changed}, known.digest, known.revision)


def _kept_memory_moves(leaving: Departure, edge: Edge) -> Iterator[m.Move]:
    """What an edge writes into the memory of a role."""
    standing = leaving.standing
    for keep in edge.keeps:
        value, path = leaving.look(keep.path), f"memory.{keep.slot}"
        if keep.append:
            old = (leaving.state.recall(standing, path) or {}).get("value", [])
            # Of lists each element once; a single thing may well happen again.
            is_many = isinstance(value, (list, tuple))
            value = [*old, *([v for v in value if v not in old] if is_many else [value])]
        yield m.Remembered(path, {"value": value}, "", standing.instance)


def _arrival_moves(leaving: Departure, targets: tuple[Target, ...], delay_s: float) -> list[m.Move]:
    meant = [each for target in targets for each in target_or_update(leaving, target)]
    moves = [
        move
        for each in meant
        for move in (
            (each,) if not isinstance(each, Target) else entry_moves(leaving, each, delay_s)
        )
    ]
    if any(isinstance(move, m.Ended) for move in moves):
        # Nobody arrives beside an end.
        return [move for move in moves if not isinstance(move, (m.Entered, m.Marked))]
    return moves


def _chosen_edge(leaving: Departure) -> Edge | None:
    edges = leaving.protocol.edges_of(leaving.standing.state, leaving.exit)
    edge = next((e for e in edges if all(_guard_holds(leaving, g) for g in e.guards)), None)
    if edge is None or leaving.exit != RETRY:
        return edge
    again = repeated_state(leaving.protocol, leaving.standing)
    # Budgets are for the work, and nothing is known about the work.
    return replace(edge, targets=(Target(again),), resets=()) if again else edge


def _guard_holds(leaving: Departure, guard: Guard) -> bool:
    payload = leaving.recall(guard.path)
    match guard.test:
        case "present" | "absent":
            return (payload is not None) is (guard.test == "present")
        case "has":
            named = payload or {}
            return any(guard.value in named.get(key, ()) for key in ("failed", "unmeasured"))
        case "filled" | "empty":
            return bool(leaving.look(guard.path)) is (guard.test == "filled")
        case "equals":
            return str(leaving.look(guard.path)) == guard.value
        case "cause":
            return leaving.standing.because == guard.path
        case "within" | "touches":
            found = leaving.look(guard.path)
            files = found if isinstance(found, (list, tuple)) else [found]
            places = [leaving.look(path) for path in guard.value.split(" ")]
            inside = [is_within(str(file), places) for file in files]
            # Of no files at all nothing is said.
            return any(inside) and (guard.test == "touches" or all(inside))
        case "unfinished":
            return _has_other_items(leaving, guard.path)
        case _:
            assert_never(guard.test)


def _has_other_items(leaving: Departure, loop: str) -> bool:
    known = leaving.state.items_of(leaving.standing, loop)
    done = {*(known.finished if known else ()), leaving.standing.item}
    return known is not None and any(item.id not in done for item in known.items)


def budget_key(standing: Standing, budget: str) -> str:
    """Budgets are counted per instance, and per item inside a loop."""
    front = f"{standing.instance}/" if standing.instance else ""
    return f"{front}{budget}@{standing.item}" if standing.item else f"{front}{budget}"


def _charge_and_targets(leaving: Departure, edge: Edge) -> tuple[list[m.Move], tuple[Target, ...]]:
    if not edge.charges:
        return [], edge.targets
    key = budget_key(leaving.standing, edge.charges)
    spent = leaving.state.spent.get(key, 0)
    if spent >= leaving.protocol.budgets[edge.charges].limit:
        return [], edge.spent
    return [m.Charged(key, spent + 1)], edge.targets


def _reset_moves(leaving: Departure, edge: Edge) -> Iterator[m.Move]:
    for budget in edge.resets:
        key = budget_key(leaving.standing, budget)
        if leaving.state.spent.get(key, 0):
            yield m.Charged(key, 0)


def _forget_moves(leaving: Departure, edge: Edge) -> Iterator[m.Move]:
    if not edge.forgets:
        return
    standing, memory = leaving.standing, leaving.state.memory
    fresh = f"{standing.state}.{leaving.exit}"
    scopes = dict.fromkeys((standing.item, ""))
    known = [(item, memory.get((standing.instance, item), {})) for item in scopes]
    for path in edge.forgets:
        for item, kept in known:
            if path in kept or (path == fresh and item == standing.item):
                yield m.Forgot(path, item, standing.instance)


def entry_moves(leaving: Departure, target: Target, delay_s: float = 0) -> Iterator[m.Move]:
    """The moves into a target: a state, an end, or the next item of a loop."""
    if target.next_of:
        yield from _next_item_moves(leaving, target.next_of, delay_s)
        return
    state = leaving.protocol.states[target.state]
    if isinstance(state.actor, End):
        yield from _end_moves(leaving, state.actor)
        return
    inside = bool(state.loop) and _loop_of(leaving) == state.loop
    # An item that the list does not have is looked for where the list is read again.
    inside = inside and (not target.item or _has_item(leaving, state.loop, target.item))
    item = (target.item or leaving.standing.item) if inside else ""
    for move in state_entry_moves(leaving, target.state, item, delay_s):
        yield move
        if target.item and not inside:
            yield m.Marked(move.position, "item", target.item)


def _has_item(leaving: Departure, loop: str, item: str) -> bool:
    known = leaving.state.items_of(leaving.standing, loop)
    return known is not None and any(each.id == item for each in known.items)


def _loop_of(leaving: Departure) -> str:
    known = leaving.protocol.states.get(leaving.standing.state)
    return known.loop if known and leaving.standing.item else ""


def _end_moves(leaving: Departure, end: End) -> Iterator[m.Move]:
    mine = m.Left(leaving.standing.position)
    others = empty_instance_moves(leaving.state, leaving.standing.instance)
    yield from (move for move in others if move != mine)
    yield _ended_move(leaving, end)


def empty_instance_moves(state: RunState, instance: str) -> Iterator[m.Move]:
    """Nobody stands in an instance any more, and who lived below it does so no longer."""
    for standing in state.positions.values():
        # The run's own end is everybody's: instances live inside it.
        if is_inside(standing.instance, instance):
            yield m.Left(standing.position)
    for name, known in state.instances.items():
        if name != instance and is_inside(name, instance) and not known.outcome:
            yield m.Ended("abandoned", name)


def _ended_move(leaving: Departure, end: End) -> m.Ended:
    merged = _child_result(leaving, end) if end.outcome == "complete" else {}
    return m.Ended(end.outcome, leaving.standing.instance, _end_reason(leaving, end), merged)


def _child_result(leaving: Departure, end: End) -> Payload:
    """What its parent is told: the event of a merge, else what the end gives, with its id."""
    if leaving.interrupt is not None:
        return leaving.look(leaving.interrupt.event) or {}
    known = leaving.state.instances.get(leaving.standing.instance)
    if known is None or not leaving.standing.instance:
        return {}
    return {"id": known.key, **((leaving.look(end.gives) or {}) if end.gives else {})}


def _end_reason(leaving: Departure, end: End) -> Payload:
    """The exit that led here; a person who stops something does so because of what was shown."""
    if not leaving.exit or not end.shows:
        return {}
    protocol, standing = leaving.protocol, leaving.standing
    path = f"{standing.state}.{leaving.exit}"
    if isinstance(protocol.states[standing.state].actor, Human):
        path = latest_path(protocol, leaving.state, standing, end.shows) or path
    return {"kind": path.split(".")[1], "payload": leaving.look(path)}


def _next_item_moves(leaving: Departure, loop_name: str, delay_s: float) -> Iterator[m.Move]:
    standing, loop = leaving.standing, leaving.protocol.loops[loop_name]
    if standing.item:
        yield m.Finished(loop_name, standing.item, standing.instance)
    known = leaving.state.items.get((standing.instance, loop_name))
    done = {*(known.finished if known else ()), standing.item}
    rest = (item.id for item in known.items if item.id not in done) if known else iter(())
    following = next(rest, "")
    if following:
        yield from state_entry_moves(leaving, loop.first, following, delay_s)
    else:
        yield from entry_moves(leaving, loop.after, delay_s)


def state_entry_moves(
    leaving: Departure, state: str, item: str, delay_s: float = 0
) -> Iterator[m.Entered]:
    """Enter a state; one that waits for others and has not begun is joined, not entered twice."""
    instance = leaving.standing.instance
    key = (instance, state, item)
    if leaving.protocol.states[state].waits_for and _is_waiting(leaving, key):
        return
    visit = leaving.fresh.get(key, leaving.state.visits.get(key, 0)) + 1
    leaving.fresh[key] = visit
    because = f"{leaving.standing.state}.{leaving.exit}" if leaving.exit else ""
    text = position_text(instance, state, item, visit)
    yield m.Entered(text, state, visit, item, instance, delay_s, because)


def _is_waiting(leaving: Departure, key: PositionKey) -> bool:
    """Whether the latest visit has not begun; any earlier one has, or this would not be later."""
    latest = position_text(*key, leaving.state.visits.get(key, 0))
    stands = latest in leaving.state.positions and latest not in leaving.state.tries
    return stands or key in leaving.fresh
