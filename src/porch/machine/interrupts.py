"""A sibling merged: told to the others at once, taken by each before its next such state."""

from collections.abc import Iterator

from porch.machine import moves as m
from porch.machine.facts import Payload
from porch.machine.leaving import Leaving
from porch.machine.paths import latest
from porch.model.protocol import Interrupt, Target

UPDATE = "engine.update"
DUE = "engine.due"


def broadcast(leaving: Leaving) -> Iterator[m.Move]:
    """To the living under the same parent, but not to the author; the latest replaces the rest."""
    interrupt, me = leaving.protocol.interrupt, leaving.standing.instance
    if interrupt is None or not me or interrupt.on != f"{leaving.standing.state}.{leaving.exit}":
        return
    event = leaving.look(interrupt.event) or {}
    payload = {**event, "newParentHead": leaving.payload.get("commit", "")}
    parent = leaving.state.instances[me].parent
    for name, known in leaving.state.instances.items():
        if name and name != me and known.parent == parent and not known.outcome:
            yield m.Remembered(UPDATE, payload, "", name)


def put_off(leaving: Leaving, target: Target) -> Iterator[m.Move | Target]:
    """The target; or the update that comes first, with the target remembered as due."""
    interrupt, instance = leaving.protocol.interrupt, leaving.standing.instance
    memory = leaving.state.memory.get((instance, ""), {})
    if interrupt is None:
        yield target
    elif target.is_due:
        yield from _resumed(leaving, interrupt, memory.get(UPDATE, {}), memory.get(DUE, {}))
    elif DUE in memory:
        if target.state not in _handlers(leaving, interrupt):
            # The update was given up, and is tried again at the next boundary.
            yield m.Forgot(DUE, "", instance)
        yield target
    elif UPDATE in memory and _is_interruptible(leaving, target):
        yield m.Remembered(DUE, {"state": target.state}, "", instance)
        yield Target(interrupt.state)
    else:
        yield target


def _handlers(leaving: Leaving, interrupt: Interrupt) -> set[str]:
    """The states that deal with an update: all from which what was due can still come."""
    found: set[str] = set()
    edges = [edge for edge in leaving.protocol.edges if edge.state != interrupt.state]
    while more := {e.state for e in edges if any(_goes_on(t, found) for t in e.targets)} - found:
        found |= more
    return found | {interrupt.state}


def _goes_on(target: Target, handlers: set[str]) -> bool:
    return target.is_due or target.state in handlers


def _is_interruptible(leaving: Leaving, target: Target) -> bool:
    state = leaving.protocol.states.get(target.state)
    return state is not None and state.is_interruptible


def _resumed(
    leaving: Leaving, interrupt: Interrupt, update: Payload, due: Payload
) -> Iterator[m.Move | Target]:
    """What was due; or once more the update, where another sibling has merged meanwhile."""
    instance = leaving.standing.instance
    if _applied(leaving, interrupt.state) != update.get("newParentHead"):
        yield Target(interrupt.state)
        return
    yield m.Forgot(UPDATE, "", instance)
    yield m.Forgot(DUE, "", instance)
    is_adapted = leaving.standing.state != interrupt.state
    was = str(due.get("state", ""))
    if was:
        yield Target(interrupt.adapted.get(was, was) if is_adapted else was)


def _applied(leaving: Leaving, state: str) -> object:
    """The head that the last update was about, whoever had to finish it."""
    if leaving.standing.state == state:
        return leaving.payload.get("base")
    paths = [f"{state}.{exit_}" for exit_ in ("clean", "conflict", "refused")]
    path = latest(leaving.protocol, leaving.state, leaving.standing, paths)
    return leaving.look(f"{path}.base") if path else None
