"""Children of an instance: begun from specs, reconciled with a new plan, waited for, cancelled."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.machine import moves as m
from porch.machine.answers import LAST
from porch.machine.digests import digest
from porch.machine.facts import Payload
from porch.machine.leave import emptied, enter, leave
from porch.machine.leaving import Leaving
from porch.machine.paths import TOLD, look
from porch.machine.state import Instance, Standing, State
from porch.model.protocol import Children, Protocol, Target

BEGUN = "begun"


def begun(
    protocol: Protocol, state: State, standing: Standing, actor: Children
) -> Iterator[m.Move]:
    """The moves of entering: what the plan names lives, what it no longer names is cancelled."""
    again = actor.rework and standing.because == ".".join(actor.rework.split(".")[:2])
    if again:
        yield from _reworked(protocol, state, standing, actor)
    else:
        yield from _reconciled(protocol, state, standing, actor)


def _reconciled(
    protocol: Protocol, state: State, standing: Standing, actor: Children
) -> Iterator[m.Move]:
    specs = look(protocol, state, standing, actor.specs) or []
    planned = {str(spec["id"]): _whole(state, standing, spec) for spec in specs}
    mine: list[str] = []
    for key, spec in planned.items():
        name, moves = _placed(protocol, state, standing, key, spec, mine)
        mine.append(name)
        yield from moves
    for name, known in _living(state, standing.instance):
        if known.key not in planned:
            yield from cancelled(state, name)
    yield m.Marked(standing.position, BEGUN, mine)


def _placed(
    protocol: Protocol,
    state: State,
    standing: Standing,
    key: str,
    spec: Payload,
    others: Sequence[str],
) -> tuple[str, list[m.Move]]:
    """The instance that does a spec, and what has to happen to it."""
    said = digest(spec)
    name = _latest(state, standing.instance, key)
    known = state.instances.get(name)
    if known and known.outcome in ("", "complete") and known.digest == said:
        return name, []
    if known and not known.outcome:
        return name, list(_respecified(protocol, state, name, spec, said))
    # Never revived: its branch was squashed or archived, so new work begins from where that is.
    fresh = _free(state, standing.instance, key, others)
    return fresh, list(_born(protocol, state, standing, fresh, key, spec, known))


def _reworked(
    protocol: Protocol, state: State, standing: Standing, actor: Children
) -> Iterator[m.Move]:
    """The same specs once more, from where the branch is now, with what failed."""
    failed = look(protocol, state, standing, actor.rework) or []
    report = look(protocol, state, standing, standing.because)
    mine: list[str] = []
    planned = [str(spec["id"]) for spec in look(protocol, state, standing, actor.specs) or []]
    # Of an older plan only what fails now: how its other children ended was told then.
    for key in dict.fromkeys((*planned, *failed)):
        name = _latest(state, standing.instance, key)
        known = state.instances.get(name)
        if known and key in failed:
            name = _free(state, standing.instance, key, mine)
            yield from _born(protocol, state, standing, name, key, known.spec, known, report)
        if known:
            mine.append(name)
    yield m.Marked(standing.position, BEGUN, mine)


def _born(
    protocol: Protocol,
    state: State,
    standing: Standing,
    name: str,
    key: str,
    spec: Payload,
    before: Instance | None,
    report: Payload | None = None,
) -> Iterator[m.Move]:
    parent = state.instances[standing.instance]
    revision = None
    if before is not None:
        why = report or before.why
        revision = {"kind": "rework", "payload": {"outcome": before.outcome, "why": why}}
    branch = f"{state.instances[''].branch}.{name}"
    yield m.Spawned(
        name, standing.instance, key, spec, digest(spec), branch, parent.branch, revision
    )
    yield from _arrival(protocol, state, name)


def _respecified(
    protocol: Protocol, state: State, name: str, spec: Payload, said: str
) -> Iterator[m.Move]:
    """A living child is told its new spec, and plans anew."""
    revision = {"kind": "respecified", "payload": {"spec": spec}}
    yield m.Told(name, spec, said, revision)
    # Remembered too, so that it is newer than whatever came back to the planner before.
    yield m.Remembered(TOLD, revision, "", name)
    # What it said about the old spec may well be said again about the new one.
    last = [path for path in state.memory.get((name, ""), {}) if path.startswith(LAST)]
    yield from (m.Forgot(path, "", name) for path in last)
    for position, standing in state.positions.items():
        if standing.instance == name:
            yield m.Left(position)
    epoch = protocol.epoch
    yield from (m.Charged(f"{name}/{budget}", 0) for budget in (epoch.resets if epoch else ()))
    yield from _arrival(protocol, state, name)


def _arrival(protocol: Protocol, state: State, name: str) -> Iterator[m.Move]:
    nobody = Standing("", name, "", "", 0, "")
    yield from enter(Leaving(protocol, state, nobody, "", {}), Target(protocol.initial.state))


def cancelled(state: State, name: str) -> Iterator[m.Move]:
    """An instance and all below it stop; nothing of theirs is lost, it is archived."""
    yield from emptied(state, name)
    yield m.Ended("abandoned", name)


def settled(protocol: Protocol, state: State, standing: Standing) -> tuple[m.Move, ...]:
    """The exit of a children state once none of them lives; nothing before."""
    names = state.marked(standing.position, BEGUN)
    if names is None or any(not state.instances[name].outcome for name in names):
        return ()
    return leave(protocol, state, standing, "settled", outcomes(state, names))


def outcomes(state: State, names: list[str]) -> dict[str, Any]:
    """What became of each: criteria are never dropped silently, so a failure keeps its spec."""
    known = [state.instances[name] for name in names]
    lost = [k for k in known if k.outcome == "failed"]
    return {
        "merged": [dict(k.merged) for k in known if k.outcome == "complete"],
        "failed": [{"id": k.key, "spec": k.spec, "why": k.why} for k in lost],
        "cancelled": [k.key for k in known if k.outcome == "abandoned"],
    }


def _whole(state: State, standing: Standing, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A child's spec inherits what the plan does not say about it."""
    return {**state.instances[standing.instance].spec, **spec}


def _of(state: State, parent: str) -> Iterator[tuple[str, Instance]]:
    for name, known in state.instances.items():
        if name and known.parent == parent:
            yield name, known


def _living(state: State, parent: str) -> list[tuple[str, Instance]]:
    return [(name, known) for name, known in _of(state, parent) if not known.outcome]


def _latest(state: State, parent: str, key: str) -> str:
    return next((name for name, k in reversed([*_of(state, parent)]) if k.key == key), "?")


def _free(state: State, parent: str, key: str, others: Sequence[str]) -> str:
    front = f"{parent}." if parent else ""
    name, number = f"{front}{key}", 2
    while name in state.instances or name in others:
        name, number = f"{front}{key}-r{number}", number + 1
    return name
