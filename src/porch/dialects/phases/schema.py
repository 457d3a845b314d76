"""A JSON Schema for editors, made of the table of keys that the reader itself uses."""

from typing import Any

from porch.dialects.phases.keys import KEYS, TARGET, TEXT, TEXTS

_REQUIRED = {"protocol": ["name", "phases"], "phase": ["id"], "verification": ["checks"]}
_TOP = ("protocol",)


def _object(kind: str) -> dict[str, Any]:
    """Keys that nobody knows are left to the reader, which can tell a slip from an addition."""
    shape: dict[str, Any] = {"type": "object", "properties": dict(KEYS[kind])}
    if kind in _REQUIRED:
        shape["required"] = _REQUIRED[kind]
    return shape


def _named(value: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value}


def _listed(value: Any) -> dict[str, Any]:
    return {"type": "array", "items": value}


def _either(*values: Any) -> dict[str, Any]:
    return {"anyOf": list(values)}


def _refer(kind: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{kind}"}


_TABLES: dict[str, Any] = {
    "checks": _either(
        _named(_either(_refer("check"), TEXT)), _listed(_either(_refer("check"), TEXT))
    ),
    "signals": _either(
        _named(_either(_refer("signal"), TARGET)), _listed(_either(_refer("signal"), TEXT))
    ),
    "gates": _either(_named(_refer("gate")), _listed(_refer("gate"))),
    "transitions": _either(
        _named(_either(_refer("state_transition"), TARGET)), _listed(_refer("state_transition"))
    ),
    "permissions": _either(_named(TEXTS), TEXTS),
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A porch protocol of phases",
    **_object("protocol"),
    "$defs": {**{kind: _object(kind) for kind in KEYS if kind not in _TOP}, **_TABLES},
}
