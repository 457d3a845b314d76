"""A protocol as nodes and arrows, before anybody decides how to draw them."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from porch.model.artifact_names import describe_name
from porch.model.protocol import Agent, Check, Edge, End, Human, Panel, Protocol, State, Target
from porch.show.graph import edge_labels, ranks
from porch.show.graph.edge_labels import LabelledExit
from porch.show.graph.text_width import clean_line

# By the name of the class, so that an actor that is not known here yet is drawn as a plain box.
KIND_BY_ACTOR = {
    "Agent": "agent",
    "Check": "check",
    "Panel": "panel",
    "Human": "human",
    "Git": "git",
    "Children": "children",
    "Join": "join",
    "End": "end",
}
OTHER_KIND = "other"
STATE_KINDS = frozenset((*KIND_BY_ACTOR.values(), OTHER_KIND))
# Nodes that are no states: a name without one, something that happens, going on where one was.
MISSING_KIND, EVENT_KIND, DUE_KIND = "missing", "event", "due"


class Node(Struct, frozen=True):
    """A state; `rank` says how many steps away from the beginning it is drawn.

    `state` is its name as the protocol has it. A run leaves marks: where it is, how often it came.
    """

    id: str
    name: str
    kind: str
    detail: str = ""
    rank: int = 0
    state: str = ""
    is_here: bool = False
    entered: int = 0


class Arrow(Struct, frozen=True):
    """All exits that lead from one state to one other, each a line; `spent` is a budget's end."""

    source: str
    target: str
    lines: tuple[str, ...]
    exits: tuple[str, ...] = ()
    spent: bool = False
    back: bool = False
    main: bool = False  # on the first way through, which the eye should follow
    taken: int = 0  # by a run that is drawn on the picture


class NodeGroup(Struct, frozen=True):
    """Nodes that people know by one name, or that are repeated together."""

    title: str
    members: tuple[str, ...]


class ProtocolPicture(Struct, frozen=True):
    """Everything that is drawn; ids are made here and mean nothing outside."""

    title: str
    description: str
    initial: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    groups: tuple[NodeGroup, ...]
    loops: tuple[NodeGroup, ...]
    is_walked: bool = False  # a run is drawn on it


def make_protocol_picture(protocol: Protocol) -> ProtocolPicture:
    nodes = _NodeTable(protocol)
    initial = next(iter(_find_target_nodes(protocol, nodes, protocol.initial)))[0]
    arrows = [*_interrupt_arrows(protocol, nodes), *_collect_arrows(protocol, nodes)]
    order = ranks.rank_nodes([node.id for node in nodes.all()], initial, _arrow_ends(arrows))
    marked = _mark_arrows(arrows, order.back, initial)
    ranked = [replace(node, rank=order.rank[node.id]) for node in nodes.all()]
    return ProtocolPicture(
        clean_line(f"{protocol.name} {protocol.version}"),
        clean_line(protocol.description),
        initial,
        tuple(ranked),
        tuple(marked),
        _collect_groups(protocol, nodes),
        _collect_loops(protocol, nodes),
    )


class _NodeTable:
    """The nodes so far, by name; a name that no state has becomes a node when it is met."""

    def __init__(self, protocol: Protocol) -> None:
        self._found: dict[tuple[str, str], Node] = {}
        for state in protocol.states.values():
            kind = KIND_BY_ACTOR.get(type(state.actor).__name__, OTHER_KIND)
            self._found[state.name, ""] = Node(
                f"s{len(self._found)}",
                _node_name(state.name),
                kind,
                clean_line(_node_detail(state)),
                state=state.name,
            )

    def all(self) -> list[Node]:
        return list(self._found.values())

    def state(self, name: str) -> str:
        return (
            self._found[name, ""].id
            if (name, "") in self._found
            else self.other(name, MISSING_KIND)
        )

    def other(self, name: str, kind: str) -> str:
        node = Node(f"s{len(self._found)}", _node_name(name), kind)
        return self._found.setdefault((name, kind), node).id


def _node_name(name: str) -> str:
    return clean_line(name) or "(no name)"


