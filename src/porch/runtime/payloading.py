"""Large texts of facts as files named by their hash, synced before the record that names them."""

import json
from collections.abc import Mapping
from typing import Any

from porch.adapters import payloads
from porch.errors import StateError
from porch.machine.facts import Fact
from porch.machine.records import CODEC
from porch.views.text import REF, clipped

INSIDE = 4096
LONG = 512
CLIP = 200
# What agents, people and checks wrote; names and identities always travel inside.
_LONG_KEYS = frozenset(("text", "reason", "report", "summary", "findings"))
# Asked of every fact, and json.dumps would make an encoder each time.
_to_text = json.JSONEncoder(ensure_ascii=False).encode


def slim(directory: str, fact: Fact) -> Fact:
    """The fact as it is journalled: small ones as they are, long texts of large ones by hash."""
    # Cheaper than encoding, and never shorter than the texts themselves.
    if len(repr(fact)) <= INSIDE:
        return fact
    slimmed: Fact = CODEC.decode(_slim(directory, CODEC.encode(fact)))
    return slimmed


def _slim(directory: str, value: Any, key: str = "") -> Any:
    if isinstance(value, str) and key in _LONG_KEYS and len(value) > LONG:
        data = value.encode("utf-8", "surrogatepass")
        digest = payloads.put(directory, data)
        return {REF: digest, "size": len(data), "clip": value[:CLIP]}
    if isinstance(value, dict):
        below = key if key in _LONG_KEYS else ""
        return {name: _slim(directory, item, below or name) for name, item in value.items()}
    if isinstance(value, list):
        return [_slim(directory, item, key) for item in value]
    return value


def expand(directory: str, value: Any) -> Any:
    """What was remembered, whole again; a payload that is lost shows what is left of it."""
    if isinstance(value, Mapping):
        if REF in value:
            return _text(directory, value)
        return {key: expand(directory, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [expand(directory, item) for item in value]
    return value


def _text(directory: str, ref: Mapping[str, Any]) -> str:
    try:
        return payloads.get(directory, str(ref[REF])).decode("utf-8", "surrogatepass")
    except StateError:
        return clipped(ref)
