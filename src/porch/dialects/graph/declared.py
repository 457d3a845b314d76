"""Types and typed exits as a graph file declares them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from porch.dialects.graph.given import TYPES
from porch.dialects.graph.notes import Notes, as_text
from porch.dialects.nodes import Entry, MapNode, Node, Scalar
from porch.errors import Place
from porch.model import types as t

ADVISORY = " advisory"
FILLED_FROM = " = "


@dataclass(frozen=True, slots=True)
class Declared:
    """One exit of an agent: its record, what the engine fills, what is only advice."""

    name: str
    record: t.Record
    place: Place
    filled: Mapping[str, Scalar] = field(default_factory=dict)
    advisory: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)  # of its fields


def read_types(node: Node | None, notes: Notes) -> dict[str, t.Type]:
    """Every declared type; a record is a mapping, anything else an expression."""
    types: dict[str, t.Type] = dict(TYPES)
    places: dict[str, Place] = {}
    written: list[tuple[Place, t.Type]] = []
    for entry in notes.entries(node, "'types'"):
        name = entry.key.text
        places[name] = entry.key.place
        if not t.is_name(name) or name in TYPES:
            fix = "begin with a capital, and use no word that has a meaning already"
            notes.report("bad-name", f"a type cannot be called '{name}'", entry.key.place, fix)
            continue
        types[name] = _type(entry.value, notes, written)
    for place, type_ in written:
        _declared(type_, place, types, notes)
    for name in t.endless(types):
        message = f"the type '{name}' contains itself, so no value of it is ever finished"
        fix = "put a list or Maybe in between"
        notes.report("endless-type", message, places[name], fix)
    return types


def _type(node: Node, notes: Notes, written: list[tuple[Place, t.Type]]) -> t.Type:
    if isinstance(node, MapNode):
        fields = [e for e in node.entries if notes.is_free(e.key, "a field", ())]
        return t.Record(tuple(t.Field(e.key.text, _type(e.value, notes, written)) for e in fields))
    written.append((node.place, expression(as_text(node), node.place, notes)))
    return written[-1][1]


def expression(text: str, place: Place, notes: Notes) -> t.Type:
    try:
        return t.parse(text)
    except t.TypeSyntax as error:
        where = Place(place.file, place.line, place.column + error.column)
        notes.report("bad-type", f"'{text}': {error.message}", where)
        return t.Scalar("Text")


def _declared(type_: t.Type, place: Place, types: Mapping[str, t.Type], notes: Notes) -> bool:
    missing = t.unknown(type_, types)
    for name in missing:
        notes.unknown("the type", Scalar(name, place), types, "unknown-type")
    return not missing


def read_exit(name: Scalar, node: Node, types: Mapping[str, t.Type], notes: Notes) -> Declared:
    """The record of an exit, or the name of a record type."""
    if not isinstance(node, MapNode):
        return Declared(name.text, _referred(name, node, types, notes), name.place)
    entries = [e for e in node.entries if notes.is_free(e.key, "a field", ())]
    read = [(e, *_exit_field(e, types, notes)) for e in entries]
    return Declared(
        name.text,
        t.Record(tuple(t.Field(e.key.text, type_) for e, type_, _, _ in read)),
        name.place,
        {e.key.text: path for e, _, path, _ in read if path is not None},
        tuple(e.key.text for e, _, _, is_advice in read if is_advice),
        {e.key.text: e.key.place for e in entries},
    )


def _referred(name: Scalar, node: Node, types: Mapping[str, t.Type], notes: Notes) -> t.Record:
    written = expression(as_text(node), node.place, notes)
    found = t.resolve(written, types)
    if isinstance(found, t.Record):
        return found
    if _declared(written, node.place, types, notes):
        message = f"exit '{name.text}' must be a mapping of fields or the name of a record type"
        notes.report("bad-type", message, node.place)
    return t.Record(())


def _exit_field(
    entry: Entry, types: Mapping[str, t.Type], notes: Notes
) -> tuple[t.Type, Scalar | None, bool]:
    node = entry.value
    text, is_advice = _cut(as_text(node).strip(), ADVISORY)
    written, _, path = text.partition(FILLED_FROM)
    type_ = expression(written, node.place, notes)
    _declared(type_, node.place, types, notes)
    return type_, Scalar(path.strip(), node.place) if path else None, is_advice


def _cut(text: str, mark: str) -> tuple[str, bool]:
    return text.removesuffix(mark), text.endswith(mark)


def fields_of(exits: Mapping[str, Declared]) -> Iterator[tuple[Declared, t.Field]]:
    """Every field of every exit."""
    return ((exit_, field) for exit_ in exits.values() for field in exit_.record.fields)
