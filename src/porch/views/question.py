"""What is said to an agent around its question: how to answer, what was refused, a reminder."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from porch.views.jinja import fence, quote

REMINDER = "REMINDER: Emit a decision to complete this phase\n"


def how_to_answer(
    schemas: Mapping[str, Mapping[str, Any]], exit_file: str, advice: Iterable[str] = ()
) -> str:
    """One exit, typed; never a word in prose."""
    shapes = "\n\n".join(
        f"### {name}\n\n{fence(json.dumps(schema, indent=1), 'json')}"
        for name, schema in schemas.items()
    )
    return f"""

---

## How to answer

End with exactly one of these exits: {", ".join(schemas)}. Give it as structured output, or write \
it as JSON to `{exit_file}`:

{fence('{"exit": "<name>", "payload": {...}}', "json")}

Only that counts; nothing is read out of prose. Porch checks what you claim, commits what you \
leave, and fills in commit hashes itself.{_advice(advice)}

{shapes}
"""


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
