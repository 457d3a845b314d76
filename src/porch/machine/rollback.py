"""Going back: what lay at and after the target is void, what lay before it stands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from porch.machine import moves as m
from porch.machine.budgets import STATE as BUDGET
from porch.machine.facts import Wish
from porch.machine.joins import comes_short
from porch.machine.leave import enter, entered, from_nowhere
from porch.machine.state import Standing, State
from porch.model.protocol import Check, End, Human, Protocol, Target
from porch.model.remembering import evidence_path


@dataclass(frozen=True, slots=True)
class Return:
    """Where a wish wants to go back to; `start` is the item from which its loop is done again."""

    protocol: Protocol
    state: State
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
        return any(self.voids(check, item) for check in _measuring(self.protocol, path))


def _measuring(protocol: Protocol, path: str) -> Iterator[str]:
    for name, state in protocol.states.items():
        commands = state.actor.commands if isinstance(state.actor, Check) else ()
        if any(evidence_path(state.group, command.name) == path for command in commands):
            yield name


def _return(protocol: Protocol, state: State, target: str, item: str) -> Return:
    known = state.items.get(("", protocol.states[target].loop))
    ranks = {each.id: rank for rank, each in enumerate(known.items)} if known else {}
    return Return(protocol, state, target, item, item or next(iter(ranks), ""), ranks)


def why_not_back(protocol: Protocol, state: State, wish: Wish) -> str:
    """Why a run cannot go back to where a wish says; nothing if it can."""
    target, item = str(wish.data.get("state", "")), str(wish.data.get("item", ""))
    if target not in protocol.states or isinstance(protocol.states[target].actor, End):
        return f"'{target}' is not a state of {protocol.name} that a run can go back to"
    back = _return(protocol, state, target, item)
    if item and item not in back.ranks:
        return f"'{item}' is not an item of {target} in the list as it was read"
    here = [
        standing
        for standing in state.positions.values()
        if not standing.instance and standing.state != BUDGET
    ]
    if here and all(back.is_ahead_of(standing) for standing in here):
        return f"'{target}' lies ahead; a rollback goes backwards only"
    for name, path in _stranded(back):
        return f"{name} would wait for {path} for ever; go back to where the two ways part"
    return ""


def _stranded(back: Return) -> Iterator[tuple[str, str]]:
    """Joins that could be come to without what they wait for, because that is void or missing."""
    for name, state in back.protocol.states.items():
        for path in state.waits_for:
            source = path.rpartition(".")[0]
            if not _is_kept(back, path) and back.target in comes_short(back.protocol, name, source):
                yield name, path


def _is_kept(back: Return, path: str) -> bool:
    return any(
        not instance and path in paths and not back.voids_path(path, item)
        for (instance, item), paths in back.state.memory.items()
    )


def rolled_back(protocol: Protocol, state: State, wish: Wish) -> Iterator[m.Move]:
    """Leave everything, void evidence, reviews and approvals from the target on, enter it anew."""
    back = _return(protocol, state, str(wish.data["state"]), str(wish.data.get("item", "")))
    for position in state.positions:
        yield m.Left(position)
    yield from _forgotten(back)
    yield from _reopened(back)
    yield from _unfinished(back)
    yield from (m.Charged(budget, 0) for budget, spent in state.spent.items() if spent)
    leaving = from_nowhere(protocol, state)
    if back.item:
        yield from entered(leaving, back.target, back.item)
    else:
        yield from enter(leaving, Target(back.target))


def _forgotten(back: Return) -> Iterator[m.Move]:
    for (instance, item), paths in back.state.memory.items():
        for path in paths:
            if back.voids_path(path, item):
                yield m.Forgot(path, item, instance)


def _reopened(back: Return) -> Iterator[m.Move]:
    for name, state in back.protocol.states.items():
        actor = state.actor
        if isinstance(actor, Human) and actor.name in back.state.gates and back.voids(name, ""):
            yield m.GateNoted(actor.name, "waiting")


def _unfinished(back: Return) -> Iterator[m.Move]:
    """An item stays finished if all of its loop lies before the target."""
    for (instance, loop), known in back.state.items.items():
        finished = tuple(item for item in known.finished if not _is_reopened(back, loop, item))
        if finished != known.finished:
            yield m.Itemised(loop, known.items, known.digest, finished, instance)


def _is_reopened(back: Return, loop: str, item: str) -> bool:
    inside = (name for name, state in back.protocol.states.items() if state.loop == loop)
    return any(back.voids(name, item) for name in inside)
