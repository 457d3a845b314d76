"""The parts that the three wire formats share: a stream in three pieces, and how one is framed."""

import itertools
import json
from dataclasses import dataclass
from typing import Any

from tests.standin.steps import Step

_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Stream:
    """Its head, what is said in between, and the end that makes it whole."""

    head: tuple[bytes, ...]
    body: tuple[bytes, ...]
    tail: tuple[bytes, ...]


def fresh(prefix: str) -> str:
    return f"{prefix}{next(_NUMBERS):012d}"


def named(event: dict[str, Any]) -> bytes:
    """A frame of those vendors that name their events."""
    return f"event: {event['type']}\n".encode() + unnamed(event)


def unnamed(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def pieces(step: Step) -> list[str]:
    return [step.text[n : n + step.chunk] for n in range(0, len(step.text), step.chunk)]


def smallest(schema: dict[str, Any]) -> Any:
    """The least that fits a JSON schema, for requests that no script is about."""
    if "enum" in schema:
        return schema["enum"][0]
    if str(schema.get("type", "")).lower() == "object":
        return {name: smallest(each) for name, each in schema.get("properties", {}).items()}
    values = {"array": [], "integer": 0, "number": 0, "boolean": False}
    return values.get(str(schema.get("type", "")).lower(), "none")
