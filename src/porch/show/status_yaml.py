"""The status file's text: plain YAML that people read and that says whether anybody edited it."""

from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

from porch.text.late_pattern import late_pattern
from porch.text.sha256 import sha256

_SEAL_LINE = late_pattern(r"# porch seq=([0-9]{1,18}) sha256=([0-9a-f]{64})(?![0-9a-f])")
# Words that YAML 1.1 takes for truth values or nothing where they stand unquoted.
_TAKEN = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_PENDING_WORDS = "status: pending"


def render_status_file(document: Mapping[str, object], seq: int) -> str:
    """The file's text; its last line names the record it shows and seals what stands above."""
    above = render_status_yaml(document)
    return f"{above}# porch seq={seq} sha256={_text_digest(above)}\n"


def render_status_yaml(document: Mapping[str, object]) -> str:
    """The document alone, for where nobody reads it back: a prompt."""
    return "".join([_render_entry(key, value) for key, value in document.items()])


_KNOWN_KEYS: dict[str, str] = {}
_MOST_KNOWN_KEYS = 1000


def _render_entry(key: str, value: Any) -> str:
    if not isinstance(value, (dict, list)) or not value:
        return _hide_pending_words(f"{key}: {_render_flow_value(value)}\n")
    if key == "gates" and isinstance(value, dict):
        lines = [
            f"  {_hide_pending_words(_render_key(name))}: {_render_gate(gate)}\n"
            for name, gate in value.items()
        ]
        return f"{key}:\n{''.join(lines)}"
    if isinstance(value, dict):
        lines = [
            f"  {_render_key(name)}: {_render_flow_value(each)}\n" for name, each in value.items()
        ]
    else:
        lines = [f"  - {_render_flow_value(each)}\n" for each in value]
    return _hide_pending_words(f"{key}:\n{''.join(lines)}")


def _render_gate(gate: Mapping[str, str]) -> str:
    """The one place where `status: pending` stands in plain letters: hooks grep for it."""
    told = "".join([f", {key}: {_render_flow_value(gate[key])}" for key in gate if key != "status"])
    return f"{{ status: {gate['status']}{_hide_pending_words(told)} }}"


def _hide_pending_words(text: str) -> str:
    """A plan or a log may quote those words; only a gate that is asked may be found by them."""
    return text.replace(_PENDING_WORDS, _PENDING_WORDS.replace(" ", "\\x20"))


def parse_signature(text: str) -> tuple[int, bool] | None:
    """The record that a file of ours shows and whether it is as we wrote it; None if not ours."""
    tails = list(_SEAL_LINE.finditer(text))
    if not tails:
        return None
    tail = tails[-1]
    is_last = text[tail.end() :] == "\n"
    return int(tail[1]), is_last and _text_digest(text[: tail.start()]) == tail[2]


def _text_digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _render_flow_value(value: Any) -> str:
    if type(value) is str:
        return _quote_text(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        inside = ", ".join(
            [f"{_render_key(key)}: {_render_flow_value(each)}" for key, each in value.items()]
        )
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([_render_flow_value(each) for each in value])}]"
    return _quote_text(str(value))


def _render_key(name: str) -> str:
    known = _KNOWN_KEYS.get(name)
    if known is None:
        known = name if _is_plain_key(name) else _quote_text(name)
        if len(_KNOWN_KEYS) < _MOST_KNOWN_KEYS:
            _KNOWN_KEYS[name] = known
    return known


def _is_plain_key(name: str) -> bool:
    """Letters, digits, `_` and `-`, with no digit and no `-` in front."""
    is_word = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return is_word and (name[0].isalpha() or name[0] == "_") and name.lower() not in _TAKEN


def _quote_text(text: str) -> str:
    """Always quoted, so that `0073` stays text; nothing invisible reaches a terminal raw."""
    quoted = encode_basestring(text)
    if quoted.isprintable():
        return quoted
    return "".join(char if char.isprintable() else _escape_character(ord(char)) for char in quoted)


def _escape_character(point: int) -> str:
    if 0xD800 <= point <= 0xDFFF:
        return "\\uFFFD"  # half a character has no place in a UTF-8 file
    return f"\\x{point:02x}" if point < 0x100 else f"\\U{point:08x}"
