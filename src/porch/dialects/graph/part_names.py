"""A protocol as a part of another: every name that it gives gets the name of the part in front."""

from collections.abc import Iterable, Mapping
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from porch.model import protocol as p
from porch.model import types as t
from porch.model.protocol_parts import name_in_part

_PARENT = "parent."


def add_part(whole: p.Protocol, part: str, inner: p.Protocol) -> p.Protocol:
    """The protocol with another one beside it, for its children to follow."""
    names = PartNames(part, frozenset(inner.states))
    own = names.part(inner.part(""))
    deeper = {names.own(name): names.part(each) for name, each in inner.parts.items()}
    states = {names.own(name): names.state(each) for name, each in inner.states.items()}
    budgets = {names.own(n): replace(b, name=names.own(n)) for n, b in inner.budgets.items()}
    return replace(
        whole,
        states={**whole.states, **states},
        edges=(*whole.edges, *map(names.edge, inner.edges)),
        budgets={**whole.budgets, **budgets},
        types={**whole.types, **names.types(inner.types)},
        parts={**whole.parts, part: own, **deeper},
    )


class PartNames(Struct, frozen=True):
    """Gives names of one part to the whole; paths are known by the state that they begin with."""

    front: str
    states: frozenset[str]

    def own(self, name: str) -> str:
        return name_in_part(self.front, name) if name else ""

    def path(self, path: str) -> str:
        if path.startswith(_PARENT):
            return f"{_PARENT}{self.path(path.removeprefix(_PARENT))}"
        first, dot, rest = path.partition(".")
        return f"{self.own(first)}{dot}{rest}" if first in self.states else path

    def paths(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.path, paths))

    def types(self, types: t.Types) -> dict[str, t.Type]:
        return {self.own(name): self.type(each) for name, each in types.items()}

    def type(self, type_: t.Type) -> t.Type:
        match type_:
            case t.Ref(name):
                return t.Ref(self.own(name))
            case t.ListOf(of):
                return t.ListOf(self.type(of))
            case t.Maybe(of):
                return t.Maybe(self.type(of))
            case t.Tuple_(parts):
                return t.Tuple_(tuple(map(self.type, parts)))
            case t.Record():
                return self.record(type_)
            case t.Scalar() | t.Enum():
                return type_
            case _:
                assert_never(type_)

    def record(self, record: t.Record) -> t.Record:
        return t.Record(tuple(t.Field(each.name, self.type(each.type)) for each in record.fields))

    def part(self, part: p.Part) -> p.Part:
        return p.Part(
            self.own(part.initial),
            self.own(part.spec),
            self.interrupt(part.interrupt),
            self.epoch(part.epoch),
        )

    def interrupt(self, interrupt: p.Interrupt | None) -> p.Interrupt | None:
        if interrupt is None:
            return None
        adapted = {self.own(due): self.own(to) for due, to in interrupt.adapted.items()}
        on, event = self.path(interrupt.on), self.path(interrupt.event)
        return p.Interrupt(self.own(interrupt.state), on, event, adapted)

    def epoch(self, epoch: p.Epoch | None) -> p.Epoch | None:
        if epoch is None:
            return None
        resets = tuple(map(self.own, epoch.resets))
        return p.Epoch(self.own(epoch.state), self.own(epoch.charges), resets)

    def state(self, state: p.State) -> p.State:
        return replace(
            state,
            name=self.own(state.name),
            group=self.own(state.group),
            title=self.own(state.title) if state.title == state.name else state.title,
            actor=self._actor(state.actor),
            waits_for=self.paths(state.waits_for),
        )

    def _actor(self, actor: p.Actor) -> p.Actor:
        match actor:
            case p.Agent():
                return self._agent(actor)
            case p.Human():
                return replace(actor, name=self.own(actor.name), shows=self.paths(actor.shows))
            case p.Git():
                return self._git(actor)
            case p.Children():
                return replace(
                    actor,
                    # Who spawns its own kind goes on doing so.
                    protocol=self.own(actor.protocol),
                    specs=self.path(actor.specs),
                    rework=self.path(actor.rework),
                )
            case p.End():
                return replace(actor, shows=self.paths(actor.shows), gives=self.path(actor.gives))
            case p.Join() | p.Check() | p.Panel():
                return actor
            case _:
                assert_never(actor)

    def _git(self, git: p.Git) -> p.Git:
        return replace(
            git,
            reads=self.paths(git.reads),
            approved=self.path(git.approved),
            own=self.paths(git.own),
            candidate=self.path(git.candidate),
        )

    def _agent(self, agent: p.Agent) -> p.Agent:
        exits = tuple(map(self._exit, agent.exits))
        return replace(agent, exits=exits, ask=self._ask(agent.ask) if agent.ask else None)

    def _ask(self, ask: p.Ask) -> p.Ask:
        return replace(
            ask,
            takes=tuple(map(self._take, ask.takes)),
            allows=self.paths(ask.allows),
            denies=self.paths(ask.denies),
            at=self.path(ask.at),
            diff=(self.path(ask.diff[0]), self.path(ask.diff[1])),
        )

    def _take(self, take: p.Take) -> p.Take:
        parts = tuple(map(self._take, take.parts))
        return replace(take, paths=self.paths(take.paths), parts=parts)

    def _exit(self, exit_: p.Exit) -> p.Exit:
        measures = [
            replace(each, of=self.paths(each.of), by=self.paths(each.by)) for each in exit_.measures
        ]
        return replace(
            exit_,
            record=self.record(exit_.record),
            filled=self._values(exit_.filled),
            measures=tuple(measures),
        )

    def _values(self, paths: Mapping[str, str]) -> dict[str, str]:
        return {name: self.path(path) for name, path in paths.items()}

    def edge(self, edge: p.Edge) -> p.Edge:
        return replace(
            edge,
            state=self.own(edge.state),
            targets=tuple(map(self._target, edge.targets)),
            guards=tuple(map(self._guard, edge.guards)),
            charges=self.own(edge.charges),
            spent=tuple(map(self._target, edge.spent)),
            resets=tuple(map(self.own, edge.resets)),
            forgets=self.paths(edge.forgets),
            keeps=tuple(replace(keep, path=self.path(keep.path)) for keep in edge.keeps),
            respecifies=self._values(edge.respecifies),
        )

    def _target(self, target: p.Target) -> p.Target:
        return replace(target, state=self.own(target.state))

    def _guard(self, guard: p.Guard) -> p.Guard:
        has_paths = guard.test in p.FILE_TESTS
        value = " ".join(self.paths(guard.value.split(" "))) if has_paths else guard.value
        return replace(guard, path=self.path(guard.path), value=value)
