"""The YAML that we write ourselves, read and written without the library, which is slow to load.

Whatever people have made of a file, a comment, a blank line, another way to quote, is left to the
library: then the answer is None. What is answered is what the library would have answered.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from porch.text.late_pattern import late_pattern

_LONGEST = 1 << 20
_KEY = late_pattern(r"([A-Za-z][A-Za-z0-9_]{0,60}):(?: (.+))?")
_NUMBER = late_pattern(r"0|-?[1-9][0-9]{0,15}")
_PLAIN = late_pattern(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_QUOTED = late_pattern(r'"([ !#-\[\]-~]*)"')
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_CONSTANTS: Mapping[str, Any] = {"null": None, "true": True, "false": False}
_NAMES = {True: "true", False: "false", None: "null"}
_STEP = 2


class _NotPlain(Exception):
    pass


class _Line(NamedTuple):
    indent: int
    text: str


def parse_plain_fields(text: str) -> dict[str, Any] | None:
    """The fields of a mapping; None if the library has to read it."""
    try:
        return _PlainReader(text).read_all()
    except _NotPlain:
        return None


def render_plain_fields(fields: Mapping[str, Any]) -> str | None:
    """The mapping as lines; None if the library has to write it."""
    try:
        return "".join(_field_lines(fields, 0))
    except _NotPlain:
        return None


def render_plain_changes(text: str, changes: Mapping[str, Any]) -> str | None:
    """The same mapping with these fields; new ones are added below."""
    try:
        reader = _PlainReader(text)
        reader.read_all()
        parts = [
            "".join(_field_lines({name: changes[name]}, 0)) if name in changes else lines
            for name, lines in reader.fields.items()
        ]
        new = {name: value for name, value in changes.items() if name not in reader.fields}
        return "".join([*parts, *_field_lines(new, 0)])
    except _NotPlain:
        return None


class _PlainReader:
    """Reads line by line; `fields` are the lines of each field at the top."""

    def __init__(self, text: str) -> None:
        if not text.endswith("\n") or len(text) > _LONGEST:
            raise _NotPlain
        self._lines = text[:-1].split("\n")
        if not all(map(str.isprintable, self._lines)):
            raise _NotPlain
        self._at = 0
        self.fields: dict[str, str] = {}

    def read_all(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        while self._at < len(self._lines):
            start = self._at
            name = self._read_field(0, fields)
            self.fields[name] = "".join(f"{line}\n" for line in self._lines[start : self._at])
        return fields

    def _peek(self) -> _Line:
        if self._at >= len(self._lines):
            return _Line(-1, "")
        text = self._lines[self._at].lstrip(" ")
        return _Line(len(self._lines[self._at]) - len(text), text)

    def _read_field(self, indent: int, fields: dict[str, Any], text: str = "") -> str:
        """One field into the others; `text` is its line where that began with a dash."""
        line = self._peek()
        found = _KEY.fullmatch(text or line.text)
        if found is None or found[1] in fields or (not text and line.indent != indent):
            raise _NotPlain
        self._at += 1
        fields[found[1]] = (
            self._read_block(indent) if found[2] is None else self._value(found[2], indent)
        )
        return found[1]

    def _value(self, text: str, indent: int) -> Any:
        return self._read_text(text, indent) if text in ("|", "|-") else _parse_scalar(text)

    def _read_block(self, indent: int) -> Any:
        """What stands below a key: fields further in, or entries with a dash."""
        line = self._peek()
        if line.indent == indent + _STEP and not line.text.startswith("- "):
            fields: dict[str, Any] = {}
            while self._peek().indent == indent + _STEP:
                self._read_field(indent + _STEP, fields)
            return fields
        if line.indent != indent or not line.text.startswith("- "):
            raise _NotPlain
        return list(self._read_entries(indent))

    def _read_entries(self, indent: int) -> Iterator[Any]:
        while (line := self._peek()).indent == indent and line.text.startswith("- "):
            rest = line.text[2:]
            if _KEY.fullmatch(rest) is None:
                self._at += 1
                yield _parse_scalar(rest)
                continue
            fields: dict[str, Any] = {}
            self._read_field(indent + _STEP, fields, rest)
            while self._peek().indent == indent + _STEP:
                self._read_field(indent + _STEP, fields)
            yield fields

    def _read_text(self, mark: str, indent: int) -> str:
        """Lines as they are; blank ones may stand between them."""
        front, lines = " " * (indent + _STEP), []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line and not line.startswith(front):
                break
            lines.append(line[len(front) :])
            self._at += 1
        text = "\n".join(lines) + ("\n" if mark == "|" else "")
        if not is_block(text) or ("\n" not in text):
            raise _NotPlain
        return text


def _parse_scalar(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text == "[]":
        return []
    if _NUMBER.fullmatch(text):
        return int(text)
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return quoted[1]
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    raise _NotPlain


def _field_lines(fields: Mapping[str, Any], indent: int, first: str = "") -> Iterator[str]:
    """`first` stands in the place of the indent of the first line."""
    for name, value in fields.items():
        if _KEY.fullmatch(f"{name}:") is None or name.lower() in _WORDS:
            raise _NotPlain
        yield f"{first or ' ' * indent}{name}:{_render_value(value, indent)}"
        first = ""


def _render_value(value: Any, indent: int) -> str:
    if isinstance(value, dict) and value:
        return "\n" + "".join(_field_lines(value, indent + _STEP))
    if isinstance(value, list) and value:
        return "\n" + "".join(line for each in value for line in _entry_lines(each, indent))
    if isinstance(value, str) and "\n" in value and is_block(value):
        mark = "|" if value.endswith("\n") else "|-"
        front = " " * (indent + _STEP)
        lines = value.removesuffix("\n").split("\n")
        return f" {mark}\n" + "".join(f"{front}{line}\n" if line else "\n" for line in lines)
    return f" {_render_scalar(value)}\n"


def _entry_lines(value: Any, indent: int) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield from _field_lines(value, indent + _STEP, " " * indent + "- ")
    else:
        yield f"{' ' * indent}- {_render_scalar(value)}\n"


def _render_scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return _NAMES[value]
    if type(value) is int:
        return str(value)
    if value == [] and isinstance(value, list):
        return "[]"
    if type(value) is str and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if type(value) is str and _QUOTED.fullmatch(f'"{value}"'):
        return f'"{value}"'
    raise _NotPlain


def is_block(value: str) -> bool:
    """Whether every reader gets this text back out of lines.

    Not so where it begins with a blank, where several line ends close it, or where it has breaks
    other than the plain one: readers differ, and the library would close the document.
    """
    lines = value.removesuffix("\n").split("\n")
    is_framed = bool(lines[0][:1].strip()) and bool(lines[-1])
    return is_framed and all(line.isprintable() and line == line.rstrip() for line in lines)
