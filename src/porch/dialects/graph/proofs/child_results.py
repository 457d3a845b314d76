"""A proof about children: whichever way one completes, what its parent is told of it is there."""

from collections.abc import Iterator

from msgspec.structs import replace

from porch.dialects.graph.proofs.missing_inputs import Arrival, Places, list_arrivals
from porch.errors import Finding, Place
from porch.model import protocol as p
from porch.model.memory_paths import memory_key


def find_missing_results(protocol: p.Protocol, places: Places) -> Iterator[Finding]:
    """Ways on which a child completes without the exit that its parent reads."""
    gives = [s.actor.gives for s in protocol.states.values() if isinstance(s.actor, p.End)]
    is_read = bool(protocol.interrupt) or any(gives)
    for arrival in list_arrivals(_as_child(protocol)) if is_read else ():
        end = protocol.states[arrival.state].actor
        if not isinstance(end, p.End) or end.outcome != "complete":
            continue
        path = protocol.interrupt.event if protocol.interrupt else end.gives
        if path not in arrival.known:
            yield _missing_result(arrival, path, places)


def _missing_result(arrival: Arrival, path: str, places: Places) -> Finding:
    way = f"{arrival.edge.state}.{arrival.edge.exit}" if arrival.edge else "the start"
    if not path:
        message = f"'{arrival.state}' has no 'gives', but another end state of this graph has"
        fix = "write 'gives' with an exit that has the same fields"
        return Finding("unsupplied", message, places.get(arrival.state), fix)
    message = f"a child can complete by {way} without {path}, which its parent needs"
    fix = "let every way to this end pass that exit, or end elsewhere"
    return Finding("unsupplied", message, _find_place(arrival, way, places), fix)


def _find_place(arrival: Arrival, way: str, places: Places) -> Place | None:
    return places.get(way) or places.get(arrival.state)


def _as_child(protocol: p.Protocol) -> p.Protocol:
    """The protocol of an instance that has a parent: what asks for one is decided."""
    return replace(protocol, edges=tuple(_list_edges_of_child(protocol)))


def _list_edges_of_child(protocol: p.Protocol) -> Iterator[p.Edge]:
    closed: set[tuple[str, str]] = set()
    for edge in protocol.edges:
        key = (edge.state, edge.exit)
        if key in closed or any(g.test == "empty" and _is_sure(g.path) for g in edge.guards):
            continue
        if all(g.test == "filled" and _is_sure(g.path) for g in edge.guards):
            closed.add(key)
        yield edge


def _is_sure(path: str) -> bool:
    return path == "parent" or memory_key(path) == "instance.target"
