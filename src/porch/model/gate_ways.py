"""Ways of a run from its beginning to its end on which nobody is asked at a gate.

Whatever stands behind a gate counts on its approval, so no signal, no failed check and no beginning
of a run may lead past it. Ways that a person takes on purpose do not count: what the gate itself
is answered, and to skip or to waive a failure. Who waits for others has passed what they have
passed, so branches may lie beside a gate.

A graph may ask at a gate only under a condition about the answer, such as "where there are parts".
Where the condition does not hold, the gate counts as passed.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby

from porch.errors import Finding, Place
from porch.model.flow import find_passing
from porch.model.protocol import Agent, Edge, End, Human, Protocol, Target
from porch.model.track_names import fork_of_join

# Where a file says what becomes of the work; no state has such a name.
FINISH = "@finish"
_WAYS_OF_PEOPLE = ("skip", "waived", "stopped")
Steps = Mapping[str, list[tuple[str, Edge]]]


def find_ways_around_gates(protocol: Protocol, places: Mapping[str, Place]) -> Iterator[Finding]:
    """For each gate the shortest way to the end that does not pass it."""
    actors = {name: state.actor for name, state in protocol.states.items()}
    people = {name: each for name, each in actors.items() if isinstance(each, Human)}
    gates = {name: each.name for name, each in people.items() if each.kind == "gate"}
    if not gates:
        return
    steps = _list_steps(protocol, gates)
    ways = [(name, target) for name, each in steps.items() for target, _ in each]
    passes = find_passing(protocol.starts, *_end_branches(protocol, ways))
    led_to = {target for _, target in ways}
    ends = {n for n, a in actors.items() if isinstance(a, End) and a.outcome == "complete"}
    for gate, name in gates.items():
        if gate in led_to and not all(passes(end, gate) for end in ends):
            way = _find_way(protocol, gate, ends, passes, steps)
            if way:
                yield _make_finding(protocol, gate, name, way, places)


def find_unapproved_merge(protocol: Protocol, places: Mapping[str, Place]) -> Iterator[Finding]:
    """Whoever has the work merged without being asked about it would have agents merge it."""
    if not protocol.finish:
        return
    actors = {name: state.actor for name, state in protocol.states.items()}
    gates = {n: a.name for n, a in actors.items() if isinstance(a, Human) and a.kind == "gate"}
    ends = {n for n, a in actors.items() if isinstance(a, End) and a.outcome == "complete"}
    steps = _list_steps(protocol, gates)
    begins = [protocol.initial.state, *(n for n, a in actors.items() if isinstance(a, Agent))]
    for begin in begins:
        reached = [] if begin in gates else [begin]
        for name in reached:
            ahead = (target for target, _ in steps.get(name, ()))
            reached += [each for each in ahead if each not in gates and each not in reached]
        if ends.intersection(reached):
            group = protocol.group_of(begin)
            yield Finding(
                "finish-without-gate",
                f"'finish' merges the work, and no person is asked between '{group}' and the end",
                places.get(FINISH),
                f"give '{group}' or a phase behind it a gate, or remove 'finish'",
            )
            return


def _end_branches(
    protocol: Protocol, ways: list[tuple[str, str]]
) -> tuple[list[tuple[str, str]], Mapping[str, tuple[str, ...]]]:
    """Where branches of a plan wait for each other, each ends in a node of its own."""
    awaited, known = dict(protocol.awaited), []
    for source, target in ways:
        if fork_of_join(target) in protocol.states:
            branch = f"{target} of {protocol.group_of(source)}"
            known.append((source, branch))
            awaited[branch] = ()
            awaited[target] = tuple(dict.fromkeys((*awaited[target], branch)))
            known.append((branch, target))
        else:
            known.append((source, target))
    return known, awaited


def _list_steps(protocol: Protocol, gates: Collection[str]) -> Steps:
    """Where each state leads without a person who decides about a failure."""
    steps: dict[str, list[tuple[str, Edge]]] = {}
    for edge in protocol.edges:
        state = protocol.states.get(edge.state)
        is_decision = edge.state not in gates and state and isinstance(state.actor, Human)
        if not (is_decision and edge.exit in _WAYS_OF_PEOPLE):
            targets = (*edge.targets, *edge.spent)
            entered = [name for target in targets for name in _list_entered(protocol, target)]
            begin = _find_conditional_gate(protocol, edge, gates) or edge.state
            steps.setdefault(begin, []).extend((name, edge) for name in entered)
    return steps


def _find_conditional_gate(protocol: Protocol, edge: Edge, gates: Collection[str]) -> str:
    """The gate to which the same answer leads under a condition about what it contains."""
    for other in protocol.edges_of(edge.state, edge.exit):
        guarded = (*other.guards, *edge.guards)
        # Which signal was said is no such condition: the agent chooses it.
        if any(guard.path.rpartition(".")[0] not in protocol.states for guard in guarded):
            found = next((t.state for t in other.targets if t.state in gates), "")
            if found and edge.targets != other.targets:
                return found
    return ""


def _list_entered(protocol: Protocol, target: Target) -> tuple[str, ...]:
    """The states that a target may mean; in front of an interruptible one comes its interrupt."""
    loop = protocol.loops.get(target.next_of)
    if loop:
        return (loop.first, loop.after.state)
    state = protocol.states.get(target.state)
    interrupt = protocol.part_of(target.state).interrupt
    is_interrupted = state is not None and state.is_interruptible and interrupt is not None
    return (target.state, *((interrupt.state,) if is_interrupted and interrupt else ()))


def _find_way(
    protocol: Protocol,
    gate: str,
    ends: Collection[str],
    passes: Callable[[str, str], bool],
    steps: Steps,
) -> list[Edge]:
    """By breadth, over what can be reached without the gate; empty if that is no end."""
    start = protocol.part_of(gate).initial
    came_by: dict[str, Edge | None] = {start: None}
    open_ = [start] if start != gate else []
    for name in open_:
        if name in ends:
            return _trace_back(came_by, name)
        for target, edge in steps.get(name, ()):
            if target not in came_by and not passes(target, gate):
                came_by[target] = edge
                open_.append(target)
    return []


def _trace_back(came_by: Mapping[str, Edge | None], end: str) -> list[Edge]:
    way: list[Edge] = []
    edge = came_by[end]
    while edge is not None:
        way.append(edge)
        edge = came_by[edge.state]
    return way[::-1]


def _list_leaps(protocol: Protocol, gate: str, way: list[Edge]) -> list[Edge]:
    orders = [protocol.order(edge.state) for edge in way]
    here = protocol.order(gate)
    ahead = [*(order > here for order in orders[1:]), True]
    return [
        edge
        for edge, order, is_ahead in zip(way, orders, ahead, strict=True)
        if order < here and is_ahead
    ]


def _make_finding(
    protocol: Protocol, gate: str, name: str, way: list[Edge], places: Mapping[str, Place]
) -> Finding:
    owner = protocol.group_of(gate)
    groups = [*(protocol.group_of(edge.state) for edge in way), "complete"]
    phases = " -> ".join(group for group, _ in groupby(groups))
    message = f"there is a way around the gate '{name}' of '{owner}': {phases}"
    in_front = protocol.states_in_front(gate)
    # If nothing leads to the gate, it is the answer that leads from before it to behind it.
    passing = [edge for edge in way if edge.state in in_front] or _list_leaps(protocol, gate, way)
    if not passing:
        message += f"; the run begins behind it, at '{way[0].state}'"
        fix = f"let the run begin at '{owner}' or before it, or remove the gate"
        return Finding("gate-avoided", message, places.get(way[0].state), fix)
    jump = passing[-1]
    # Behind checks it is the signal before them that leads past the gate.
    paths = [guard.path for guard in jump.guards if guard.path in places]
    path = paths[0] if paths else f"{jump.state}.{jump.exit}"
    state, _, exit_ = path.rpartition(".")
    message += f"; '{exit_}' of '{state}' leads past it"
    fix = f"let '{exit_}' of '{state}' lead to '{owner}' first, or remove the gate"
    place = places.get(path) or places.get(state) or places.get(gate)
    return Finding("gate-avoided", message, place, fix)
