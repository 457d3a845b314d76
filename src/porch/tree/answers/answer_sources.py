"""Where a typed answer is looked for: in the agent's form, in its file, at its message's end."""

import json
import os
from typing import Any

from porch.agents.events import Answered
from porch.agents.port import Outcome
from porch.machine.effects import AskAgent
from porch.run.agents.roster import EmployedAgent
from porch.run.agents.world import World
from porch.tree.answers import answer_schema
from porch.tree.answers.answer_block import read_answer_block

EXIT_FILE = "exit.json"
MOST_BYTES = 4 << 20


def find_answer(
    world: World, effect: AskAgent, post: EmployedAgent, outcome: Outcome
) -> Answered | None:
    """The answer of a turn, by the ways that its agent has; nothing is read out of prose."""
    ways = post.agent.ANSWERS
    # What was said in a turn that did not finish was no last word.
    answer = _find_structured_answer(effect, outcome) if outcome.kind == "ok" else None
    if answer is None and "file" in ways:
        answer = _read_answer_file(world, effect)
    if answer is None and "message" in ways and outcome.kind == "ok":
        answer = _find_closing_answer(world, effect, outcome)
    return answer


def exit_file_path(world: World, effect: AskAgent) -> str:
    return os.path.join(world.turn_directory(effect.id), EXIT_FILE)


def find_question_nonce(world: World, effect: AskAgent) -> str:
    """The nonce of a question, the same for each try: what a dead runner left still counts."""
    return world.nonce(effect.id.rpartition("/")[0])


def _find_structured_answer(effect: AskAgent, outcome: Outcome) -> Answered | None:
    """What an agent's structured output says: one exit and its payload, or all in one object."""
    answer = outcome.answer
    if answer is None or answer.exit:
        return answer
    return _parse_answer(effect, answer.payload)


def _parse_answer(effect: AskAgent, raw: Any) -> Answered:
    records = {known.name: known.record for known in effect.exits}
    if isinstance(raw, dict) and isinstance(raw.get("payload"), dict):
        return Answered(str(raw.get("exit", "")), raw["payload"])
    return Answered(*answer_schema.parse_flat_answer(raw, records))


def _read_answer_file(world: World, effect: AskAgent) -> Answered | None:
    """The answer of an agent that can only write files; read once, then put aside."""
    path = exit_file_path(world, effect)
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
    return _parse_answer(effect, raw)


def _find_closing_answer(world: World, effect: AskAgent, outcome: Outcome) -> Answered | None:
    said = read_answer_block(outcome.final, find_question_nonce(world, effect))
    if said is None:
        return None
    return Answered("", said.fault) if said.fault else Answered(said.exit, said.payload)
