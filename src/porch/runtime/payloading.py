"""Large texts of facts as files named by their hash, synced before the record that names them."""

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
_LONG_KEYS = frozenset(
    ("text", "reason", "report", "summary", "findings", "payload", "evidence", "spec", "form")
)


def slim(directory: str, fact: Fact) -> Fact:
    """The fact as it is journalled: small ones as they are, long texts of large ones by hash."""
    if _is_small(fact):
        return fact
    slimmed: Fact = CODEC.decode(_slim(directory, CODEC.encode(fact)))
    return slimmed


def _is_small(fact: Fact) -> bool:
    """Asked of every fact: printing is cheaper than encoding, and never shorter than the texts."""
    size = 0
    for name in fact.__slots__:
        value = getattr(fact, name)
        size += len(value) if type(value) is str else len(repr(value)) if value else 0
    return size <= INSIDE


def _slim(directory: str, value: Any, key: str = "") -> Any:
    if isinstance(value, str) and key in _LONG_KEYS and len(value) > LONG:
        return _kept(directory, value)
    if isinstance(value, dict):
        below = key if key in _LONG_KEYS else ""
        return {name: _slim(directory, item, below or name) for name, item in value.items()}
    if isinstance(value, list):
        return [_slim(directory, item, key) for item in value]
    return value


def aside(directory: str, text: str) -> str | dict[str, Any]:
    """A text as a wish carries it: a long one lies beside the journal before anybody asks for it.

    Wishes are small, and what becomes a fact is made smaller only once it has arrived.
    """
    return text if len(text) <= INSIDE else _kept(directory, text)


def _kept(directory: str, text: str) -> dict[str, Any]:
    data = text.encode("utf-8", "surrogatepass")
    return {REF: payloads.put(directory, data), "size": len(data), "clip": text[:CLIP]}


def expand(directory: str, value: Any) -> Any:
    """What was remembered, whole again; a payload that is lost shows what is left of it."""
    if isinstance(value, Mapping):
        if _is_kept(value):
            return _text(directory, value)
        return {key: expand(directory, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [expand(directory, item) for item in value]
    return value


def _is_kept(value: Mapping[str, Any]) -> bool:
    """A wish can hold anything, also something that only looks like it."""
    shape = (value.get(REF), value.get("size"), value.get("clip"))
    return tuple(map(type, shape)) == (str, int, str)


def _text(directory: str, ref: Mapping[str, Any]) -> str:
    try:
        return payloads.get(directory, str(ref[REF])).decode("utf-8", "surrogatepass")
    except StateError:
        return clipped(ref)
