"""States that nobody works in: done in the file, waived by a person, or where ways part and meet.

What is settled is passed as soon as it is entered, each once; a fork at once, and a join when
nobody is under way to it any more. What follows from that is the same record.
"""

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.evolve import evolve_state
from porch.machine.exits.departure import exit_moves
from porch.machine.records import JournalRecord
from porch.machine.state import RunState, Standing
from porch.model.memory_paths import settled_path
from porch.model.protocol import Join, Protocol
from porch.model.track_names import fork_of_join


def add_settled_moves(
    protocol: Protocol, state: RunState, fact: f.Fact, moves: tuple[m.Move, ...]
) -> tuple[m.Move, ...]:
    """The moves of a fact, and those past every settled state that they come to.

    It ends: each step forgets what it used.
    """
    fresh = moves
    while any(isinstance(move, (m.Entered, m.Left)) for move in fresh):
        state = evolve_state(state, JournalRecord(state.seq, state.at, fact, fresh))
        fresh = _passing_moves(protocol, state, fresh) or _join_moves(protocol, state)
        moves = (*moves, *fresh)
    return moves


def _join_moves(protocol: Protocol, state: RunState) -> tuple[m.Move, ...]:
    """Past a fork, or past a join that has nobody to wait for; one of them at a time."""
    places = state.positions.values()
    for standing in places:
        if not isinstance(protocol.states[standing.state].actor, Join):
            continue
        # Each of them comes here by itself; one waits, and goes on.
        others = [e for e in places if e.state == standing.state and e is not standing]
        if others:
            return tuple(m.Left(each.position) for each in others)
        fork = fork_of_join(standing.state)
        if fork and any(protocol.states[each.state].beside == fork for each in places):
            continue
        return exit_moves(protocol, state, standing, "ready", {})
    return ()


def _passing_moves(
    protocol: Protocol, state: RunState, moves: tuple[m.Move, ...]
) -> tuple[m.Move, ...]:
    passed: list[m.Move] = []
    for move in moves:
        standing = state.positions.get(move.position) if isinstance(move, m.Entered) else None
        known = find_settled(state, standing) if standing is not None else None
        if standing is None or known is None:
            continue
        payload = {key: value for key, value in known.items() if key != "exit"}
        passed.append(m.Forgot(settled_path(standing.state)))
        passed += exit_moves(protocol, state, standing, str(known["exit"]), payload)
    return tuple(passed)


def find_settled(state: RunState, standing: Standing) -> f.Payload | None:
    """What is settled about a place; nothing if somebody has to work or decide there."""
    return state.recall(standing, settled_path(standing.state))