def _node_detail(state: State) -> str:
    """What the kind alone does not tell; short, because it stands in a box."""
    match state.actor:
        case Agent(role=role):
            return role if role not in (state.name, state.group) else ""
        case Check(commands=commands):
            return ", ".join(command.name for command in commands)
        case Panel(reviewers=()):
            return "two thirds"  # of whoever is there when a run begins
        case Panel(reviewers=reviewers, quorum=quorum):
            return f"{quorum} of {len(reviewers)}"
        case Human(kind=kind):
            return kind
        case End(outcome=outcome):
            return outcome if outcome != state.name else ""
        case _:
            return ""


def _interrupt_arrows(protocol: Protocol, nodes: _NodeTable) -> Iterator[Arrow]:
    """What interrupts a run comes from outside of it."""
    if protocol.interrupt is not None:
        source = nodes.other(protocol.interrupt.event, EVENT_KIND)
        line = clean_line(f"on {protocol.interrupt.on}")
        yield Arrow(source, nodes.state(protocol.interrupt.state), (line,))


def _collect_arrows(protocol: Protocol, nodes: _NodeTable) -> list[Arrow]:
    ways: dict[tuple[str, str, bool], list[LabelledExit]] = {}
    for edge in protocol.edges:
        source = nodes.state(edge.state)
        for target, spent in _list_edge_targets(protocol, edge):
            for leads, remark in _find_target_nodes(protocol, nodes, target):
                way = edge_labels.make_labelled_exit(
                    protocol, edge, target, remark=remark, spent=spent
                )
                ways.setdefault((source, leads, spent), []).append(way)
    return [
        Arrow(source, leads, edge_labels.make_label_lines(told), _exit_names(told), spent)
        for (source, leads, spent), told in ways.items()
    ]


def _exit_names(ways: list[LabelledExit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(way.exit for way in ways))


def _list_edge_targets(protocol: Protocol, edge: Edge) -> Iterator[tuple[Target, bool]]:
    """Where an edge leads, and where instead once its budget is spent."""
    yield from ((target, False) for target in edge.targets)
    if edge.charges:
        become = protocol.edges_of(edge.state, edge.spent_as) if edge.spent_as else ()
        instead = edge.spent or [target for other in become for target in other.targets]
        yield from ((target, True) for target in instead)


def _find_target_nodes(
    protocol: Protocol, nodes: _NodeTable, target: Target
) -> Iterator[tuple[str, str]]:
    """The nodes that a target means, each with when it does."""
    if target.is_due:
        yield nodes.other("what was due", DUE_KIND), ""
    elif target.next_of in protocol.loops:
        loop = protocol.loops[target.next_of]
        yield nodes.state(loop.first), "[next item]"
        yield nodes.state(loop.after.state), "[no item left]"
    else:
        item = clean_line(target.item)
        yield nodes.state(target.state or target.next_of), f"[item {item}]" if item else ""


def _arrow_ends(arrows: list[Arrow]) -> list[tuple[str, str]]:
    return [(arrow.source, arrow.target) for arrow in arrows]


def _mark_arrows(
    arrows: list[Arrow], back: frozenset[tuple[str, str]], initial: str
) -> list[Arrow]:
    """The first way through follows the first exit of each state that leads on."""
    marked = [replace(a, back=(a.source, a.target) in back) for a in arrows]
    onward: dict[str, int] = {}
    for number, arrow in enumerate(marked):
        if not (arrow.back or arrow.spent):
            onward.setdefault(arrow.source, number)
    here = initial
    while here in onward:
        number = onward.pop(here)
        marked[number] = replace(marked[number], main=True)
        here = marked[number].target
    return marked


def _collect_groups(protocol: Protocol, nodes: _NodeTable) -> tuple[NodeGroup, ...]:
    members: dict[str, list[State]] = {}
    for state in protocol.states.values():
        members.setdefault(state.group, []).append(state)
    return tuple(
        NodeGroup(
            clean_line(next((s.title for s in states if s.title), group)),
            tuple(nodes.state(s.name) for s in states),
        )
        for group, states in members.items()
        if len(states) > 1
    )


def _collect_loops(protocol: Protocol, nodes: _NodeTable) -> tuple[NodeGroup, ...]:
    return tuple(
        NodeGroup(
            clean_line(f"for each item of {describe_name(loop.source)}"),
            tuple(nodes.state(s.name) for s in protocol.states.values() if s.loop == loop.name),
        )
        for loop in protocol.loops.values()
    )
