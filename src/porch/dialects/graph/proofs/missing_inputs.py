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


class UpdateEnd(Struct, frozen=True):
    """An edge by which an update ends, and what the update may have forgotten by then."""

    last: TakenEdge
    lost: KnownPaths


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
    joins = {state.name: _find_branches(protocol, state) for state in protocol.states.values()}
    while True:
        passed = list(_find_taken_edges(protocol, known))
        ways: dict[str, list[KnownPaths]] = {name: [] for name in protocol.states}
        for arrival in _find_arrivals(protocol, passed):
            ways[arrival.state].append(arrival.known)
        fresh = {
            name: _known_on_arrival(joins[name], state, ways[name], passed)
            for name, state in protocol.states.items()
        }
        if fresh == known:
            return known
        known = fresh


class Branches(Struct, frozen=True):
    """The branches of a join: what each may forget that is not of another one, and all together."""

    beside: Mapping[str, KnownPaths]
    forgotten: KnownPaths


def _find_branches(protocol: p.Protocol, join: p.State) -> Branches:
    states = {path: _states_of_branch(protocol, join, path) for path in join.waits_for}
    beside = {
        said: _forgotten_in(protocol, _join_states(states, said) - states[said]) for said in states
    }
    return Branches(beside, _forgotten_in(protocol, _join_states(states)))


def _join_states(branches: Mapping[str, frozenset[str]], but: str = "") -> frozenset[str]:
    others = (states for said, states in branches.items() if said != but)
    return frozenset[str]().union(*others)


def _known_on_arrival(
    branches: Branches, state: p.State, ways: list[KnownPaths], passed: Iterable[TakenEdge]
) -> KnownPaths | None:
    brought = _known_after_exits(state, passed) if state.waits_for else {}
    # Until all of them have been seen, nothing is known about what follows.
    if not ways or len(brought) < len(state.waits_for):
        return None
    # What is missing here is told of the way that lacks it, and of no other one behind.
    needed = {_known_root(paths[0]) for _, paths in list_state_needs(state) if len(paths) == 1}
    # What a branch has told, and none of the branches beside it may have forgotten since.
    told = (known - branches.beside[said] for said, known in brought.items())
    kept = frozenset[str]().union(*told)
    return (frozenset.intersection(*ways) - (branches.forgotten - kept)).union(needed, kept)


def _forgotten_in(protocol: p.Protocol, states: frozenset[str]) -> KnownPaths:
    """What edges out of these states forget; those that part into branches come before all."""
    mine = [e for e in protocol.edges if e.state in states and len(e.targets) < 2]
    return frozenset(path for edge in mine for path in edge.forgets)


def _states_of_branch(protocol: p.Protocol, join: p.State, said: str) -> frozenset[str]:
    """The states from which an exit that a join waits for may still come in the same branch."""
    found = {said.partition(".")[0]}
    ways = [edge for edge in protocol.edges if len(edge.targets) < 2 and edge.state != join.name]
    while more := {e.state for e in ways if _leads_into(e, found)} - found:
        found |= more
    return frozenset(found)


def _leads_into(edge: p.Edge, states: set[str]) -> bool:
    return any(target.state in states for target in (*edge.targets, *edge.spent))


def _known_after_exits(state: p.State, passed: Iterable[TakenEdge]) -> dict[str, KnownPaths]:
    """For each exit that a join waits for, what is known once it was said."""
    found: dict[str, KnownPaths] = {}
    for passing in passed:
        said = _exit_path(passing.edge)
        if said in state.waits_for:
            found[said] = found.get(said, passing.known) & passing.known
    return found


# Guards that hold only where there is something.
_IMPLYING = ("filled", "equals", *p.FILE_TESTS)


def _find_taken_edges(protocol: p.Protocol, standing: KnownByState) -> Iterator[TakenEdge]:
    told: dict[str, set[str]] = {}
    for edge in protocol.edges:
        here = standing[edge.state]
        if here is None:
            continue
        surely = told.setdefault(_exit_path(edge), set())
        implied = {g.path for g in edge.guards if g.test in _IMPLYING}
        roots = {memory_key(path) for path in implied} | implied
        yield TakenEdge(
            edge, frozenset((here | {_exit_path(edge)} | surely | roots) - {*edge.forgets})
        )
        if len(edge.guards) == 1 and edge.guards[0].test == "empty":
            # Where the first way is for its absence, the others have it.
            surely.add(edge.guards[0].path)


