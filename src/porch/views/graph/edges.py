"""A protocol as nodes and arrows, before anybody decides how to draw them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from porch.model.protocol import Agent, Check, Edge, End, Human, Panel, Protocol, State, Target
from porch.views.graph import ranks, wording
from porch.views.graph.cells import clean
from porch.views.graph.wording import Way

# By the name of the class, so that an actor that is not known here yet is drawn as a plain box.
KINDS = {
    "Agent": "agent",
    "Check": "check",
    "Panel": "panel",
    "Human": "human",
    "Git": "git",
    "Children": "children",
    "Join": "join",
    "End": "end",
}
OTHER = "other"
STATES = frozenset((*KINDS.values(), OTHER))
# Nodes that are no states: a name without one, something that happens, going on where one was.
MISSING, EVENT, DUE = "missing", "event", "due"


@dataclass(frozen=True, slots=True)
class Node:
    """A state; `rank` says how many steps away from the beginning it is drawn."""

    id: str
    name: str
    kind: str
    detail: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Arrow:
    """All exits that lead from one state to one other, each a line; `spent` is a budget's end."""

    source: str
    target: str
    lines: tuple[str, ...]
    exits: tuple[str, ...] = ()
    spent: bool = False
    back: bool = False
    main: bool = False  # on the first way through, which the eye should follow


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that people know by one name, or that are repeated together."""

    title: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is drawn; ids are made here and mean nothing outside."""

    title: str
    description: str
    initial: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    groups: tuple[Group, ...]
    loops: tuple[Group, ...]


def picture(protocol: Protocol) -> Picture:
    nodes = _Nodes(protocol)
    initial = next(iter(_leads(protocol, nodes, protocol.initial)))[0]
    arrows = [*_happening(protocol, nodes), *_arrows(protocol, nodes)]
    order = ranks.ordered([node.id for node in nodes.all()], initial, _pairs(arrows))
    marked = _marked(arrows, order.back, initial)
    ranked = [replace(node, rank=order.rank[node.id]) for node in nodes.all()]
    return Picture(
        clean(f"{protocol.name} {protocol.version}"),
        clean(protocol.description),
        initial,
        tuple(ranked),
        tuple(marked),
        _groups(protocol, nodes),
        _loops(protocol, nodes),
    )


class _Nodes:
    """The nodes so far, by name; a name that no state has becomes a node when it is met."""

    def __init__(self, protocol: Protocol) -> None:
        self._found: dict[tuple[str, str], Node] = {}
        for state in protocol.states.values():
            kind = KINDS.get(type(state.actor).__name__, OTHER)
            self._found[state.name, ""] = Node(
                f"s{len(self._found)}", _named(state.name), kind, clean(_detail(state))
            )

    def all(self) -> list[Node]:
        return list(self._found.values())

    def state(self, name: str) -> str:
        return self._found[name, ""].id if (name, "") in self._found else self.other(name, MISSING)

    def other(self, name: str, kind: str) -> str:
        node = Node(f"s{len(self._found)}", _named(name), kind)
        return self._found.setdefault((name, kind), node).id


def _named(name: str) -> str:
    return clean(name) or "(no name)"


def _detail(state: State) -> str:
    """What the kind alone does not tell; short, because it stands in a box."""
    match state.actor:
        case Agent(role=role):
            return role if role not in (state.name, state.group) else ""
        case Check(commands=commands):
            return ", ".join(command.name for command in commands)
        case Panel(reviewers=reviewers, quorum=quorum):
            return f"{quorum} of {len(reviewers)}"
        case Human(kind=kind):
            return kind
        case End(outcome=outcome):
            return outcome if outcome != state.name else ""
        case _:
            return ""


def _happening(protocol: Protocol, nodes: _Nodes) -> Iterator[Arrow]:
    """What interrupts a run comes from outside of it."""
    if protocol.interrupt is not None:
        source = nodes.other(protocol.interrupt.event, EVENT)
        line = clean(f"on {protocol.interrupt.on}")
        yield Arrow(source, nodes.state(protocol.interrupt.state), (line,))


def _arrows(protocol: Protocol, nodes: _Nodes) -> list[Arrow]:
    ways: dict[tuple[str, str, bool], list[Way]] = {}
    for edge in protocol.edges:
        source = nodes.state(edge.state)
        for target, spent in _ways(protocol, edge):
            for leads, remark in _leads(protocol, nodes, target):
                way = wording.way(protocol, edge, target, remark, spent)
                ways.setdefault((source, leads, spent), []).append(way)
    return [
        Arrow(source, leads, wording.lines(told), _exits(told), spent)
        for (source, leads, spent), told in ways.items()
    ]


def _exits(ways: list[Way]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(way.exit for way in ways))


def _ways(protocol: Protocol, edge: Edge) -> Iterator[tuple[Target, bool]]:
    """Where an edge leads, and where instead once its budget is spent."""
    yield from ((target, False) for target in edge.targets)
    if edge.charges:
        become = protocol.edges_of(edge.state, edge.spent_as) if edge.spent_as else ()
        instead = edge.spent or [target for other in become for target in other.targets]
        yield from ((target, True) for target in instead)


def _leads(protocol: Protocol, nodes: _Nodes, target: Target) -> Iterator[tuple[str, str]]:
    """The nodes that a target means, each with when it does."""
    if target.is_due:
        yield nodes.other("what was due", DUE), ""
    elif target.next_of in protocol.loops:
        loop = protocol.loops[target.next_of]
        yield nodes.state(loop.first), "[next item]"
        yield nodes.state(loop.after.state), "[no item left]"
    else:
        item = clean(target.item)
        yield nodes.state(target.state or target.next_of), f"[item {item}]" if item else ""


def _pairs(arrows: list[Arrow]) -> list[tuple[str, str]]:
    return [(arrow.source, arrow.target) for arrow in arrows]


def _marked(arrows: list[Arrow], back: frozenset[tuple[str, str]], initial: str) -> list[Arrow]:
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


def _groups(protocol: Protocol, nodes: _Nodes) -> tuple[Group, ...]:
    members: dict[str, list[State]] = {}
    for state in protocol.states.values():
        members.setdefault(state.group, []).append(state)
    return tuple(
        Group(
            clean(next((s.title for s in states if s.title), group)),
            tuple(nodes.state(s.name) for s in states),
        )
        for group, states in members.items()
        if len(states) > 1
    )


def _loops(protocol: Protocol, nodes: _Nodes) -> tuple[Group, ...]:
    return tuple(
        Group(
            clean(f"for each item of {loop.source}"),
            tuple(nodes.state(s.name) for s in protocol.states.values() if s.loop == loop.name),
        )
        for loop in protocol.loops.values()
    )
