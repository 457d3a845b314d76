"""A protocol being drawn: states and edges in the order they are found, budgets by their phase."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from porch.dialects.phases.mapping_reader import Findings
from porch.errors import Finding, Place
from porch.model.protocol import (
    Budget,
    Edge,
    Guard,
    Input,
    Loop,
    Protocol,
    State,
    Target,
)

COMPLETE = Target("complete")
ABANDONED = Target("abandoned")


class DrawnEdge(Struct):
    """An edge, and what it still has to learn from the finished drawing."""

    edge: Edge
    phase: str
    leaves: bool = False
    refreshes: bool = False


class ProtocolDraft(Struct):
    findings: Findings
    states: dict[str, State] = field(default_factory=dict)
    edges: list[DrawnEdge] = field(default_factory=list)
    budgets: dict[str, Budget] = field(default_factory=dict)
    budgets_of: dict[str, list[str]] = field(default_factory=dict)
    paths_of: dict[str, list[Input]] = field(default_factory=dict)
    memory_of: dict[str, list[str]] = field(default_factory=dict)
    completions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    loops: dict[str, Loop] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    prompts: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, state: State, place: Place) -> None:
        if state.name in self.states:
            message = f"there is already a state '{state.name}'"
            fix = "rename the step: porch uses this name itself"
            self.findings.append(Finding("reserved-name", message, place, fix))
        self.states.setdefault(state.name, state)
        self.places.setdefault(state.name, place)

    def budget(self, phase: str, name: str, limit: int) -> str:
        self.budgets.setdefault(name, Budget(name, limit))
        owned = self.budgets_of.setdefault(phase, [])
        if name not in owned:
            owned.append(name)
        return name

    def shown(self, phase: str, label: str, *paths: str) -> None:
        """These paths are worth showing to every agent of the phase."""
        self.paths_of.setdefault(phase, []).extend(Input(label, path) for path in paths)

    def edge(
        self,
        phase: str,
        state: str,
        exit_: str,
        *targets: Target,
        guards: Iterable[Guard] = (),
        charges: str = "",
        spent: Target | None = None,
        resets: Iterable[str] = (),
        forgets: Iterable[str] = (),
        delay_s: float = 0,
        leaves: bool = False,
        refreshes: bool = False,
        place: Place | None = None,
    ) -> None:
        edge = Edge(
            state,
            exit_,
            targets,
            tuple(guards),
            charges,
            (spent,) if spent else (),
            tuple(resets),
            tuple(forgets),
            delay_s,
        )
        self.edges.append(DrawnEdge(edge, phase, leaves, refreshes))
        if place is not None:
            self.places.setdefault(f"{state}.{exit_}", place)


def finish_edges(draft: ProtocolDraft, order: Mapping[str, int]) -> tuple[Edge, ...]:
    return tuple(_finish_edge(draft, drawn, order) for drawn in draft.edges)


def _finish_edge(draft: ProtocolDraft, drawn: DrawnEdge, order: Mapping[str, int]) -> Edge:
    """Going forward out of a phase clears its budgets and its memory for the next visit."""
    edge = drawn.edge
    budgets = draft.budgets_of.get(drawn.phase, [])
    resets, forgets = list(edge.resets), list(edge.forgets)
    if drawn.leaves and _is_forward(edge, order):
        resets += budgets
        forgets += [shown.path for shown in draft.paths_of.get(drawn.phase, [])]
        forgets += draft.memory_of.get(drawn.phase, [])
    if drawn.refreshes:
        resets += budgets
    kept = tuple(name for name in dict.fromkeys(resets) if name != edge.charges)
    return replace(edge, resets=kept, forgets=tuple(dict.fromkeys(forgets)))


def _is_forward(edge: Edge, order: Mapping[str, int]) -> bool:
    here = order.get(edge.state, 0)
    return all(t.next_of or order.get(t.state, 0) > here for t in edge.targets)


def finish_protocol(draft: ProtocolDraft, protocol: Protocol) -> Protocol:
    order = {name: number for number, name in enumerate(draft.states)}
    return replace(
        protocol,
        states=draft.states,
        edges=finish_edges(draft, order),
        budgets=draft.budgets,
        loops=draft.loops,
    )
