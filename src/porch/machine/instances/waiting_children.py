"""Children that wait for siblings: they begin when those have merged, and never wait in vain."""

from collections.abc import Iterator, Sequence

from porch.machine import moves as m
from porch.machine.exits.departure import empty_instance_moves, entry_moves
from porch.machine.exits.sibling_updates import Departure
from porch.machine.instances.child_specs import is_merged
from porch.machine.state import RunState, Standing
from porch.model.protocol import Protocol, Target

Moves = tuple[m.Move, ...]
UNSTARTED = "Unstarted"


def begin_or_wait_moves(
    protocol: Protocol,
    state: RunState,
    name: str,
    after: tuple[str, ...],
    told: Sequence[m.Move],
) -> Iterator[m.Move]:
    """A child that a plan has placed begins, waits, or goes on with what it does."""
    known = state.instances.get(name)
    is_waiting = known is not None and bool(known.after)
    if after and (known is None or is_waiting):
        yield m.Awaited(name, after)
        return
    if is_waiting:
        yield m.Awaited(name, ())
    if told or is_waiting:
        spawned = [each.part for each in told if isinstance(each, m.Spawned)]
        part = known.part if known is not None else spawned[0]
        yield from arrival_moves(protocol, state, name, part)


def arrival_moves(protocol: Protocol, state: RunState, name: str, part: str) -> Iterator[m.Move]:
    """An instance begins where its graph begins."""
    nobody = Standing("", name, "", "", 0, "")
    yield from entry_moves(
        Departure(protocol, state, nobody, "", {}), Target(protocol.part(part).initial)
    )


def waiting_moves(protocol: Protocol, state: RunState, names: Sequence[str]) -> Moves:
    """What becomes of one child that waits: it begins, or is cancelled with whom it waits for."""
    waiting = [name for name in names if _is_waiting(state, name)]
    for name in waiting:
        if lost := [each for each in state.instances[name].after if _is_lost(state, each)]:
            return _cancelled_moves(state, name, lost)
        if all(_has_merged(state, each) for each in state.instances[name].after):
            part = state.instances[name].part
            return (m.Awaited(name, ()), *arrival_moves(protocol, state, name, part))
    living = [name for name in names if not state.instances[name].outcome]
    if waiting and waiting == living:
        # All wait for each other: nobody would ever begin.
        return _cancelled_moves(state, waiting[0], state.instances[waiting[0]].after)
    return ()


def _is_waiting(state: RunState, name: str) -> bool:
    known = state.instances[name]
    return bool(known.after) and not known.outcome


def _has_merged(state: RunState, name: str) -> bool:
    return is_merged(state.instances[name])


def _is_lost(state: RunState, name: str) -> bool:
    """Whether a sibling can no longer merge, or was never planned."""
    known = state.instances.get(name)
    return known is None or known.outcome in ("failed", "abandoned")


def _cancelled_moves(state: RunState, name: str, lost: Sequence[str]) -> Moves:
    why = {"kind": UNSTARTED, "payload": {"after": list(lost)}}
    return (*empty_instance_moves(state, name), m.Ended("abandoned", name, why))
