"""A JSON Schema for editors, made of the table of keys that the reader itself uses."""

from typing import Any

from porch.dialects.phases.keys import KEYS, TARGET, TEXT, TEXTS

_REQUIRED = {"protocol": ["name", "phases"], "phase": ["id"], "verification": ["checks"]}
_TOP = ("protocol",)


def _object_schema(kind: str) -> dict[str, Any]:
    """Keys that nobody knows are left to the reader, which can tell a slip from an addition."""
    shape: dict[str, Any] = {"type": "object", "properties": dict(KEYS[kind])}
    if kind in _REQUIRED:
        shape["required"] = _REQUIRED[kind]
    return shape


def _mapping_schema(value: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value}


def _list_schema(value: Any) -> dict[str, Any]:
    return {"type": "array", "items": value}


def _any_of_schema(*values: Any) -> dict[str, Any]:
    return {"anyOf": list(values)}


def _ref_schema(kind: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{kind}"}


_TABLES: dict[str, Any] = {
    "checks": _any_of_schema(
        _mapping_schema(_any_of_schema(_ref_schema("check"), TEXT)),
        _list_schema(_any_of_schema(_ref_schema("check"), TEXT)),
    ),
    "signals": _any_of_schema(
        _mapping_schema(_any_of_schema(_ref_schema("signal"), TARGET)),
        _list_schema(_any_of_schema(_ref_schema("signal"), TEXT)),
    ),
    "gates": _any_of_schema(
        _mapping_schema(_ref_schema("gate")), _list_schema(_ref_schema("gate"))
    ),
    "transitions": _any_of_schema(
        _mapping_schema(_any_of_schema(_ref_schema("state_transition"), TARGET)),
        _list_schema(_ref_schema("state_transition")),
    ),
    "permissions": _any_of_schema(_mapping_schema(TEXTS), TEXTS),
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A porch protocol of phases",
    **_object_schema("protocol"),
    "$defs": {**{kind: _object_schema(kind) for kind in KEYS if kind not in _TOP}, **_TABLES},
}
