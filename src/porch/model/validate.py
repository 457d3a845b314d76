"""Rules of whole protocols: every word leads somewhere, every answer has a way, every run ends."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import assert_never

from porch.errors import Finding, Place, Severity
from porch.model.budget_cycles import find_budget_knots
from porch.model.gate_ways import find_unapproved_merge, find_ways_around_gates
from porch.model.protocol import (
    BLOCKED,
    EXHAUSTED,
    NO_PROGRESS,
    SILENT,
    Agent,
    Check,
    Children,
    Edge,
    End,
    Git,
    Human,
    Join,
    Loop,
    Panel,
    Protocol,
    State,
    Target,
)

# What the engine says for an agent that was asked a typed question.
TYPED = (SILENT, EXHAUSTED, NO_PROGRESS)
Places = Mapping[str, Place]
NextStates = Mapping[str, list[str]]


def validate_protocol(protocol: Protocol, places: Places) -> list[Finding]:
    """Everything that is wrong with a protocol, whichever dialect it came from."""
    return [finding for rule in RULES for finding in rule(protocol, places)]


def exits_of(state: State) -> tuple[str, ...]:
    """Every exit that the actor of a state can give."""
    match state.actor:
        case Agent(exits=exits, ask=ask):
            declared = [exit_.name for exit_ in exits]
            more = (BLOCKED, SILENT, EXHAUSTED) if ask is None else TYPED
            return tuple(dict.fromkeys([*declared, *more]))
        case Check():
            return ("passed", "failed", "unmeasured")
        case Panel():
            return ("approved", "changes", "undecided")
        case Human(options=options):
            return tuple(option.exit for option in options)
        case Git() | Children() | Join() | End():
            return _GIVEN[type(state.actor)]
        case _:
            assert_never(state.actor)


_GIVEN: Mapping[type, tuple[str, ...]] = {
    Git: ("clean", "refused", "conflict"),
    Children: ("settled",),
    Join: ("ready",),
    End: (),
}


def _make_finding(
    code: str, message: str, place: Place | None, *, fix: str = "", severity: Severity = "error"
) -> Finding:
    return Finding(code, message, place, fix, severity)


def _find_place(places: Places, state: str, exit_: str = "") -> Place | None:
    return places.get(f"{state}.{exit_}") or places.get(state)


def _unknown_targets(protocol: Protocol, places: Places) -> Iterator[Finding]:
    if not _is_known_target(protocol, protocol.initial):
        message = (
            f"the protocol begins at '{_describe_target(protocol.initial)}', which does not exist"
        )
        yield _make_finding("unknown-state", message, None)
    for edge in protocol.edges:
        if edge.state not in protocol.states:
            message = f"an edge begins at '{edge.state}', which does not exist"
            yield _make_finding(
                "unknown-state", message, _find_place(places, edge.state, edge.exit)
            )
        for target in (*edge.targets, *edge.spent):
            if not _is_known_target(protocol, target):
                what = f"exit '{edge.exit}' of '{edge.state}'"
                message = f"{what} leads to '{_describe_target(target)}', which does not exist"
                yield _make_finding(
                    "unknown-state", message, _find_place(places, edge.state, edge.exit)
                )


def _is_known_target(protocol: Protocol, target: Target) -> bool:
    if target.is_due:
        return protocol.interrupt is not None
    return target.next_of in protocol.loops if target.next_of else target.state in protocol.states


def _describe_target(target: Target) -> str:
    if target.is_due:
        return "what was due"
    if target.next_of:
        return f"the next item of {target.next_of}"
    return f"{target.state}:{target.item}" if target.item else target.state


def _missing_edges(protocol: Protocol, places: Places) -> Iterator[Finding]:
    last: dict[tuple[str, str], Edge] = {}
    for edge in protocol.edges:
        last[edge.state, edge.exit] = edge
        if not edge.targets:
            message = f"exit '{edge.exit}' of '{edge.state}' has no target"
            yield _make_finding("missing-edge", message, _find_place(places, edge.state, edge.exit))
    for name, state in protocol.states.items():
        for exit_ in exits_of(state):
            found = last.get((name, exit_))
            if found is None:
                message = f"exit '{exit_}' of '{name}' has no edge"
                yield _make_finding("missing-edge", message, _find_place(places, name, exit_))
            elif found.guards:
                message = f"exit '{exit_}' of '{name}' has only edges with guards"
                fix = "add a last edge without a guard"
                yield _make_finding(
                    "guarded-edge", message, _find_place(places, name, exit_), fix=fix
                )


def _foreign_edges(protocol: Protocol, places: Places) -> Iterator[Finding]:
    closed: set[tuple[str, str]] = set()
    for edge in protocol.edges:
        state, key = protocol.states.get(edge.state), (edge.state, edge.exit)
        if state is not None and edge.exit not in exits_of(state):
            message = f"'{edge.state}' can never end with '{edge.exit}'"
            yield _make_finding("unknown-exit", message, _find_place(places, *key))
        elif key in closed:
            message = (
                f"an edge of exit '{edge.exit}' of '{edge.state}' comes after one without a guard"
            )
            yield _make_finding(
                "dead-edge", message, _find_place(places, *key), fix="put the guarded edges first"
            )
        if not edge.guards:
            closed.add(key)


def _ambiguous_signals(protocol: Protocol, places: Places) -> Iterator[Finding]:
    for name, state in protocol.states.items():
        if not isinstance(state.actor, Agent):
            continue
        words = [word for exit_ in state.actor.exits for word in exit_.signals]
        for word in dict.fromkeys(word for word in words if words.count(word) > 1):
            message = f"the signal '{word}' of '{name}' means more than one exit"
            yield _make_finding("ambiguous-signal", message, places.get(name))


def _unsound_budgets(protocol: Protocol, places: Places) -> Iterator[Finding]:
    for budget in protocol.budgets.values():
        if budget.limit < 0:
            message = f"budget '{budget.name}' has a limit of {budget.limit}"
            yield _make_finding("bad-budget", message, None, fix="use 0 or more")
    for edge in protocol.edges:
        place = _find_place(places, edge.state, edge.exit)
        what = f"exit '{edge.exit}' of '{edge.state}'"
        for name in (edge.charges, *edge.resets):
            if name and name not in protocol.budgets:
                yield _make_finding("bad-budget", f"{what} uses the unknown budget '{name}'", place)
        if edge.charges and not (edge.spent or edge.spent_as):
            yield _make_finding(
                "bad-budget", f"{what} does not say where to go when the budget is used up", place
            )


def _unsound_loops(protocol: Protocol, places: Places) -> Iterator[Finding]:
    for loop in protocol.loops.values():
        first, place = protocol.states.get(loop.first), places.get(loop.first)
        if first is None or first.loop != loop.name:
            message = f"loop '{loop.name}' begins at '{loop.first}', which is not inside it"
            yield _make_finding("bad-loop", message, place)
        if loop.after.next_of or not _is_known_target(protocol, loop.after):
            target = _describe_target(loop.after)
            message = f"loop '{loop.name}' leads to '{target}', which does not exist"
            yield _make_finding("bad-loop", message, place)
        if not loop.source:
            yield _make_finding("bad-loop", f"loop '{loop.name}' has no document to read", place)
    for state in protocol.states.values():
        if state.loop and state.loop not in protocol.loops:
            message = f"'{state.name}' belongs to the loop '{state.loop}', which does not exist"
            yield _make_finding("bad-loop", message, places.get(state.name))


def _unreachable_states(protocol: Protocol, places: Places) -> Iterator[Finding]:
    reached = _reachable_states(protocol)
    ends = [name for name, state in protocol.states.items() if _is_good_end(state)]
    if not any(name in reached for name in ends):
        message = "no path through the protocol reaches an end"
        yield _make_finding("no-end", message, places.get(protocol.initial.state))
    for name, state in protocol.states.items():
        if name not in reached and not isinstance(state.actor, End):
            message = f"no edge leads to '{name}'"
            # A typed graph is proved; an older phases file may carry what nobody uses.
            severity: Severity = "error" if protocol.spec else "warning"
            yield _make_finding("unreachable", message, places.get(name), severity=severity)


def _is_good_end(state: State) -> bool:
    return isinstance(state.actor, End) and state.actor.outcome != "abandoned"


def _reachable_states(protocol: Protocol) -> set[str]:
    ways: dict[str, set[str]] = {}
    for edge in protocol.edges:
        for target in (*edge.targets, *edge.spent):
            ways.setdefault(edge.state, set()).update(_target_states(target, protocol.loops))
            kind = protocol.states.get(target.state)
            if protocol.interrupt and kind is not None and kind.is_interruptible:
                ways[edge.state].add(protocol.interrupt.state)
    reached: set[str] = set()
    open_ = list(_target_states(protocol.initial, protocol.loops))
    while open_:
        name = open_.pop()
        if name not in reached:
            reached.add(name)
            open_.extend(ways.get(name, ()))
    return reached


def _target_states(target: Target, loops: Mapping[str, Loop]) -> tuple[str, ...]:
    loop = loops.get(target.next_of)
    if loop is not None:
        return (loop.first, loop.after.state)
    return (target.state,) if target.state else ()


def _endless_cycles(protocol: Protocol, places: Places) -> Iterator[Finding]:
    """Without people and without charging a budget, no state may come back to itself."""
    steps = free_steps(protocol.states, protocol.edges, protocol.loops)
    knot_of = find_knots(steps)
    seen: set[int] = set()
    for name in protocol.states:
        knot = knot_of.get(name)
        if knot is not None and knot not in seen:
            seen.add(knot)
            way = " -> ".join(_find_cycle(name, steps, knot_of))
            message = f"this loop has no limit: {way}"
            fix = "charge a budget in the loop, or ask a person"
            yield _make_finding("endless", message, places.get(name), fix=fix)


def _undone_charges(protocol: Protocol, places: Places) -> Iterator[Finding]:
    """A budget that is restored on the way round ends nothing."""
    if _has_endless_knots(protocol):
        # Said already, and more plainly.
        return
    for names in find_budget_knots(protocol, find_knots):
        way = ", ".join(sorted(names, key=protocol.order))
        message = f"every budget that this loop charges is also reset in it: {way}"
        fix = "charge a budget that no edge of the loop resets"
        yield _make_finding("endless", message, places.get(min(names, key=protocol.order)), fix=fix)


def _has_endless_knots(protocol: Protocol) -> bool:
    return bool(find_knots(free_steps(protocol.states, protocol.edges, protocol.loops)))


def free_steps(
    states: Mapping[str, State], edges: Iterable[Edge], loops: Mapping[str, Loop]
) -> NextStates:
    """Where a run can get from each state at no charge and without a person.

    The step to the next item of a loop is free only in so far as it leads out of the loop:
    within it the list runs out. A charged edge is free once its budget is spent.
    """
    steps: dict[str, list[str]] = {}
    for edge in edges:
        state = states.get(edge.state)
        if state is None or isinstance(state.actor, Human):
            continue
        for target in _free_targets(edge):
            loop = loops.get(target.next_of)
            steps.setdefault(edge.state, []).append(loop.after.state if loop else target.state)
    return steps


def _free_targets(edge: Edge) -> Iterator[Target]:
    """Where an edge can lead at no charge; what an interrupt had put off is no new step."""
    targets = edge.spent if edge.charges else edge.targets
    return (target for target in targets if not target.is_due)


def find_knots(steps: NextStates) -> dict[str, int]:
    """States that can come back to themselves, each with the number of its knot (Tarjan)."""
    found: dict[str, int] = {}
    low: dict[str, int] = {}
    number: dict[str, int] = {}
    stack: dict[str, None] = {}
    for root in steps:
        if root not in number:
            _visit_state(root, steps, found, low, number, stack)
    return found


def _visit_state(
    root: str,
    steps: NextStates,
    found: dict[str, int],
    low: dict[str, int],
    number: dict[str, int],
    stack: dict[str, None],
) -> None:
    """Without recursion: a protocol may be longer than Python's stack is deep."""
    work = [(root, iter(steps.get(root, ())))]
    number[root] = low[root] = len(number)
    stack[root] = None
    while work:
        name, rest = work[-1]
        child = next(rest, None)
        if child is None:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == number[name]:
                _take_knot(name, steps, found, stack, number)
        elif child not in number:
            number[child] = low[child] = len(number)
            stack[child] = None
            work.append((child, iter(steps.get(child, ()))))
        elif child in stack:
            low[name] = min(low[name], number[child])


