"""Going back: what lay at and after the target is void, what lay before it stands."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from porch.machine import moves as m
from porch.machine.approvals import FOUND, find_gate, open_questions
from porch.machine.budgets import STATE as BUDGET
from porch.machine.exits.departure import departure_from_nowhere, entry_moves, state_entry_moves
from porch.machine.facts import Wish
from porch.machine.outside import STATE as TARGET
from porch.machine.state import CHANGED, RunState, Standing
from porch.model.memory_paths import evidence_path
from porch.model.protocol import Check, End, Human, Protocol, Target

ExitTargets = tuple[frozenset[str], ...]  # for each target of one exit, the states it can mean


class RollbackTarget(Struct, frozen=True):
    """Where a wish wants to go back to; `start` is the item from which its loop is done again."""

    protocol: Protocol
    state: RunState
    target: str
    item: str
    start: str
    ranks: Mapping[str, int]

    def is_ahead_of(self, standing: Standing) -> bool:
        mine, theirs = self.protocol.order(self.target), self.protocol.order(standing.state)
        if self._is_looped(standing.state, standing.item) and standing.item != self.start:
            return self.ranks[self.start] > self.ranks[standing.item]
        return mine > theirs

    def voids(self, name: str, item: str) -> bool:
        """Whether the work of a state for an item lies at or after the target."""
        if self._is_looped(name, item) and item != self.start:
            return self.ranks[item] > self.ranks[self.start]
        return self.protocol.order(name) >= self.protocol.order(self.target)

    def _is_looped(self, name: str, item: str) -> bool:
        same = self.protocol.states[name].loop == self.protocol.states[self.target].loop
        return same and item in self.ranks

    def voids_path(self, path: str, item: str) -> bool:
        name = path.rpartition(".")[0]
        if name in self.protocol.states:
            return self.voids(name, item)
        return any(self.voids(check, item) for check in _measuring_states(self.protocol, path))


def _measuring_states(protocol: Protocol, path: str) -> Iterator[str]:
    for name, state in protocol.states.items():
        commands = state.actor.commands if isinstance(state.actor, Check) else ()
        if any(evidence_path(state.group, command.name) == path for command in commands):
            yield name


def _rollback_target(protocol: Protocol, state: RunState, target: str, item: str) -> RollbackTarget:
    known = state.items.get(("", protocol.states[target].loop))
    ranks = {each.id: rank for rank, each in enumerate(known.items)} if known else {}
    return RollbackTarget(protocol, state, target, item, item or next(iter(ranks), ""), ranks)


def rollback_problem(protocol: Protocol, state: RunState, wish: Wish) -> str:
    """Why a run cannot go back to where a wish says; nothing if it can."""
    target, item = str(wish.data.get("state", "")), str(wish.data.get("item", ""))
    if target not in protocol.states or isinstance(protocol.states[target].actor, End):
        return f"'{target}' is not a phase or state of {protocol.name} that a run can go back to"
    if protocol.states[target].beside:
        return f"{target} is done beside others; `porch reopen` goes back to it"
    back = _rollback_target(protocol, state, target, item)
    if item and item not in back.ranks:
        return f"'{item}' is not a plan phase of {target}"
    here = [
        standing
        for standing in state.positions.values()
        if not standing.instance and standing.state not in (BUDGET, CHANGED, TARGET)
    ]
    if here and all(back.is_ahead_of(standing) for standing in here):
        return f"'{target}' has not been reached yet; a rollback can only go back"
    for name, path in _stranded_joins(back):
        return f"{name} would then wait forever for {path}; go back further"
    return ""


def _stranded_joins(back: RollbackTarget) -> Iterator[tuple[str, str]]:
    """Joins that could be come to without what they wait for, because that is void or missing."""
    for name, state in back.protocol.states.items():
        for path in state.waits_for:
            source = path.rpartition(".")[0]
            if not _is_kept(back, path) and back.target in states_short_of_join(
                back.protocol, name, source
            ):
                yield name, path


def _is_kept(back: RollbackTarget, path: str) -> bool:
    return any(
        not instance and path in paths and not back.voids_path(path, item)
        for (instance, item), paths in back.state.memory.items()
    )


def rollback_moves(
    protocol: Protocol, state: RunState, wish: Wish, answered: str = ""
) -> Iterator[m.Move]:
    """Leave everything, void evidence, reviews and approvals from the target on, enter it anew.

    Questions about approvals in front of the target stay, but for the one just answered.
    """
    back = _rollback_target(
        protocol, state, str(wish.data["state"]), str(wish.data.get("item", ""))
    )
    kept = _kept_questions(back, answered)
    for position, standing in state.positions.items():
        if standing.state != CHANGED or standing.item not in kept:
            yield m.Left(position)
    yield from _forget_moves(back, kept)
    yield from _reopen_gate_moves(back)
    yield from _unfinish_item_moves(back)
    yield from (m.Charged(budget, 0) for budget, spent in state.spent.items() if spent)
    leaving = departure_from_nowhere(protocol, state)
    if back.item:
        yield from state_entry_moves(leaving, back.target, back.item)
    else:
        yield from entry_moves(leaving, Target(back.target))


def _kept_questions(back: RollbackTarget, answered: str) -> set[str]:
    """Gates that are being asked again and are not asked by the way on from the target."""
    asked = {gate for gate in open_questions(back.state) if gate != answered}
    found = ((gate, find_gate(back.protocol, gate)) for gate in asked)
    return {gate for gate, known in found if known and not back.voids(known[0].name, "")}


def _forget_moves(back: RollbackTarget, kept: set[str]) -> Iterator[m.Move]:
    for (instance, item), paths in back.state.memory.items():
        for path in paths:
            if back.voids_path(path, item) and not (path == FOUND and item in kept):
                yield m.Forgot(path, item, instance)


def _reopen_gate_moves(back: RollbackTarget) -> Iterator[m.Move]:
    for name, state in back.protocol.states.items():
        actor = state.actor
        if isinstance(actor, Human) and actor.name in back.state.gates and back.voids(name, ""):
            yield m.GateNoted(actor.name, "waiting")


def _unfinish_item_moves(back: RollbackTarget) -> Iterator[m.Move]:
    """An item stays finished if all of its loop lies before the target."""
    for (instance, loop), known in back.state.items.items():
        finished = tuple(item for item in known.finished if not _is_reopened(back, loop, item))
        if finished != known.finished:
            yield m.Itemised(loop, known.items, known.digest, finished, instance)


def _is_reopened(back: RollbackTarget, loop: str, item: str) -> bool:
    inside = (name for name, state in back.protocol.states.items() if state.loop == loop)
    return any(back.voids(name, item) for name in inside)


def states_short_of_join(protocol: Protocol, join: str, source: str) -> set[str]:
    """The states from which a run can come to a join although one of its sources was not passed.

    Ways that part send somebody to each of their targets: it is enough that one of them can pass
    the source.
    """
    ways = _ways_by_state(protocol)
    passing = {name for name in ways if source in _reachable_states(ways, name, join)}
    short, more = {join}, {join}
    while more:
        left = ways.keys() - short - {source}
        more = {n for n in left if any(_is_short(way, short, passing) for way in ways[n])}
        short |= more
    return short


def lies_behind(protocol: Protocol, name: str, gate: str) -> bool:
    """Whether every way from the beginning to a state passes another one first."""
    ways = _ways_by_state(protocol)
    starts = _target_states(protocol, protocol.initial)
    return name != gate and not any(name in _reachable_states(ways, s, gate) for s in starts)


def _ways_by_state(protocol: Protocol) -> Mapping[str, list[ExitTargets]]:
    ways: dict[str, list[ExitTargets]] = {name: [] for name in protocol.states}
    for edge in protocol.edges:
        for targets in (edge.targets, edge.spent):
            ways[edge.state].append(tuple(frozenset(_target_states(protocol, t)) for t in targets))
    return ways


def _target_states(protocol: Protocol, target: Target) -> Iterator[str]:
    if not target.next_of:
        yield target.state
        return
    loop = protocol.loops[target.next_of]
    yield loop.first
    yield from _target_states(protocol, loop.after)


def _reachable_states(ways: Mapping[str, list[ExitTargets]], start: str, without: str) -> set[str]:
    found: set[str] = set()
    ahead = [start]
    while ahead:
        name = ahead.pop()
        if name not in found and name != without:
            found.add(name)
            ahead.extend(place for way in ways[name] for places in way for place in places)
    return found


def _is_short(way: ExitTargets, short: set[str], passing: set[str]) -> bool:
    for index, places in enumerate(way):
        others = (*way[:index], *way[index + 1 :])
        if places & short and not any(other & passing for other in others):
            return True
    return False
