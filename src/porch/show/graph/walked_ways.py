"""A run drawn on the picture of its protocol: where it stands, and how often it went each way."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from porch.machine.approvals import list_engine_states
from porch.machine.past import ENDED
from porch.machine.state import RunState
from porch.model.protocol import End, Protocol
from porch.show.graph.picture import DUE_KIND, Node, ProtocolPicture


class WalkedWay(Struct, frozen=True):
    """One way that a run went; an end of a protocol can be reached under several names."""

    source: str
    exit: str
    targets: tuple[str, ...]
    times: int


class RunWalk(Struct, frozen=True):
    """By the names of states: where a run stands, how often it was there, which ways it went."""

    here: frozenset[str]
    entered: Mapping[str, int]
    ways: tuple[WalkedWay, ...]


def make_walk(protocol: Protocol, state: RunState, instance: str | None = None) -> RunWalk:
    """Of the whole run, or of one instance of its tree."""

    def fits(each: str) -> bool:
        return instance is None or each == instance

    entered: dict[str, int] = {}
    for (owner, name, _), visits in state.visits.items():
        if fits(owner):
            entered[name] = entered.get(name, 0) + visits
    ways = tuple(
        WalkedWay(source, exit_, _list_targets(protocol, target), times)
        for (owner, source, exit_, _, target), times in state.past_ways.items()
        if fits(owner)
    )
    here = frozenset(each.state for each in state.positions.values() if fits(each.instance))
    return RunWalk(here, entered, ways)


def _list_targets(protocol: Protocol, target: str) -> tuple[str, ...]:
    if not target.startswith(ENDED):
        return (target,)
    ends = ((each.name, each.actor) for each in protocol.states.values())
    outcome = target.removeprefix(ENDED)
    return tuple(name for name, end in ends if isinstance(end, End) and end.outcome == outcome)


def drop_idle_questions(protocol: Protocol, state: RunState) -> Protocol:
    """A tree without the questions of the engine that nobody was asked: they hide its own ways."""
    if not protocol.spec:
        return protocol
    dropped = list_engine_states(protocol) - {name for _, name, _ in state.visits}
    # Behind a question comes only its own end.
    sources: dict[str, set[str]] = {}
    for edge in protocol.edges:
        for target in edge.targets:
            sources.setdefault(target.state, set()).add(edge.state)
    dropped |= {
        name
        for name, each in protocol.states.items()
        if isinstance(each.actor, End) and name in sources and sources[name] <= dropped
    }
    states = {name: each for name, each in protocol.states.items() if name not in dropped}
    edges = [
        edge
        for edge in protocol.edges
        if edge.state in states and all(target.state in states for target in edge.targets)
    ]
    return replace(protocol, states=states, edges=tuple(edges))


def mark_walk(picture: ProtocolPicture, walk: RunWalk) -> ProtocolPicture:
    """The same picture with the marks of a run; every format draws them."""
    states = {node.id: node.state for node in picture.nodes}
    numbers = _number_arrows(picture, states, walk)
    return replace(
        picture,
        is_walked=True,
        nodes=tuple(_mark_node(node, walk) for node in picture.nodes),
        arrows=tuple(
            replace(arrow, taken=numbers.get(place, 0))
            for place, arrow in enumerate(picture.arrows)
        ),
    )


def _mark_node(node: Node, walk: RunWalk) -> Node:
    is_state = bool(node.state)
    return replace(
        node,
        is_here=is_state and node.state in walk.here,
        entered=walk.entered.get(node.state, 0) if is_state else 0,
    )


def _number_arrows(
    picture: ProtocolPicture, states: Mapping[str, str], walk: RunWalk
) -> dict[int, int]:
    """A way counts for one arrow: the one that has its exit, and the plain one of several."""
    due = {node.id for node in picture.nodes if node.kind == DUE_KIND}
    numbers: dict[int, int] = {}
    for way in walk.ways:
        fits = [
            (way.exit not in arrow.exits, arrow.target in due, arrow.spent, place)
            for place, arrow in enumerate(picture.arrows)
            if states[arrow.source] == way.source
            and (states[arrow.target] in way.targets or arrow.target in due)
        ]
        if fits:
            place = min(fits)[-1]
            numbers[place] = numbers.get(place, 0) + way.times
    return numbers
