"""Which positions of a tree see what a record changed: their own instance, those above, its shape.

A position reads its instance, and by `parent.` the instances above it. Only the planner's allowance
of children and the list of merged siblings depend on who else lives.
"""

from collections.abc import Iterable, Iterator

from porch.machine import moves as m
from porch.machine.path_values import is_inside
from porch.machine.state import RunState, Standing
from porch.model import protocol as p

_PARENT = "parent"
_SHAPE = ("engine.children", "engine.siblings")
_ABOUT_INSTANCE = (m.Remembered, m.Forgot, m.Told, m.Spawned, m.Ended, m.Itemised, m.Finished)
_CHANGES_SHAPE = (m.Spawned, m.Ended, m.Told)


def list_seeing_positions(
    protocol: p.Protocol, state: RunState, moves: Iterable[m.Move]
) -> Iterator[str]:
    """The standing positions of which `wanted` may answer differently after these moves."""
    told, has_new_shape = _list_told_instances(moves)
    if not told:
        return
    for standing in state.positions.values():
        if standing.instance in told:
            yield standing.position
            continue
        paths = list(_list_paths(protocol.states[standing.state]))
        if (has_new_shape and _reads_shape(paths)) or _reads_above(paths, standing, told):
            yield standing.position


def _list_told_instances(moves: Iterable[m.Move]) -> tuple[set[str], bool]:
    """The instances of which something else is known now, and whether the tree has changed."""
    told: set[str] = set()
    has_new_shape = False
    for move in moves:
        if isinstance(move, m.Charged):
            told.add(move.budget.rpartition("/")[0])
        elif isinstance(move, _ABOUT_INSTANCE):
            told.add(move.instance)
            has_new_shape |= isinstance(move, _CHANGES_SHAPE)
    return told, has_new_shape


def _reads_shape(paths: Iterable[str]) -> bool:
    return any(shape in path for path in paths for shape in _SHAPE)


def _reads_above(paths: Iterable[str], standing: Standing, told: set[str]) -> bool:
    is_below = any(is_inside(standing.instance, name) for name in told)
    return is_below and any(path.startswith(_PARENT) for path in paths)


def _list_paths(state: p.State) -> Iterator[str]:
    """All that a state may look up; whoever is asked in a parent's name reads its conversation."""
    match state.actor:
        case p.Agent(ask=p.Ask() as ask):
            yield from _list_take_paths(ask.takes)
            if ask.of_parent:
                yield _PARENT
        case p.Git() as git:
            yield from git.inputs
        case _:
            return


def _list_take_paths(takes: Iterable[p.Take]) -> Iterator[str]:
    for take in takes:
        yield from take.paths
        yield from _list_take_paths(take.parts)
