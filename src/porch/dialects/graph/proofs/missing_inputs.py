"""A proof about data: whatever a state needs is supplied on every way into it."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from porch.errors import Finding, Place
from porch.model import protocol as p
from porch.model.memory_paths import memory_key

KnownPaths = frozenset[str]
Places = Mapping[str, Place]
KnownByState = Mapping[
    str, KnownPaths | None
]  # what is surely known in a state; None: never reached


class TakenEdge(Struct, frozen=True):
    """One edge that can be taken, and what is surely remembered when it has been."""

    edge: p.Edge
    known: KnownPaths


class Arrival(Struct, frozen=True):
    """One way into a state, and what is surely remembered there."""

    edge: p.Edge | None
    state: str
    known: KnownPaths


def find_missing_inputs(protocol: p.Protocol, places: Places) -> list[Finding]:
    """What is needed somewhere and not surely there, and joins that wait in vain."""
    standing = _known_in_states(protocol)
    passed = list(_find_taken_edges(protocol, standing))
    return [
        *_find_unreachable_joins(protocol, standing, passed, places),
        *_find_unsupplied_inputs(protocol, passed, places),
        *_find_unsupplied_keeps(passed, places),
    ]


def list_arrivals(protocol: p.Protocol) -> list[Arrival]:
    """Every way into every state, and what is surely remembered there."""
    return list(_find_arrivals(protocol, _find_taken_edges(protocol, _known_in_states(protocol))))


def _known_in_states(protocol: p.Protocol) -> KnownByState:
    """A fixed point: what is known in a state is what all ways into it bring."""
    known: KnownByState = dict.fromkeys(protocol.states)
    while True:
        passed = list(_find_taken_edges(protocol, known))
        found = list(_find_arrivals(protocol, passed))
        fresh = {
            name: _known_on_arrival(protocol.states[name], found, passed)
            for name in protocol.states
        }
        if fresh == known:
            return known
        known = fresh


def _known_on_arrival(
    state: p.State, found: Iterable[Arrival], passed: Iterable[TakenEdge]
) -> KnownPaths | None:
    ways = [arrival.known for arrival in found if arrival.state == state.name]
    brought = _known_after_exits(state, passed)
    # Until all of them have been seen, nothing is known about what follows.
    if not ways or len(brought) < len(state.waits_for):
        return None
    return frozenset.intersection(*ways).union(*brought.values())


def _known_after_exits(state: p.State, passed: Iterable[TakenEdge]) -> dict[str, KnownPaths]:
    """For each exit that a join waits for, what is known once it was said."""
    found: dict[str, KnownPaths] = {}
    for passing in passed:
        said = _exit_path(passing.edge)
        if said in state.waits_for:
            found[said] = found.get(said, passing.known) & passing.known
    return found


def _find_taken_edges(protocol: p.Protocol, standing: KnownByState) -> Iterator[TakenEdge]:
    told: dict[str, set[str]] = {}
    for edge in protocol.edges:
        here = standing[edge.state]
        if here is None:
            continue
        surely = told.setdefault(_exit_path(edge), set())
        implied = {g.path for g in edge.guards if g.test in ("filled", "equals", "within")}
        roots = {memory_key(path) for path in implied} | implied
        yield TakenEdge(
            edge, frozenset((here | {_exit_path(edge)} | surely | roots) - {*edge.forgets})
        )
        if len(edge.guards) == 1 and edge.guards[0].test == "empty":
            # Where the first way is for its absence, the others have it.
            surely.add(edge.guards[0].path)


def _find_arrivals(protocol: p.Protocol, passed: Iterable[TakenEdge]) -> Iterator[Arrival]:
    yield Arrival(None, protocol.initial.state, frozenset())
    for passing in passed:
        for target in (*passing.edge.targets, *passing.edge.spent):
            if not target.is_due:
                yield from _find_target_arrivals(protocol, passing, target.state)


def _find_target_arrivals(
    protocol: p.Protocol, passing: TakenEdge, state: str
) -> Iterator[Arrival]:
    yield Arrival(passing.edge, state, passing.known)
    if protocol.interrupt and protocol.states[state].is_interruptible:
        # Only who has a parent has siblings.
        more = passing.known | {"parent", "engine.update"}
        yield Arrival(passing.edge, protocol.interrupt.state, more)


def _exit_path(edge: p.Edge) -> str:
    return f"{edge.state}.{edge.exit}"


def _find_unreachable_joins(
    protocol: p.Protocol, standing: KnownByState, passed: list[TakenEdge], places: Places
) -> Iterator[Finding]:
    for name, state in protocol.states.items():
        missing = [
            path for path in state.waits_for if path not in _known_after_exits(state, passed)
        ]
        if standing[name] is None and missing:
            message = f"'{name}' waits for {', '.join(missing)}, which can never come before it"
            yield Finding("unreachable-join", message, places.get(name))
    for passing in passed:
        yield from _find_unawaited_exits(protocol, passing.edge, places)


def _find_unawaited_exits(protocol: p.Protocol, edge: p.Edge, places: Places) -> Iterator[Finding]:
    """A way that leads to nothing but a join ends there, so the join must wait for it."""
    names = [target.state for target in edge.targets if not target.is_due]
    joins = [protocol.states[name] for name in names]
    if (
        all(isinstance(j.actor, p.Join) and _exit_path(edge) not in j.waits_for for j in joins)
        and joins
    ):
        message = (
            f"'{_exit_path(edge)}' leads only to {', '.join(names)}, and no join there waits for it"
        )
        fix = "list it under 'rearm' or 'latched' of the join"
        yield Finding("unreachable-join", message, places.get(_exit_path(edge)), fix)


def _find_unsupplied_inputs(
    protocol: p.Protocol, passed: list[TakenEdge], places: Places
) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for arrival in _find_arrivals(protocol, passed):
        state = protocol.states[arrival.state]
        for name, paths in list_state_needs(state):
            is_there = any(_is_supplied(arrival.known, path) for path in paths)
            if is_there or (state.name, name) in seen:
                continue
            seen.add((state.name, name))
            way = f"by {_exit_path(arrival.edge)}" if arrival.edge else "at the start"
            message = f"'{name}' of '{state.name}' is not given {way}: {', '.join(paths)}"
            fix = "mark it with `?`, or make every edge into the state pass what it needs"
            place = places.get(_exit_path(arrival.edge)) if arrival.edge else None
            yield Finding("unsupplied", message, place or places.get(state.name), fix)


def _find_unsupplied_keeps(passed: list[TakenEdge], places: Places) -> Iterator[Finding]:
    """What an edge writes into a memory must be there when it is taken."""
    for passing in passed:
        for keep in passing.edge.keeps:
            known = passing.known | {*passing.edge.forgets}
            if not _is_supplied(known, keep.path):
                message = f"'{_exit_path(passing.edge)}' keeps {keep.path}, which may be missing"
                fix = "keep it on an edge of the exit that gives it"
                yield Finding("unsupplied", message, places.get(_exit_path(passing.edge)), fix)


def list_state_needs(state: p.State) -> Iterator[tuple[str, tuple[str, ...]]]:
    given: tuple[str, ...] = ()
    match state.actor:
        case p.Agent(ask=p.Ask() as ask, exits=exits):
            for take in ask.takes:
                yield from _list_input_needs(take)
            filled = [path for exit_ in exits for path in exit_.filled.values()]
            given = (*ask.diff, ask.at, *filled, *measured_paths(state.name, exits))
        case p.Git() as git:
            given = git.inputs
        case p.Children(specs=specs):
            given = (specs,)
        case _:
            pass
    yield from ((path, (path,)) for path in given if path)


def measured_paths(state: str, exits: tuple[p.Exit, ...]) -> Iterator[str]:
    """What checks look at, beside the answer itself."""
    for exit_ in exits:
        own = f"{state}.{exit_.name}."
        paths = [path for measure in exit_.measures for path in (*measure.of, *measure.by)]
        yield from (path for path in paths if not path.startswith(own))


def _list_input_needs(take: p.Take) -> Iterator[tuple[str, tuple[str, ...]]]:
    if take.optional:
        return
    for part in take.parts:
        yield from _list_input_needs(part)
    if take.paths:
        yield take.name, take.paths


def _is_supplied(known: KnownPaths, path: str) -> bool:
    if path.startswith("parent.") or path == "parent":
        return "parent" in known
    if path.startswith("engine.update"):
        return "engine.update" in known
    if memory_key(path) == "instance.target":
        return "instance.target" in known or "parent" in known
    return path.startswith(("instance.", "engine.")) or memory_key(path) in known
