"""The one tree that JSON, YAML and XML become: every value keeps its text and its place."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Literal, NoReturn, assert_never

from msgspec import Struct

from porch.errors import DefinitionError, Finding, Place
from porch.text.late_pattern import late_pattern

ScalarKind = Literal["text", "number", "bool", "null"]

MAX_DEPTH = 64
MAX_CHARACTERS = 1 << 20
# Enough to mend a file in one go; a megabyte of commas must not become a million findings.
MAX_FINDINGS = 100
# Python refuses to turn more than 4300 digits into a number; nobody writes a tenth of that.
MAX_NUMBER = 400

NUMBER = late_pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
WHOLE = late_pattern(r"-?[0-9]+")
SURROGATE = late_pattern(r"[\ud800-\udfff]")
_LINE_END = late_pattern(r"\r\n|\n|\r")


class ScalarNode(Struct, frozen=True):
    """A single value; numbers stay as written, so `6.10` is not `6.1`."""

    text: str
    place: Place
    kind: ScalarKind = "text"


class Entry(Struct, frozen=True):
    """A key and its value; a key is a name, so its kind is always text."""

    key: ScalarNode
    value: "Node"


class ListNode(Struct, frozen=True):
    """A list as it was written, with its place."""

    items: tuple["Node", ...]
    place: Place


class MapNode(Struct, frozen=True):
    """A mapping as it was written, with its place; keys keep their order."""

    entries: tuple[Entry, ...]
    place: Place

    def get(self, key: str) -> "Node | None":
        return _value_of(self.entries, key)


class ElementNode(Struct, frozen=True):
    """An XML element; `text` is all character data directly in it, unstripped."""

    name: str
    attributes: tuple[Entry, ...]
    children: tuple["ElementNode", ...]
    text: str
    place: Place

    def get(self, key: str) -> "Node | None":
        return _value_of(self.attributes, key)

    def named(self, name: str) -> tuple["ElementNode", ...]:
        return tuple(child for child in self.children if child.name == name)


Node = ScalarNode | ListNode | MapNode | ElementNode


def _value_of(entries: Sequence[Entry], key: str) -> Node | None:
    return next((entry.value for entry in entries if entry.key.text == key), None)


def plain_value(node: Node) -> object:
    """The value as Python would have read it from JSON."""
    match node:
        case ScalarNode():
            return _plain_scalar(node)
        case ListNode():
            return [plain_value(item) for item in node.items]
        case MapNode():
            return _plain_entries(node.entries)
        case ElementNode():
            return {
                "name": node.name,
                "attributes": _plain_entries(node.attributes),
                "children": [plain_value(child) for child in node.children],
                "text": node.text,
            }
        case _:
            assert_never(node)


def _plain_entries(entries: Iterable[Entry]) -> dict[str, object]:
    return {entry.key.text: plain_value(entry.value) for entry in entries}


def _plain_scalar(scalar: ScalarNode) -> object:
    match scalar.kind:
        case "text":
            return scalar.text
        case "number":
            return int(scalar.text) if WHOLE.fullmatch(scalar.text) else float(scalar.text)
        case "bool":
            return scalar.text == "true"
        case "null":
            return None
        case _:
            assert_never(scalar.kind)


def make_node(value: object, place: Place) -> Node:
    """The same the other way round, for whoever has read values without places: all have this."""
    if isinstance(value, dict):
        entries = (Entry(ScalarNode(k, place), make_node(v, place)) for k, v in value.items())
        return MapNode(tuple(entries), place)
    if isinstance(value, list):
        return ListNode(tuple(make_node(each, place) for each in value), place)
    if isinstance(value, str):
        return ScalarNode(value, place)
    kind: ScalarKind = "number" if value is not None else "null"
    return ScalarNode(str(value).lower(), place, "bool" if isinstance(value, bool) else kind)


class ReadingStopped(Exception):
    """What follows cannot be read any more; the findings say why."""


class SourceText:
    """A text that knows the place of each of its characters and gathers what is wrong with it."""

    def __init__(self, text: str, file: str):
        self.file = file
        self.text = text.removeprefix("\ufeff")
        self.findings: list[Finding] = []
        self._lines = [0, *(end.end() for end in _LINE_END.finditer(self.text))]

    def place(self, offset: int) -> Place:
        line = bisect_right(self._lines, offset)
        return Place(self.file, line, offset - self._lines[line - 1] + 1)

    def offset(self, place: Place) -> int:
        """Where a place lies in the text."""
        return self._lines[place.line - 1] + place.column - 1

    def report(self, code: str, message: str, place: Place, fix: str = "") -> None:
        self.findings.append(Finding(code, message, place, fix))
        if len(self.findings) >= MAX_FINDINGS:
            raise ReadingStopped

    def stop(self, code: str, message: str, place: Place, fix: str = "") -> NoReturn:
        self.report(code, message, place, fix)
        raise ReadingStopped

    def check_depth(self, depth: int, place: Place) -> None:
        if depth > MAX_DEPTH:
            self.stop(
                "too-deep",
                f"this is nested more than {MAX_DEPTH} levels deep",
                place,
                "use fewer levels",
            )

    def check_duplicate(self, key: ScalarNode, first: dict[str, Place]) -> None:
        """Said as soon as the key is read: what follows may be unreadable."""
        if key.text in first:
            self.report(
                "duplicate-key",
                f"'{key.text}' is written twice; the first is on line {first[key.text].line}",
                key.place,
                "keep one of the two",
            )
        first.setdefault(key.text, key.place)

    def complaint(self) -> DefinitionError:
        ordered = sorted(self.findings, key=lambda found: _place_position(found.place))
        return DefinitionError(ordered)


def _place_position(place: Place | None) -> tuple[int, int]:
    return (place.line, place.column) if place else (0, 0)


def require_readable_text(text: str, file: str) -> SourceText:
    """Refuse what no format may contain, before any parser sees it."""
    if len(text) > MAX_CHARACTERS:
        message = f"the file has {len(text)} characters; the limit is {MAX_CHARACTERS}"
        fix = "split it, or move long texts into separate files"
        raise DefinitionError([Finding("too-large", message, Place(file), fix)])
    source = SourceText(text, file)
    broken = [match.start() for match in SURROGATE.finditer(source.text)][:MAX_FINDINGS]
    if broken:
        message, fix = "invalid character (a lone surrogate)", "save the file as UTF-8"
        places = [source.place(offset) for offset in broken]
        raise DefinitionError([Finding("not-text", message, place, fix) for place in places])
    if not source.text.strip():
        message, fix = "the file is empty", "write the definition into it"
        raise DefinitionError([Finding("empty-file", message, Place(file), fix)])
    return source
