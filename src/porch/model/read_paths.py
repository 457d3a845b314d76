"""Which remembered exits reach an agent or git, whole or in part, whatever dialect said so."""

from collections.abc import Iterable, Iterator

from porch.model import protocol as p
from porch.model.memory_paths import memory_key

_PARENT = "parent."
_KEPT = "_read_keys"


def find_read_keys(protocol: p.Protocol) -> frozenset[str]:
    """The same as a set; asked for every move of a run, so worked out once for each protocol."""
    kept: dict[str, frozenset[str]] = protocol.__dict__
    if _KEPT not in kept:
        kept[_KEPT] = frozenset(list_read_keys(protocol))
    return kept[_KEPT]


def list_read_keys(protocol: p.Protocol) -> Iterator[str]:
    """What people are shown and what guards look at reaches nobody who works with it."""
    for state in protocol.states.values():
        yield from (memory_key(given.path) for given in state.inputs)
        if isinstance(state.actor, p.Agent) and state.actor.ask is not None:
            yield from map(memory_key, _list_take_paths(state.actor.ask.takes))
        if isinstance(state.actor, p.Git):
            yield from map(memory_key, state.actor.reads)
    for edge in protocol.edges:
        yield from (memory_key(keep.path) for keep in edge.keeps)
        yield from map(memory_key, edge.respecifies.values())


def _list_take_paths(takes: Iterable[p.Take]) -> Iterator[str]:
    for take in takes:
        yield from (path.rpartition(_PARENT)[2] for path in take.paths)
        yield from _list_take_paths(take.parts)
