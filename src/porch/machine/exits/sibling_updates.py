"""A departure, and the update that interrupts it: a sibling merged, and all others take it."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from porch.machine import moves as m
from porch.machine.facts import Payload
from porch.machine.path_values import latest_path, look_up_path, walk_fields
from porch.machine.state import PositionKey, RunState, Standing
from porch.model import types as t
from porch.model.memory_paths import CLASH_QUESTION, FAULT_QUESTION, name_question_state
from porch.model.protocol import Agent, Interrupt, Protocol, Target

UPDATE = "engine.update"
DUE = "engine.due"


class Departure(Struct, frozen=True):
    """One departure: the exit and payload, and the visits it has handed out so far."""

    protocol: Protocol
    state: RunState
    standing: Standing
    exit: str
    payload: Payload
    fresh: dict[PositionKey, int] = field(default_factory=dict)

    @property
    def interrupt(self) -> Interrupt | None:
        """How instances of the same graph are updated."""
        return self.protocol.part_of(self.standing.state).interrupt

    def recall(self, path: str) -> Payload | None:
        """Memory as it will be once this exit is remembered."""
        if path == f"{self.standing.state}.{self.exit}":
            return self.payload
        return self.state.recall(self.standing, path)

    def look(self, path: str) -> Any:
        """Whatever a path means, memory as it will be once this exit is remembered."""
        own = f"{self.standing.state}.{self.exit}"
        if path == own or path.startswith(f"{own}."):
            return walk_fields(self.payload, path[len(own) + 1 :].split(".") if path != own else ())
        return look_up_path(self.protocol, self.state, self.standing, path)


def departure_from_nowhere(protocol: Protocol, state: RunState) -> Departure:
    """An arrival after everything that stood was left."""
    nobody = Standing("", "", "", "", 0, "")
    return Departure(protocol, replace(state, positions={}), nobody, "", {})


def broadcast_moves(leaving: Departure) -> Iterator[m.Move]:
    """To the living under the same parent, but not to the author; the latest replaces the rest."""
    me, interrupt = leaving.standing.instance, leaving.interrupt
    if interrupt is None or not me or interrupt.on != f"{leaving.standing.state}.{leaving.exit}":
        return
    event = leaving.look(interrupt.event) or {}
    payload = {**event, "newParentHead": leaving.payload.get("commit", "")}
    parent = leaving.state.instances[me].parent
    for name, known in leaving.state.instances.items():
        is_living = not known.outcome and not known.after
        if name and name != me and known.parent == parent and is_living:
            yield m.Remembered(UPDATE, payload, "", name)


def target_moved_moves(
    protocol: Protocol, state: RunState, standing: Standing, head: str
) -> tuple[m.Move, ...]:
    """The branch that the tree merges into has moved: the root takes it like a sibling's merge."""
    interrupt, about = protocol.interrupt, state.instances.get("")
    if interrupt is None or about is None or standing.instance or not head:
        return ()
    pending = state.memory.get(("", ""), {}).get(UPDATE, {})
    if pending.get("newParentHead") == head:
        return ()
    event = _make_event(protocol, interrupt.event, about.target, head)
    return (m.Remembered(UPDATE, {**event, "newParentHead": head}),)


def _make_event(protocol: Protocol, path: str, target: str, head: str) -> dict[str, Any]:
    """The event of a merge that nobody described: of the target's own, and of the worst kind."""
    state, _, exit_ = path.partition(".")
    actor = protocol.states[state].actor
    exits = actor.exits if isinstance(actor, Agent) else ()
    known = next((each for each in exits if each.name == exit_), None)
    fields = known.record.fields if known else ()
    return {each.name: _event_value(protocol, each.type, target, head) for each in fields}


def _event_value(protocol: Protocol, type_: t.Type, target: str, head: str) -> Any:
    match t.unwrap_type(type_, protocol.types)[0]:
        case t.Scalar("Text"):
            return target
        case t.Scalar("Commit"):
            return head
        case t.Enum(options):
            return options[-1]
        case _:
            from porch.model.sample_values import build_sample_value  # few graphs ask for more

            return build_sample_value(type_, protocol.types, full=False)


def target_or_update(leaving: Departure, target: Target) -> Iterator[m.Move | Target]:
    """The target; or the update that comes first, with the target remembered as due."""
    instance, interrupt = leaving.standing.instance, leaving.interrupt
    memory = leaving.state.memory.get((instance, ""), {})
    if interrupt is None:
        yield target
    elif target.is_due:
        yield from _due_or_update(leaving, interrupt, memory.get(UPDATE, {}), memory.get(DUE, {}))
    elif DUE in memory:
        if target.state not in _update_states(leaving, interrupt):
            # The update was given up, and is tried again at the next boundary.
            yield m.Forgot(DUE, "", instance)
        yield target
    elif UPDATE in memory and _is_interruptible(leaving, target):
        yield m.Remembered(DUE, {"state": target.state}, "", instance)
        yield Target(interrupt.state)
    else:
        yield target


def _update_states(leaving: Departure, interrupt: Interrupt) -> set[str]:
    """The states that deal with an update: all from which what was due can still come."""
    found: set[str] = set()
    edges = [edge for edge in leaving.protocol.edges if edge.state != interrupt.state]
    while (
        more := {e.state for e in edges if any(_leads_to_due(t, found) for t in e.targets)} - found
    ):
        found |= more
    # Where a person is asked of a clash or a fault, the update goes on behind the answer.
    asked = (name_question_state(interrupt.state, w) for w in (CLASH_QUESTION, FAULT_QUESTION))
    return found | {interrupt.state, *asked}


def _leads_to_due(target: Target, handlers: set[str]) -> bool:
    return target.is_due or target.state in handlers


def _is_interruptible(leaving: Departure, target: Target) -> bool:
    state = leaving.protocol.states.get(target.state)
    return state is not None and state.is_interruptible


def _due_or_update(
    leaving: Departure, interrupt: Interrupt, update: Payload, due: Payload
) -> Iterator[m.Move | Target]:
    """What was due; or once more the update, where another sibling has merged meanwhile."""
    instance = leaving.standing.instance
    if _last_applied_head(leaving, interrupt.state) != update.get("newParentHead"):
        yield Target(interrupt.state)
        return
    yield m.Forgot(UPDATE, "", instance)
    yield m.Forgot(DUE, "", instance)
    is_adapted = leaving.standing.state != interrupt.state
    was = str(due.get("state", ""))
    if was:
        yield Target(interrupt.adapted.get(was, was) if is_adapted else was)


def _last_applied_head(leaving: Departure, state: str) -> object:
    """The head that the last update was about, whoever had to finish it."""
    if leaving.standing.state == state:
        return leaving.payload.get("base")
    paths = [f"{state}.{exit_}" for exit_ in ("clean", "conflict", "refused")]
    path = latest_path(leaving.protocol, leaving.state, leaving.standing, paths)
    return leaving.look(f"{path}.base") if path else None
