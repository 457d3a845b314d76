"""A schema as OpenAI takes it: every object closed, every property required, no tuples.

What cannot be said there is asked for as JSON text, which `answer` reads back.
"""

import json
from collections.abc import Mapping
from typing import Any

from porch.adapters.agents.tuples import as_list

_TEXT = {"type": "string", "description": "a JSON object, written as text"}
_DROPPED = ("$schema", "default", "uniqueItems")


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The nearest schema that the vendor accepts; the answer is validated by us anyway."""
    if schema.get("type") == "object" and _is_open(schema):
        return dict(_TEXT)
    told = {key: _part(key, value) for key, value in schema.items() if key not in _DROPPED}
    if "const" in told:
        told["enum"] = [told.pop("const")]
    if "oneOf" in told:
        told["anyOf"] = told.pop("oneOf")
    if "prefixItems" in told:
        told = as_list(told)
    return _closed(told, schema) if "properties" in told else told


def _is_open(schema: Mapping[str, Any]) -> bool:
    return not schema.get("properties") and schema.get("additionalProperties") is not False


def _part(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: strict(each) for name, each in value.items()}
    if key in ("oneOf", "anyOf", "prefixItems"):
        return [strict(each) for each in value]
    return strict(value) if isinstance(value, Mapping) else value


def _closed(told: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    needed = schema.get("required", ())
    properties = {
        name: each if name in needed else {"anyOf": [each, {"type": "null"}]}
        for name, each in told["properties"].items()
    }
    closed = {"properties": properties, "required": list(properties)}
    return told | closed | {"additionalProperties": False}


def answer(text: str) -> tuple[str, Any] | None:
    """The exit and payload of a message that is an answer and nothing else.

    Where all is in one flat object the exit is left empty: only who asked knows its fields.
    """
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not any(key.rstrip("_") == "exit" for key in said):
        return None
    if set(said) != {"exit", "payload"}:
        return "", said
    return str(said["exit"]), _unpacked(said["payload"])


def _unpacked(payload: Any) -> Any:
    if not isinstance(payload, str):
        return payload
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return payload
    return found if isinstance(found, dict) else payload
