"""An accepted answer of an agent: its conversation, its evidence, and whether anything moved on."""

import re
from collections.abc import Iterator

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.exits.departure import exit_moves
from porch.machine.state import RunState, Standing
from porch.model.memory_paths import last_words_path
from porch.model.protocol import BLOCKED, NO_PROGRESS, Agent, Ask, Human, Protocol
from porch.text.late_pattern import late_pattern

LAST = "last."
_SIGNAL = late_pattern(r"<signal\b[^<>]*>.*?</signal\s*>", re.IGNORECASE | re.DOTALL)


def accepted_exit_moves(
    protocol: Protocol, state: RunState, standing: Standing, fact: f.ExitAccepted
) -> tuple[m.Move, ...]:
    """Leave by the exit; the same answer on the same content twice in a row leads nowhere else."""
    actor = protocol.states[standing.state].actor
    if not isinstance(actor, Agent) or actor.ask is None:
        left = exit_moves(protocol, state, standing, fact.exit, fact.payload)
        words = last_words_moves(protocol, state, standing, fact.said)
        return (*words, *_question_session_moves(standing, fact), *left) if left else ()
    # Answers are compared where there is a tree, and only there.
    from porch.machine.payload_equality import digest_payload

    said = {
        "exit": fact.exit,
        "payload": digest_payload(fact.payload),
        "tree": fact.tree,
        **_count_people(protocol, state, standing),
    }
    path = f"{LAST}{standing.state}"
    # A parent that says the same again may have been asked something else; its child is watched.
    is_same = bool(fact.tree) and not actor.ask.of_parent and state.recall(standing, path) == said
    exit_, payload = (
        (fact.exit, fact.payload) if not is_same else (NO_PROGRESS, _no_progress_payload(fact))
    )
    left = exit_moves(protocol, state, standing, exit_, payload)
    return (*_memory_moves(actor, actor.ask, standing, fact, said), *left) if left else ()


def _count_people(protocol: Protocol, state: RunState, standing: Standing) -> dict[str, int]:
    """How often a person was asked: who says "go on" may well want the same once more."""
    people = (name for name, kind in protocol.states.items() if isinstance(kind.actor, Human))
    keys = ((standing.instance, name, standing.item) for name in people)
    asked = sum(state.visits.get(key, 0) for key in keys)
    return {"asked": asked} if asked else {}


def _question_session_moves(standing: Standing, fact: f.ExitAccepted) -> Iterator[m.Move]:
    """Whoever asked a question hears the answer in the same conversation."""
    if fact.exit == BLOCKED and fact.session:
        session = {"session": fact.session}
        yield m.Remembered(asking_path(standing.state), session, standing.item, standing.instance)


def asking_path(state: str) -> str:
    return f"asking.{state}"


def last_words_moves(
    protocol: Protocol, state: RunState, standing: Standing, said: str
) -> tuple[m.Move, ...]:
    """What an agent said beside its signal, where somebody gets to read it."""
    path, text = last_words_path(standing.state), _SIGNAL.sub("", said).strip()
    if not protocol.readers_of(path):
        return ()
    if text:
        return (m.Remembered(path, {"text": text}, standing.item, standing.instance),)
    # Reminded of its signal an agent may give that alone; what it said before is its answer.
    is_news = not state.marked(standing.position, "reminded")
    is_known = state.recall(standing, path) is not None
    return (m.Forgot(path, standing.item, standing.instance),) if is_news and is_known else ()


def _memory_moves(
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


def _no_progress_payload(fact: f.ExitAccepted) -> dict[str, object]:
    reason = f"{fact.exit} was answered twice in a row, and no file changed between the two answers"
    return {"reason": reason, "exit": fact.exit, "payload": dict(fact.payload)}
