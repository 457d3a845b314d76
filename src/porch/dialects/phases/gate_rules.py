"""Gates that do not hold what they seem to: invented words, one name for two, a way around."""

from collections.abc import Iterable, Iterator, Mapping

from porch.dialects.phases.compiler.signal_exits import gate_name, required_gate_words
from porch.dialects.phases.compiler.stages import PANEL_STEPS, PhaseLayout
from porch.dialects.phases.compiler.targets import PhaseLookup
from porch.dialects.phases.file_records import PhasesFile
from porch.errors import Finding, Place
from porch.model.protocol import Edge, Human, Protocol, Target
from porch.text.nodes import ScalarNode

_NEAR = 0.85
_DECLARE = "declare it in 'signals', add a check of this name, or remove it"
# What a person answers to a failure is not a way around the gate, it is a decision.
_PEOPLES_WAYS = ("skip", "waived", "stopped")
END = "complete"


def find_gate_findings(definition: PhasesFile, atlas: PhaseLookup) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for layout in atlas.layouts.values():
        gate, name = layout.phase.gate, gate_name(layout)
        if gate is None:
            continue
        if name in seen:
            message = (
                f"the gates of '{seen[name]}' and '{layout.phase.id}' are both called '{name}'"
            )
            fix = "give each gate a name of its own: people approve by this name"
            yield Finding("duplicate-name", message, gate.place, fix)
        seen.setdefault(name, layout.phase.id)
        yield from _invented_word_findings(layout, definition)


def _invented_word_findings(layout: PhaseLayout, definition: PhasesFile) -> Iterator[Finding]:
    declared = {s.name for s in (*layout.phase.signals, *definition.signals)}
    invented = [word for word in required_gate_words(layout) if word not in declared]
    for word in layout.phase.gate.requires if layout.phase.gate else ():
        if word.text in invented:
            yield _invented_word_finding(word, layout, _known_words(layout, declared))


def _known_words(layout: PhaseLayout, signals: set[str]) -> list[str]:
    phase = layout.phase
    checks = [*phase.checks, *(phase.verification.checks if phase.verification else ())]
    names = [stage.name for stage in layout.stages if stage.name]
    panel = PANEL_STEPS if phase.consultation else ()
    return [*names, *(check.command.name for check in checks), *panel, *sorted(signals)]


def _invented_word_finding(word: ScalarNode, layout: PhaseLayout, known: list[str]) -> Finding:
    near = _find_near_word(word.text, known)
    message = (
        f"the gate '{gate_name(layout)}' requires '{word.text[:80]}', which is not a step, signal, "
        f"check or review of '{layout.phase.id}'"
    )
    fix = f"did you mean '{near}'?" if near else _DECLARE
    return Finding("unknown-step", message, word.place, fix)


def _find_near_word(word: str, known: list[str]) -> str:
    from difflib import get_close_matches

    plain = {_plain(each): each for each in known}
    near = get_close_matches(_plain(word), list(plain), n=1, cutoff=_NEAR)
    # Two letters that changed places make a short word look quite different.
    near += [each for each in plain if sorted(each) == sorted(_plain(word))]
    return plain[near[0]] if near else ""


def _plain(word: str) -> str:
    return word[:100].lower().replace("-", "_")


def find_ways_around_gates(protocol: Protocol, places: Mapping[str, Place]) -> Iterator[Finding]:
    """For each gate the shortest way from the beginning to the end on which nobody meets it."""
    steps = _list_steps(protocol)
    for state in protocol.states.values():
        if isinstance(state.actor, Human) and state.actor.kind == "gate":
            way = _find_way(_entered_states(protocol, protocol.initial), state.name, steps)
            if way:
                yield _way_around_finding(protocol, state.name, way, places)


def _list_steps(protocol: Protocol) -> dict[str, list[tuple[str, Edge]]]:
    """Where each state leads without a person who decides about a failure."""
    steps: dict[str, list[tuple[str, Edge]]] = {}
    for edge in protocol.edges:
        actor = protocol.states[edge.state].actor
        is_decision = isinstance(actor, Human) and actor.kind != "gate"
        if not (is_decision and edge.exit in _PEOPLES_WAYS):
            targets = [
                t for e in (*edge.targets, *edge.spent) for t in _entered_states(protocol, e)
            ]
            steps.setdefault(edge.state, []).extend((there, edge) for there in targets)
    return steps


def _find_way(
    begin: Iterable[str], gate: str, steps: Mapping[str, list[tuple[str, Edge]]]
) -> list[Edge]:
    """By breadth; empty if every way leads through the gate."""
    came_by: dict[str, Edge | None] = dict.fromkeys(begin)
    open_ = [name for name in came_by if name != gate]
    for name in open_:
        for there, edge in steps.get(name, ()):
            if there not in came_by and there != gate:
                came_by[there] = edge
                open_.append(there)
    return _trace_back(came_by)


def _trace_back(came_by: Mapping[str, Edge | None]) -> list[Edge]:
    way: list[Edge] = []
    edge = came_by.get(END)
    while edge is not None:
        way.append(edge)
        edge = came_by[edge.state]
    return way[::-1]


def _entered_states(protocol: Protocol, target: Target) -> tuple[str, ...]:
    loop = protocol.loops.get(target.next_of)
    return (loop.first, loop.after.state) if loop else (target.state,)


def _way_around_finding(
    protocol: Protocol, gate: str, way: list[Edge], places: Mapping[str, Place]
) -> Finding:
    state = protocol.states[gate]
    jump = _find_jump(protocol, gate, way)
    steps = [f"{edge.state} ({edge.exit})" for edge in way]
    shown = steps if len(steps) <= 8 else [*steps[:4], "...", *steps[-3:]]
    name = state.actor.name if isinstance(state.actor, Human) else gate
    message = f"there is a way around the gate '{name}': {' -> '.join([*shown, END])}"
    # Behind checks it is the signal before them that leads past the gate.
    told = [guard.path for guard in jump.guards if guard.path in places]
    path = told[0] if told else f"{jump.state}.{jump.exit}"
    begin, _, exit_ = path.rpartition(".")
    fix = f"let '{exit_}' of '{begin}' lead to '{state.group}' first, or remove the gate"
    place = places.get(path) or places.get(begin) or places.get(gate)
    return Finding("gate-avoided", message, place, fix, "warning")


def _find_jump(protocol: Protocol, gate: str, way: list[Edge]) -> Edge:
    """The step of the way that passes the gate in the order of the file."""
    here = protocol.order(gate)
    passing = [edge for edge in way if protocol.order(edge.state) <= here]
    return passing[-1] if passing else way[0]
