"""An accepted answer of an agent: its conversation, its evidence, and whether anything moved on."""

from collections.abc import Iterator

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.digests import digest
from porch.machine.leave import leave
from porch.machine.state import Standing, State
from porch.model.protocol import NO_PROGRESS, Agent, Ask, Protocol

LAST = "last."


def answered(
    protocol: Protocol, state: State, standing: Standing, fact: f.ExitAccepted
) -> tuple[m.Move, ...]:
    """Leave by the exit; the same answer on the same content twice in a row leads nowhere else."""
    actor = protocol.states[standing.state].actor
    if not isinstance(actor, Agent) or actor.ask is None:
        return leave(protocol, state, standing, fact.exit, fact.payload)
    said = {"exit": fact.exit, "payload": digest(fact.payload), "tree": fact.tree}
    path = f"{LAST}{standing.state}"
    # A parent that says the same again may have been asked something else; its child is watched.
    is_same = bool(fact.tree) and not actor.ask.of_parent and state.recall(standing, path) == said
    exit_, payload = (fact.exit, fact.payload) if not is_same else (NO_PROGRESS, _stalled(fact))
    left = leave(protocol, state, standing, exit_, payload)
    return (*_remembered(actor, actor.ask, standing, fact, said), *left) if left else ()


def _remembered(
    actor: Agent, ask: Ask, standing: Standing, fact: f.ExitAccepted, said: f.Payload
) -> Iterator[m.Move]:
    if fact.session and not ask.of_parent:
        session = {"session": fact.session, "said": fact.said}
        yield m.Remembered(thread_path(actor.role), session, "", standing.instance)
    if fact.evidence:
        value = {"value": list(fact.evidence)}
        yield m.Remembered("engine.evidence", value, "", standing.instance)
    yield m.Remembered(f"{LAST}{standing.state}", said, "", standing.instance)


def thread_path(role: str) -> str:
    """Where the conversation of a role is remembered, per instance."""
    return f"thread.{role}"


def _stalled(fact: f.ExitAccepted) -> dict[str, object]:
    reason = f"{fact.exit} was answered twice in a row with nothing changed in between"
    return {"reason": reason, "exit": fact.exit, "payload": dict(fact.payload)}
