"""Where a typed answer is looked for: in the agent's form, in its file, at its message's end."""

import json
import os
from typing import Any

from porch.adapters.agents.base import Outcome
from porch.adapters.agents.events import Answered
from porch.machine.closing import read_closing
from porch.machine.effects import AskAgent
from porch.model import schema
from porch.runtime.roster import Post
from porch.runtime.world import World

EXIT_FILE = "exit.json"
MOST_BYTES = 4 << 20


def found(world: World, effect: AskAgent, post: Post, outcome: Outcome) -> Answered | None:
    """The answer of a turn, by the ways that its agent has; nothing is read out of prose."""
    ways = post.agent.ANSWERS
    # What was said in a turn that did not come to its end was no last word.
    answer = _formed(effect, outcome) if outcome.kind == "ok" else None
    if answer is None and "file" in ways:
        answer = _from_file(world, effect)
    if answer is None and "message" in ways and outcome.kind == "ok":
        answer = _closing(world, effect, outcome)
    return answer


def exit_file(world: World, effect: AskAgent) -> str:
    return os.path.join(world.turn_directory(effect.id), EXIT_FILE)


def word(world: World, effect: AskAgent) -> str:
    """The nonce of a question, the same for each try: what a dead runner left still counts."""
    return world.nonce(effect.id.rpartition("/")[0])


def _formed(effect: AskAgent, outcome: Outcome) -> Answered | None:
    """What an agent's structured output says: one exit and its payload, or all in one object."""
    answer = outcome.answer
    if answer is None or answer.exit:
        return answer
    return _read(effect, answer.payload)


def _read(effect: AskAgent, raw: Any) -> Answered:
    records = {known.name: known.record for known in effect.exits}
    if isinstance(raw, dict) and isinstance(raw.get("payload"), dict):
        return Answered(str(raw.get("exit", "")), raw["payload"])
    return Answered(*schema.from_flat(raw, records))


def _from_file(world: World, effect: AskAgent) -> Answered | None:
    """The answer of an agent that can only write files; read once, then put aside."""
    path = exit_file(world, effect)
    try:
        # Agents choose what lies there, and a pipe would hold us up for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            raw = json.loads(file.read(MOST_BYTES) or b"")
        os.replace(path, f"{path}.read")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        return Answered("", f"the exit file cannot be read: {error}")
    return _read(effect, raw)


def _closing(world: World, effect: AskAgent, outcome: Outcome) -> Answered | None:
    said = read_closing(outcome.final, word(world, effect))
    if said is None:
        return None
    return Answered("", said.fault) if said.fault else Answered(said.exit, said.payload)
