"""An accepted answer of an agent: its conversation, its evidence, and whether anything moved on."""

import re
from collections.abc import Iterator

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.digests import digest
from porch.machine.leave import leave
from porch.machine.state import Standing, State
from porch.model.protocol import BLOCKED, NO_PROGRESS, Agent, Ask, Protocol
from porch.model.remembering import said_path

LAST = "last."
_SIGNAL = re.compile(r"<signal\b[^<>]*>.*?</signal\s*>", re.IGNORECASE | re.DOTALL)


def answered(
    protocol: Protocol, state: State, standing: Standing, fact: f.ExitAccepted
) -> tuple[m.Move, ...]:
    """Leave by the exit; the same answer on the same content twice in a row leads nowhere else."""
    actor = protocol.states[standing.state].actor
    if not isinstance(actor, Agent) or actor.ask is None:
        left = leave(protocol, state, standing, fact.exit, fact.payload)
        words = told(protocol, state, standing, fact.said)
        return (*words, *_asking(standing, fact), *left) if left else ()
    said = {"exit": fact.exit, "payload": digest(fact.payload), "tree": fact.tree}
    path = f"{LAST}{standing.state}"
    # A parent that says the same again may have been asked something else; its child is watched.
    is_same = bool(fact.tree) and not actor.ask.of_parent and state.recall(standing, path) == said
    exit_, payload = (fact.exit, fact.payload) if not is_same else (NO_PROGRESS, _stalled(fact))
    left = leave(protocol, state, standing, exit_, payload)
    return (*_remembered(actor, actor.ask, standing, fact, said), *left) if left else ()


def _asking(standing: Standing, fact: f.ExitAccepted) -> Iterator[m.Move]:
    """Whoever asked a question hears the answer in the same conversation."""
    if fact.exit == BLOCKED and fact.session:
        session = {"session": fact.session}
        yield m.Remembered(asking_path(standing.state), session, standing.item, standing.instance)


def asking_path(state: str) -> str:
    return f"asking.{state}"


def told(protocol: Protocol, state: State, standing: Standing, said: str) -> tuple[m.Move, ...]:
    """What an agent said beside its signal, where somebody gets to read it."""
    path, text = said_path(standing.state), _SIGNAL.sub("", said).strip()
    if not protocol.readers_of(path):
        return ()
    if text:
        return (m.Remembered(path, {"text": text}, standing.item, standing.instance),)
    # Reminded of its signal an agent may give that alone; what it said before is its answer.
    is_news = not state.marked(standing.position, "reminded")
    is_known = state.recall(standing, path) is not None
    return (m.Forgot(path, standing.item, standing.instance),) if is_news and is_known else ()


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
