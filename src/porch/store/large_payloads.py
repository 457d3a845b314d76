"""Large texts of facts as files named by their hash, synced before the record that names them."""

from collections.abc import Mapping
from typing import Any, TypedDict

from porch.errors import StateError
from porch.machine.facts import Fact
from porch.machine.records import JSON_FORM
from porch.store import payloads
from porch.text.printable import TEXT_REF_KEY, describe_text

# In the place of a long text: the hash that names its file, its size, and how it begins.
StoredText = TypedDict("StoredText", {"$sha256": str, "size": int, "clip": str})
INSIDE = 4096
LONG = 512
CLIP = 200
# What agents, people and checks wrote; names and identities always travel inside.
_LONG_KEYS = frozenset(
    (
        *("text", "reason", "report", "summary", "findings", "reply"),
        *("payload", "evidence", "spec", "form"),
    )
)


def slim_fact(directory: str, fact: Fact) -> Fact:
    """The fact as it is journalled: small ones as they are, long texts of large ones by hash."""
    if _is_small(fact):
        return fact
    slimmed: Fact = JSON_FORM.decode(_slim_value(directory, JSON_FORM.encode(fact)))
    return slimmed


def _is_small(fact: Fact) -> bool:
    """Asked of every fact: printing is cheaper than encoding, and never shorter than the texts."""
    size = 0
    for name in fact.__struct_fields__:
        value = getattr(fact, name)
        size += len(value) if type(value) is str else len(repr(value)) if value else 0
    return size <= INSIDE


def _slim_value(directory: str, value: Any, key: str = "") -> Any:
    if isinstance(value, str) and key in _LONG_KEYS and len(value) > LONG:
        return _store_text(directory, value)
    if isinstance(value, dict):
        below = key if key in _LONG_KEYS else ""
        return {name: _slim_value(directory, item, below or name) for name, item in value.items()}
    if isinstance(value, list):
        return [_slim_value(directory, item, key) for item in value]
    return value


def slim_wish_text(directory: str, text: str) -> str | StoredText:
    """A text as a wish carries it: a long one lies beside the journal before anybody asks for it.

    Wishes are small, and what becomes a fact is made smaller only once it has arrived.
    """
    return text if len(text) <= INSIDE else _store_text(directory, text)


def _store_text(directory: str, text: str) -> StoredText:
    data = text.encode("utf-8", "surrogatepass")
    return {
        TEXT_REF_KEY: payloads.write_payload(directory, data),
        "size": len(data),
        "clip": text[:CLIP],
    }


def expand_payloads(directory: str, value: Any) -> Any:
    """What was remembered, whole again; a payload that is lost shows what is left of it."""
    if isinstance(value, Mapping):
        if _is_stored_text(value):
            return _read_stored_text(directory, value)
        return {key: expand_payloads(directory, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [expand_payloads(directory, item) for item in value]
    return value


def _is_stored_text(value: Mapping[str, Any]) -> bool:
    """A wish can hold anything, also something that only looks like it."""
    shape = (value.get(TEXT_REF_KEY), value.get("size"), value.get("clip"))
    return tuple(map(type, shape)) == (str, int, str)


def _read_stored_text(directory: str, ref: Mapping[str, Any]) -> str:
    try:
        return payloads.read_payload(directory, str(ref[TEXT_REF_KEY])).decode(
            "utf-8", "surrogatepass"
        )
    except StateError:
        return describe_text(ref)