def _find_arrivals(protocol: p.Protocol, passed: Iterable[TakenEdge]) -> Iterator[Arrival]:
    passed = list(passed)
    ends = list(_find_update_ends(protocol.interrupt, passed)) if protocol.interrupt else []
    yield Arrival(None, protocol.initial.state, frozenset())
    for passing in passed:
        for target in (*passing.edge.targets, *passing.edge.spent):
            if not target.is_due:
                yield from _find_target_arrivals(protocol, passing, target.state, ends)


def _find_target_arrivals(
    protocol: p.Protocol, passing: TakenEdge, state: str, ends: list[UpdateEnd]
) -> Iterator[Arrival]:
    yield Arrival(passing.edge, state, passing.known)
    if protocol.interrupt and protocol.states[state].is_interruptible:
        # A sibling has merged, or the target of the root has moved: only then there is a parent.
        more = passing.known | {"instance.target", "engine.update"}
        yield Arrival(passing.edge, protocol.interrupt.state, more)
        yield from _find_due_arrivals(protocol.interrupt, passing.known, state, ends)


def _find_update_ends(interrupt: p.Interrupt, passed: list[TakenEdge]) -> Iterator[UpdateEnd]:
    for last in (each for each in passed if any(to.is_due for to in each.edge.targets)):
        handlers = _list_handlers(interrupt, last.edge.state, passed)
        mine = (each.edge for each in passed if each.edge.state in handlers)
        ways = (edge for edge in mine if edge is last.edge or _leads_into(edge, handlers))
        lost = frozenset(path for edge in ways for path in edge.forgets) - last.known
        yield UpdateEnd(last, lost)


def _find_due_arrivals(
    interrupt: p.Interrupt, known: KnownPaths, state: str, ends: list[UpdateEnd]
) -> Iterator[Arrival]:
    """What was due is entered behind the update, with what the update has not forgotten."""
    for end in ends:
        is_adapted = end.last.edge.state != interrupt.state
        due = interrupt.adapted.get(state, state) if is_adapted else state
        yield Arrival(end.last.edge, due, known - end.lost)


def _list_handlers(interrupt: p.Interrupt, last: str, passed: list[TakenEdge]) -> set[str]:
    """The states between the beginning of an update and that in which it ends."""
    found = {last}
    ways = [each.edge for each in passed if each.edge.state != interrupt.state]
    while more := {edge.state for edge in ways if _leads_into(edge, found)} - found:
        found |= more
    return found | {interrupt.state}


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
    found = list(_find_arrivals(protocol, passed))
    for state in protocol.states.values():
        ways = [arrival for arrival in found if arrival.state == state.name]
        for name, paths in dict(list_state_needs(state)).items():
            lacking = [way for way in ways if not any(_is_supplied(way.known, p) for p in paths)]
            # What no way gives is missing once; otherwise each way that lacks it has its line.
            shown = lacking[:1] if len(lacking) == len(ways) else lacking
            edges = dict.fromkeys(_exit_path(way.edge) if way.edge else "" for way in shown)
            for said in edges:
                how = f"by {said}" if said else "at the start"
                message = f"'{name}' of '{state.name}' is not given {how}: {', '.join(paths)}"
                fix = "mark it with `?`, or make every edge into the state pass what it needs"
                yield Finding(
                    "unsupplied", message, places.get(said) or places.get(state.name), fix
                )


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


def _known_root(path: str) -> str:
    """What has to be known for a path to lead anywhere."""
    roots = ("parent", "engine.update", "instance.target")
    found = (root for root in roots if path == root or path.startswith(f"{root}."))
    return next(found, memory_key(path))


def _is_supplied(known: KnownPaths, path: str) -> bool:
    if path.startswith("parent.") or path == "parent":
        return "parent" in known
    if path.startswith("engine.update"):
        return "engine.update" in known
    if memory_key(path) == "instance.target":
        return "instance.target" in known or "parent" in known
    return path.startswith(("instance.", "engine.")) or memory_key(path) in known