def _take_knot(
    name: str,
    steps: NextStates,
    found: dict[str, int],
    stack: dict[str, None],
    number: dict[str, int],
) -> None:
    members = [stack.popitem()[0]]
    while members[-1] != name:
        members.append(stack.popitem()[0])
    if len(members) > 1 or name in steps.get(name, ()):
        found.update(dict.fromkeys(members, number[name]))


def _find_cycle(name: str, steps: NextStates, knot_of: Mapping[str, int]) -> list[str]:
    """One way round a knot, by breadth so that it is a short one."""
    came_from: dict[str, str] = {}
    level = [name]
    while name not in came_from:
        further = []
        for here in level:
            for there in steps.get(here, ()):
                if knot_of.get(there) == knot_of[name] and there not in came_from:
                    came_from[there] = here
                    further.append(there)
        level = further
    way = [name]
    while len(way) == 1 or way[-1] != name:
        way.append(came_from[way[-1]])
    return way[::-1]


Rule = Callable[[Protocol, Places], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    _unknown_targets,
    _missing_edges,
    _foreign_edges,
    _ambiguous_signals,
    _unsound_budgets,
    _unsound_loops,
    _unreachable_states,
    _endless_cycles,
    _undone_charges,
    find_ways_around_gates,
    find_unapproved_merge,
)
