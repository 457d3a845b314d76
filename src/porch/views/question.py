"""What is said to an agent around its question: how to answer, what was refused, a reminder."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from porch.views.jinja import fence, quote

REMINDER = "REMINDER: Emit a decision to complete this phase\n"


def how_to_answer(
    ways: Collection[str], exits: Iterable[str], exit_file: str = "", nonce: str = ""
) -> str:
    """One exit, typed, by a way that this agent has; never a word in prose."""
    texts = {
        "schema": _FORM,
        "file": f"as JSON in the file `{exit_file}`",
        "message": "as the last thing in your final message, in a fenced block of its own",
    }
    listed = ", or ".join(text for way, text in texts.items() if way in ways)
    # Only who answers in words has to know how the block is opened.
    info = f"json {nonce}".strip() if "message" in ways else "json"
    shape = fence('{"exit": "<name>", "payload": {...}}', info)
    shown = f"{listed}:\n\n{shape}" if set(ways) - {"schema"} else f"{listed}."
    more = _IN_WORDS if "message" in ways else ""
    return f"""

---

## How to answer

End with exactly one of these exits: {", ".join(exits)}. Give it {shown}

Only that counts; nothing is read out of prose.{more} Porch checks what you claim, commits what \
you leave, and fills in commit hashes itself."""


_FORM = "as structured output, with its own fields filled and all others null"
_IN_WORDS = (
    " Nothing may stand behind the block, and no other block like it anywhere in that message: "
    "what you only quote must not look like an answer."
)


def exits(schemas: Mapping[str, Mapping[str, Any]], advice: Iterable[str] = ()) -> str:
    """What the payload of each exit holds."""
    shapes = "\n\n".join(
        f"### {name}\n\n{fence(json.dumps(schema, indent=1), 'json')}"
        for name, schema in schemas.items()
    )
    return f"{_advice(advice)}\n\n{shapes}\n"


def _advice(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f" It counts for itself; this is taken as advice: {listed}." if listed else ""


def refused(reasons: Iterable[str]) -> str:
    listed = "\n".join(f"- {reason}" for reason in reasons)
    return f"""Your answer was not accepted:

{listed}

Mend that and answer again, with exactly one exit.
"""


def digest(told: str) -> str:
    """For an agent that cannot begin from the conversation before: its last words, quoted."""
    return f"""
## What was said before

The conversation that led here could not be carried over. It ended with:

{quote(told)}
"""
