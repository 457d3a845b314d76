"""A schema as OpenAI takes it: every object closed, every property required, no tuples.

What cannot be said there is asked for as JSON text, which `answer` reads back.
"""

import json
from collections.abc import Mapping
from typing import Any

from porch.agents.schema_tuples import make_list_schema

_JSON_TEXT_SCHEMA = {"type": "string", "description": "a JSON object, written as text"}
_DROPPED_KEYWORDS = ("$schema", "default", "uniqueItems")


def make_strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The nearest schema that the vendor accepts; the answer is validated by us anyway."""
    if schema.get("type") == "object" and _is_open_object(schema):
        return dict(_JSON_TEXT_SCHEMA)
    told = {
        key: _make_part_strict(key, value)
        for key, value in schema.items()
        if key not in _DROPPED_KEYWORDS
    }
    if "const" in told:
        told["enum"] = [told.pop("const")]
    if "oneOf" in told:
        told["anyOf"] = told.pop("oneOf")
    if "prefixItems" in told:
        told = make_list_schema(told)
    return _close_object(told, schema) if "properties" in told else told


def _is_open_object(schema: Mapping[str, Any]) -> bool:
    return not schema.get("properties") and schema.get("additionalProperties") is not False


def _make_part_strict(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: make_strict_schema(each) for name, each in value.items()}
    if key in ("oneOf", "anyOf", "prefixItems"):
        return [make_strict_schema(each) for each in value]
    return make_strict_schema(value) if isinstance(value, Mapping) else value


def _close_object(told: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    needed = schema.get("required", ())
    properties = {
        name: each if name in needed else {"anyOf": [each, {"type": "null"}]}
        for name, each in told["properties"].items()
    }
    closed = {"properties": properties, "required": list(properties)}
    return told | closed | {"additionalProperties": False}


def parse_answer(text: str) -> tuple[str, Any] | None:
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
    return str(said["exit"]), _unpack_payload(said["payload"])


def _unpack_payload(payload: Any) -> Any:
    if not isinstance(payload, str):
        return payload
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return payload
    return found if isinstance(found, dict) else payload
