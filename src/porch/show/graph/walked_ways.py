"""A run drawn on the picture of its protocol: where it stands, and how often it went each way."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.show.graph.picture import DUE_KIND, Arrow, Node, ProtocolPicture

# Instance, the state that was left, the state that was entered.
Way = tuple[str, str, str]


class WalkCount:
    """The ways of a run, counted record by record; `seq` is the last record that is in it."""

    __slots__ = ("_open", "seq", "taken")

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self.taken: dict[Way, int] = {}
        self.seq = 0

    def add_records(self, records: Iterable[Mapping[str, Any]]) -> None:
        for record in records:
            seq = int(record.get("seq") or 0)
            if seq > self.seq:
                self.seq = seq
                self._add_moves(record.get("moves") or ())

    def _add_moves(self, moves: Iterable[Mapping[str, Any]]) -> None:
        """What one record leaves and enters belongs together; who begins has left nothing."""
        told = list(moves)
        sources = [self._open.pop(_text(m, "position"), "") for m in told if m.get("is") == "Left"]
        for move in (each for each in told if each.get("is") == "Entered"):
            target, instance = _text(move, "state"), _text(move, "instance")
            self._open[_text(move, "position")] = target
            for source in dict.fromkeys(filter(None, sources)):
                way = (instance, source, target)
                self.taken[way] = self.taken.get(way, 0) + 1


def _text(move: Mapping[str, Any], name: str) -> str:
    return str(move.get(name) or "")


class RunWalk(Struct, frozen=True):
    """By the names of states: where a run stands, how often it was there, which ways it went."""

    here: frozenset[str]
    entered: Mapping[str, int]
    taken: Mapping[tuple[str, str], int]


def make_walk(state: RunState, taken: Mapping[Way, int], instance: str | None = None) -> RunWalk:
    """Of the whole run, or of one instance of its tree."""

    def fits(each: str) -> bool:
        return instance is None or each == instance

    entered: dict[str, int] = {}
    for (owner, name, _), visits in state.visits.items():
        if fits(owner):
            entered[name] = entered.get(name, 0) + visits
    ways: dict[tuple[str, str], int] = {}
    for (owner, source, target), number in taken.items():
        if fits(owner):
            ways[source, target] = ways.get((source, target), 0) + number
    here = frozenset(each.state for each in state.positions.values() if fits(each.instance))
    return RunWalk(here, entered, ways)


def drop_idle_questions(protocol: Protocol, state: RunState) -> Protocol:
    """A tree without the questions of the engine that nobody was asked: they hide its own ways."""
    if not protocol.spec:
        return protocol
    entered = {name for _, name, _ in state.visits}

    def is_drawn(name: str) -> bool:
        # No name of a graph has this sign; behind a question comes only its own end.
        return ":" not in name or ":".join(name.split(":")[:2]) in entered

    states = {name: each for name, each in protocol.states.items() if is_drawn(name)}
    edges = [
        edge
        for edge in protocol.edges
        if is_drawn(edge.state) and all(is_drawn(target.state) for target in edge.targets)
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
    """A way counts for one arrow: the plain one, else that of a spent budget, else what was due."""
    due = {node.id for node in picture.nodes if node.kind == DUE_KIND}
    found: dict[int, int] = {}
    for (source, target), number in walk.taken.items():
        fits = [
            (_rank_arrow(arrow, due), place)
            for place, arrow in enumerate(picture.arrows)
            if states[arrow.source] == source
            and (states[arrow.target] == target or arrow.target in due)
        ]
        if fits:
            place = min(fits)[1]
            found[place] = found.get(place, 0) + number
    return found


def _rank_arrow(arrow: Arrow, due: set[str]) -> int:
    return 2 if arrow.target in due else 1 if arrow.spent else 0
