"""The status file's text: plain YAML that people read and that says whether anybody edited it."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from json.encoder import encode_basestring
from operator import is_
from typing import Any

from porch.machine.state import State
from porch.model.protocol import Protocol
from porch.views.status import LOG_SHOWN, SECTIONS, Document, Part

_TAIL = re.compile(r"# porch seq=([0-9]{1,18}) sha256=([0-9a-f]{64})(?![0-9a-f])")
# Words that YAML 1.1 takes for truth values or nothing where they stand unquoted.
_PLAIN_KEY = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z_][a-z0-9_-]*", re.IGNORECASE | re.ASCII
)
_CALL = "status: pending"


class Drawing:
    """One run's status file, drawn again and again: what has not changed keeps its text.

    Measured, printing all of it anew was half of all the work of a record.
    """

    def __init__(self) -> None:
        self._known = [_Known() for _ in SECTIONS]
        self._log = _Log()

    def text(self, protocol: Protocol, state: State) -> str:
        for known, (inputs, parts) in zip(self._known, SECTIONS, strict=True):
            seen = inputs(protocol, state)
            if len(known.seen) != len(seen) or not all(map(is_, seen, known.seen)):
                known.see(seen, list(parts(protocol, state)))
        above = "".join([known.text for known in self._known])
        return _sealed(above + self._log.text(state.log[-LOG_SHOWN:]), state.seq)


class _Known:
    """The text of one section, and what it was made from."""

    __slots__ = ("parts", "seen", "text")

    def __init__(self) -> None:
        self.seen: tuple[object, ...] = ()
        self.parts: list[Part] = []
        self.text = ""

    def see(self, seen: tuple[object, ...], parts: list[Part]) -> None:
        self.seen = seen
        if parts != self.parts:
            self.parts = parts
            self.text = "".join([_part(key, value) for key, value in parts])


class _Log:
    """The lines of a log that only grows at its end and is cut at its head."""

    def __init__(self) -> None:
        self._last: Any = None
        self._lines: list[str] = []

    def text(self, log: Sequence[Any]) -> str:
        if not log:
            return _part("log", [])
        fresh = next((n for n, entry in enumerate(reversed(log)) if entry is self._last), len(log))
        kept = self._lines[fresh - len(log) :] if fresh < len(log) else []
        self._lines = [*kept, *map(_entry, log[len(log) - fresh :])]
        self._last = log[-1]
        return f"log:\n{''.join(self._lines)}"


def render(document: Document, seq: int) -> str:
    """The file's text; its last line names the record it shows and seals what stands above."""
    return _sealed(yaml_text(document), seq)


def _sealed(above: str, seq: int) -> str:
    return f"{above}# porch seq={seq} sha256={_digest(above)}\n"


def yaml_text(document: Document) -> str:
    """The document alone, for where nobody reads it back: a prompt."""
    return "".join([_part(key, value) for key, value in document.items()])


_KEYS: dict[str, str] = {}
_KEPT = 1000


def _part(key: str, value: Any) -> str:
    if not isinstance(value, (dict, list)) or not value:
        return _calm(f"{key}: {_flow(value)}\n")
    if key == "gates" and isinstance(value, dict):
        lines = [f"  {_calm(_key(name))}: {_gate_flow(gate)}\n" for name, gate in value.items()]
        return f"{key}:\n{''.join(lines)}"
    if isinstance(value, dict):
        lines = [f"  {_key(name)}: {_flow(each)}\n" for name, each in value.items()]
    else:
        lines = [f"  - {_flow(each)}\n" for each in value]
    return _calm(f"{key}:\n{''.join(lines)}")


def _gate_flow(gate: Mapping[str, str]) -> str:
    """The one place where `status: pending` stands in plain letters: hooks grep for it."""
    told = "".join([f", {key}: {_flow(gate[key])}" for key in gate if key != "status"])
    return f"{{ status: {gate['status']}{_calm(told)} }}"


def _calm(text: str) -> str:
    """A plan or a log may quote those words; only a gate that is asked may be found by them."""
    return text.replace(_CALL, _CALL.replace(" ", "\\x20"))


def signature(text: str) -> tuple[int, bool] | None:
    """The record that a file of ours shows and whether it is as we wrote it; None if not ours."""
    tails = list(_TAIL.finditer(text))
    if not tails:
        return None
    tail = tails[-1]
    is_last = text[tail.end() :] == "\n"
    return int(tail[1]), is_last and _digest(text[: tail.start()]) == tail[2]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _flow(value: Any) -> str:
    if type(value) is str:
        return _quoted(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        inside = ", ".join([f"{_key(key)}: {_flow(each)}" for key, each in value.items()])
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([_flow(each) for each in value])}]"
    return _quoted(str(value))


def _entry(entry: Any) -> str:
    return _calm(f"  - {_flow(entry)}\n")


def _key(name: str) -> str:
    known = _KEYS.get(name)
    if known is None:
        known = name if _PLAIN_KEY.fullmatch(name) else _quoted(name)
        if len(_KEYS) < _KEPT:
            _KEYS[name] = known
    return known


def _quoted(text: str) -> str:
    """Always quoted, so that `0073` stays text; nothing invisible reaches a terminal raw."""
    quoted = encode_basestring(text)
    if quoted.isprintable():
        return quoted
    return "".join(char if char.isprintable() else _escape(ord(char)) for char in quoted)


def _escape(point: int) -> str:
    if 0xD800 <= point <= 0xDFFF:
        return "\\uFFFD"  # half a character has no place in a UTF-8 file
    return f"\\x{point:02x}" if point < 0x100 else f"\\U{point:08x}"
