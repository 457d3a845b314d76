"""What a person typed and no state reads is shown to the next agent: nobody speaks in vain."""

from collections.abc import Mapping

from porch.machine import moves as m
from porch.machine.effects import QuotedInput
from porch.machine.facts import Payload
from porch.machine.state import RunState, Standing
from porch.model import protocol as p
from porch.model.read_paths import find_read_keys


def unread_words(
    protocol: p.Protocol, state: RunState, standing: Standing
) -> tuple[QuotedInput, ...]:
    """What was said since an agent answered last, in this instance and about this item or all."""
    scopes = dict.fromkeys(((standing.instance, standing.item), (standing.instance, "")))
    news = [
        (path, payload)
        for scope in scopes
        for path, payload in _words_since_agent(protocol, state.memory.get(scope, {})).items()
    ]
    if not news:
        return ()
    read = find_read_keys(protocol)
    return tuple(
        QuotedInput(f"Said by a person at {path.rpartition('.')[0]}", {"text": payload["text"]})
        for path, payload in news
        if path not in read
    )


def is_about_unread_words(
    protocol: p.Protocol, state: RunState, move: m.Remembered | m.Forgot
) -> bool:
    """Whether it may change what `unread_words` says: a word of a person, or an answer after it."""
    said_by = protocol.states.get(move.path.rpartition(".")[0])
    if said_by is not None and isinstance(said_by.actor, p.Human):
        return move.path not in find_read_keys(protocol)
    if said_by is None or not isinstance(said_by.actor, p.Agent):
        return False
    memory = state.memory.get((move.instance, move.item), {})
    return any(_is_said(protocol, path, payload) for path, payload in memory.items())


def _is_said(protocol: p.Protocol, path: str, payload: Payload) -> bool:
    state = protocol.states.get(path.rpartition(".")[0])
    return state is not None and isinstance(state.actor, p.Human) and bool(payload.get("text"))


def _words_since_agent(
    protocol: p.Protocol, memory: Mapping[str, Payload]
) -> Mapping[str, Payload]:
    """A memory is in the order in which it was made."""
    found: dict[str, Payload] = {}
    for path, payload in memory.items():
        state = protocol.states.get(path.rpartition(".")[0])
        if state is not None and isinstance(state.actor, p.Agent):
            found.clear()
        elif _is_said(protocol, path, payload):
            found[path] = payload
    return found
