"""What is said to an agent around its question: how to answer, what was refused, a reminder.

And which fields of an answer it is not asked for.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from porch.machine.effects import AskAgent
from porch.model.protocol import Exit, Protocol
from porch.model.protocol_parts import part_of_name
from porch.show.strict_templates import fence_text, quote_text

REMINDER = "REMINDER: Emit a decision to complete this phase\n"


def render_answer_instructions(
    ways: Collection[str], exits: Iterable[str], exit_file: str = "", nonce: str = ""
) -> str:
    """One exit, typed, by a way that this agent has; never a word in prose."""
    texts = {
        "schema": _STRUCTURED_FORM,
        "file": f"as JSON in the file `{exit_file}`",
        "message": "as the last thing in your final message, in a fenced block of its own",
    }
    listed = ", or ".join(text for way, text in texts.items() if way in ways)
    # Only who answers in words has to know how the block is opened.
    info = f"json {nonce}".strip() if "message" in ways else "json"
    shape = fence_text('{"exit": "<name>", "payload": {...}}', info)
    shown = f"{listed}:\n\n{shape}" if set(ways) - {"schema"} else f"{listed}."
    more = _MESSAGE_RULES if "message" in ways else ""
    return f"""

---

## How to answer

End with exactly one of these exits: {", ".join(exits)}. Give it {shown}

Only that counts; your other text is not read as an answer.{more} Porch checks what you claim, \
commits what you leave, and fills in commit hashes itself."""


_STRUCTURED_FORM = "as structured output, with its own fields filled and all others null"
_MESSAGE_RULES = (
    " Write nothing after the block, and no other block like it anywhere in that message: "
    "a quote must not look like an answer."
)


def render_exit_schemas(
    schemas: Mapping[str, Mapping[str, Any]], advice: Iterable[str] = ()
) -> str:
    """What the payload of each exit holds."""
    shapes = "\n\n".join(
        f"### {name}\n\n{fence_text(json.dumps(schema, indent=1), 'json')}"
        for name, schema in schemas.items()
    )
    return f"{_render_advice(advice)}\n\n{shapes}\n"


def _render_advice(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f" It also counts itself; these fields are only advice: {listed}." if listed else ""


def render_refusal(reasons: Iterable[str]) -> str:
    listed = "\n".join(f"- {reason}" for reason in reasons)
    return f"""Your answer was not accepted:

{listed}

Fix this and answer again, with exactly one exit.
"""


def render_earlier_refusals(
    refused: Iterable[tuple[str, Iterable[str]]], kept: Iterable[str]
) -> str:
    """For a new try: what was answered before, why it did not count, and where those files are."""
    rows = [
        f"- `{exit_ or 'no exit'}`: {quote_text('; '.join(reasons)).strip()}"
        for exit_, reasons in refused
    ]
    names = " and ".join(f"`{name}`" for name in kept)
    where = (
        f"The files of that try are no longer here; they are kept under {names}.\n" if names else ""
    )
    return f"""
## What was refused before

Earlier answers to this very question were not accepted. Do not give one of them again:

{chr(10).join(dict.fromkeys(rows))}

{where}"""


def render_last_words(told: str) -> str:
    """For an agent that cannot begin from the conversation before: its last words, quoted."""
    return f"""
## What was said before

The earlier conversation could not be continued. It ended with:

{quote_text(told)}
"""


def render_unread_words(label: str, text: str) -> str:
    """What a person said where the protocol has no place for it."""
    return f"""
## {label}

A person said this, and no other part of this prompt repeats it.

{quote_text(text)}
"""


def render_person_answers(label: str, text: str) -> str:
    """What a person has answered to questions of this work and of the whole run."""
    return f"""
## {label}

{quote_text(text)}
"""


def find_children_room(effect: AskAgent) -> Mapping[str, Any]:
    """What the agent was told of `engine.children`, whatever its input calls it."""
    names = [take.name for take in effect.ask.takes if take.paths == ("engine.children",)]
    return next((effect.values.get(name) or {} for name in names), {})


def list_unasked_fields(protocol: Protocol, effect: AskAgent, known: Exit) -> set[str]:
    """Fields that are the engine's to fill, or that may not be answered now."""
    out = set(known.filled)
    spawn = protocol.spawn_of(part_of_name(effect.state))
    front, _, name = spawn.specs.rpartition(".") if spawn else ("", "", "")
    # A list deeper inside is not all that its field holds: children in it are refused instead.
    if front == f"{effect.state}.{known.name}" and not _may_plan_children(effect):
        out.add(name)
    return out


def _may_plan_children(effect: AskAgent) -> bool:
    return bool(find_children_room(effect).get("allowed", True))
