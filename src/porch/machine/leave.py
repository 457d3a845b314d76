"""Leaving a position by an exit: which edge, what it charges, and where it leads."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from porch.machine import moves as m
from porch.machine.facts import Item, Payload
from porch.machine.state import Items, Key, Standing, State, position_text
from porch.model.protocol import Edge, End, Guard, Protocol, Target


@dataclass(frozen=True, slots=True)
class Leaving:
    """One departure: the exit and payload, and the visits it has handed out so far."""

    protocol: Protocol
    state: State
    standing: Standing
    exit: str
    payload: Payload
    fresh: dict[Key, int] = field(default_factory=dict)

    def recall(self, path: str) -> Payload | None:
        """Memory as it will be once this exit is remembered."""
        if path == f"{self.standing.state}.{self.exit}":
            return self.payload
        return self.state.recall(self.standing, path)


def from_nowhere(protocol: Protocol, state: State) -> Leaving:
    """An arrival after everything that stood was left."""
    nobody = Standing("", "", "", "", 0, "")
    return Leaving(protocol, replace(state, positions={}), nobody, "", {})


def still_finished(known: Items | None, items: tuple[Item, ...]) -> tuple[str, ...]:
    """Of a list that was read again: the finished ones whose id and text are as they were."""
    same = {item.id: item.digest for item in known.items} if known else {}
    old = frozenset(known.finished) if known else frozenset()
    return tuple(i.id for i in items if i.id in old and same.get(i.id) == i.digest)


def leave(
    protocol: Protocol, state: State, standing: Standing, exit_: str, payload: Payload
) -> tuple[m.Move, ...]:
    """All moves of one exit, in the order in which they apply."""
    leaving = Leaving(protocol, state, standing, exit_, payload)
    edge = _edge(leaving)
    if edge is None:
        # A defect of the definition, which reading refuses; standing still loses nothing.
        return ()
    charge, targets = _charge(leaving, edge)
    return (
        m.Remembered(f"{standing.state}.{exit_}", payload, standing.item, standing.instance),
        *charge,
        *_resets(leaving, edge),
        *_forgets(leaving, edge),
        m.Left(standing.position),
        # Who is out of retries waits for nothing.
        *_arrivals(leaving, targets, edge.delay_s if targets is edge.targets else 0),
    )


def _arrivals(leaving: Leaving, targets: tuple[Target, ...], delay_s: float) -> list[m.Move]:
    moves = [move for target in targets for move in enter(leaving, target, delay_s)]
    if any(isinstance(move, m.Ended) for move in moves):
        # Nobody arrives beside an end.
        return [move for move in moves if not isinstance(move, (m.Entered, m.Marked))]
    return moves


def _edge(leaving: Leaving) -> Edge | None:
    edges = leaving.protocol.edges_of(leaving.standing.state, leaving.exit)
    return next((e for e in edges if all(_holds(leaving, g) for g in e.guards)), None)


def _holds(leaving: Leaving, guard: Guard) -> bool:
    payload = leaving.recall(guard.path)
    match guard.test:
        case "present":
            return payload is not None
        case "absent":
            return payload is None
        case "has":
            named = payload or {}
            return any(guard.value in named.get(key, ()) for key in ("failed", "unmeasured"))
        case _:
            assert_never(guard.test)


def budget_key(standing: Standing, budget: str) -> str:
    """Budgets are counted per instance, and per item inside a loop."""
    front = f"{standing.instance}/" if standing.instance else ""
    return f"{front}{budget}@{standing.item}" if standing.item else f"{front}{budget}"


def _charge(leaving: Leaving, edge: Edge) -> tuple[list[m.Move], tuple[Target, ...]]:
    if not edge.charges:
        return [], edge.targets
    key = budget_key(leaving.standing, edge.charges)
    spent = leaving.state.spent.get(key, 0)
    if spent >= leaving.protocol.budgets[edge.charges].limit:
        return [], edge.spent
    return [m.Charged(key, spent + 1)], edge.targets


def _resets(leaving: Leaving, edge: Edge) -> Iterator[m.Move]:
    for budget in edge.resets:
        key = budget_key(leaving.standing, budget)
        if leaving.state.spent.get(key, 0):
            yield m.Charged(key, 0)


def _forgets(leaving: Leaving, edge: Edge) -> Iterator[m.Move]:
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


def enter(leaving: Leaving, target: Target, delay_s: float = 0) -> Iterator[m.Move]:
    """The moves into a target: a state, an end, or the next item of a loop."""
    if target.next_of:
        yield from _next_item(leaving, target.next_of, delay_s)
        return
    state = leaving.protocol.states[target.state]
    if isinstance(state.actor, End):
        yield from _end(leaving, state.actor)
        return
    inside = bool(state.loop) and _loop_of(leaving) == state.loop
    # An item that the list does not have is looked for where the list is read again.
    inside = inside and (not target.item or _has_item(leaving, state.loop, target.item))
    item = (target.item or leaving.standing.item) if inside else ""
    for move in entered(leaving, target.state, item, delay_s):
        yield move
        if target.item and not inside:
            yield m.Marked(move.position, "item", target.item)


def _has_item(leaving: Leaving, loop: str, item: str) -> bool:
    known = leaving.state.items_of(leaving.standing, loop)
    return known is not None and any(each.id == item for each in known.items)


def _loop_of(leaving: Leaving) -> str:
    known = leaving.protocol.states.get(leaving.standing.state)
    return known.loop if known and leaving.standing.item else ""


def _end(leaving: Leaving, end: End) -> Iterator[m.Move]:
    mine, instance = leaving.standing.position, leaving.standing.instance
    for other in leaving.state.positions.values():
        # The run's own end is everybody's: instances live inside it.
        if instance in ("", other.instance) and other.position != mine:
            yield m.Left(other.position)
    yield m.Ended(end.outcome, instance)


def _next_item(leaving: Leaving, loop_name: str, delay_s: float) -> Iterator[m.Move]:
    standing, loop = leaving.standing, leaving.protocol.loops[loop_name]
    if standing.item:
        yield m.Finished(loop_name, standing.item, standing.instance)
    known = leaving.state.items.get((standing.instance, loop_name))
    done = {*(known.finished if known else ()), standing.item}
    rest = (item.id for item in known.items if item.id not in done) if known else iter(())
    following = next(rest, "")
    if following:
        yield from entered(leaving, loop.first, following, delay_s)
    else:
        yield from enter(leaving, loop.after, delay_s)


def entered(leaving: Leaving, state: str, item: str, delay_s: float = 0) -> Iterator[m.Entered]:
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


def _is_waiting(leaving: Leaving, key: Key) -> bool:
    """Whether the latest visit has not begun; any earlier one has, or this would not be later."""
    latest = position_text(*key, leaving.state.visits.get(key, 0))
    stands = latest in leaving.state.positions and latest not in leaving.state.tries
    return stands or key in leaving.fresh
