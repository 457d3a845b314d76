"""What follows from a fact by itself: joins that are complete, children that begin or are settled.

All of it belongs to the record of the fact, so that no crash falls in between.
"""

from collections.abc import Iterator

from porch.machine import children
from porch.machine import moves as m
from porch.machine.evolve import evolve
from porch.machine.facts import Fact
from porch.machine.leave import emptied, leave
from porch.machine.records import Record
from porch.machine.state import Standing, State
from porch.model.protocol import Children, Join, Protocol

Moves = tuple[m.Move, ...]


def followed(protocol: Protocol, state: State, fact: Fact, moves: Moves) -> Moves:
    """The moves of a fact and of everything that follows from it."""
    if not protocol.spec:
        return moves
    state = _after(state, fact, moves)
    while not state.outcome and (more := _more(protocol, state)):
        moves, state = (*moves, *more), _after(state, fact, more)
    return moves


def _more(protocol: Protocol, state: State) -> Moves:
    return next(_following(protocol, state), ()) or _deadlocked(protocol, state)


def _after(state: State, fact: Fact, moves: Moves) -> State:
    return evolve(state, Record(state.seq, state.at, fact, moves))


def _following(protocol: Protocol, state: State) -> Iterator[Moves]:
    for standing in state.positions.values():
        kind = protocol.states[standing.state]
        match kind.actor:
            case Join() if all(state.recall(standing, p) is not None for p in kind.waits_for):
                yield leave(protocol, state, standing, "ready", {})
            case Children() as actor if state.marked(standing.position, children.BEGUN) is None:
                yield tuple(children.begun(protocol, state, standing, actor))
            case Children() if moves := children.settled(protocol, state, standing):
                yield moves
            case _:
                continue


def _deadlocked(protocol: Protocol, state: State) -> Moves:
    """Who only waits, for nobody, ends as failed: silence is the worst answer."""
    for name, known in state.instances.items():
        mine = [each for each in state.positions.values() if each.instance == name]
        waits = {each.position: _missing(protocol, state, each) for each in mine}
        if not known.outcome and all(waits.values()):
            why = {"kind": "Deadlock", "payload": {"waits": waits}}
            return (*emptied(state, name), m.Ended("failed", name, why))
    return ()


def _missing(protocol: Protocol, state: State, standing: Standing) -> list[str]:
    waits_for = protocol.states[standing.state].waits_for
    return [path for path in waits_for if state.recall(standing, path) is None]
