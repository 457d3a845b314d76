"""Types and typed exits as a graph file declares them."""

from collections.abc import Iterator, Mapping

from porch.dialects.graph.engine_fields import ENGINE_TYPES
from porch.dialects.graph.findings import ReadingNotes, as_text
from porch.dialects.graph.path_types import DeclaredExit
from porch.errors import Place
from porch.model import types as t
from porch.text.nodes import Entry, MapNode, Node, ScalarNode

ADVISORY_MARK = " advisory"
FILLED_FROM_MARK = " = "


def read_types(node: Node | None, notes: ReadingNotes) -> dict[str, t.Type]:
    """Every declared type; a record is a mapping, anything else an expression."""
    types: dict[str, t.Type] = dict(ENGINE_TYPES)
    places: dict[str, Place] = {}
    written: list[tuple[Place, t.Type]] = []
    for entry in notes.entries(node, "'types'"):
        name = entry.key.text
        places[name] = entry.key.place
        if not t.is_type_name(name) or name in ENGINE_TYPES:
            fix = "start with a capital letter, and do not use a built-in name"
            notes.report("bad-name", f"a type cannot be called '{name}'", entry.key.place, fix)
            continue
        types[name] = _read_type(entry.value, notes, written)
    for place, type_ in written:
        _check_types_exist(type_, place, types, notes)
    for name in t.find_endless_names(types):
        message = f"the type '{name}' contains itself, so no value of it can be complete"
        fix = "put a list or Maybe in between"
        notes.report("endless-type", message, places[name], fix)
    return types


def _read_type(node: Node, notes: ReadingNotes, written: list[tuple[Place, t.Type]]) -> t.Type:
    if isinstance(node, MapNode):
        fields = [e for e in node.entries if notes.is_free(e.key, "a field", ())]
        return t.Record(
            tuple(t.Field(e.key.text, _read_type(e.value, notes, written)) for e in fields)
        )
    written.append((node.place, parse_type_expression(as_text(node), node.place, notes)))
    return written[-1][1]


def parse_type_expression(text: str, place: Place, notes: ReadingNotes) -> t.Type:
    try:
        return t.parse_type(text)
    except t.TypeSyntax as error:
        where = Place(place.file, place.line, place.column + error.column)
        notes.report("bad-type", f"'{text}': {error.message}", where)
        return t.Scalar("Text")


def _check_types_exist(
    type_: t.Type, place: Place, types: Mapping[str, t.Type], notes: ReadingNotes
) -> bool:
    missing = t.find_unknown_names(type_, types)
    for name in missing:
        notes.unknown("the type", ScalarNode(name, place), types, "unknown-type")
    return not missing


def read_exit(
    name: ScalarNode, node: Node, types: Mapping[str, t.Type], notes: ReadingNotes
) -> DeclaredExit:
    """The record of an exit, or the name of a record type."""
    if not isinstance(node, MapNode):
        return DeclaredExit(name.text, _read_record_reference(name, node, types, notes), name.place)
    entries = [e for e in node.entries if notes.is_free(e.key, "a field", ())]
    read = [(e, *_read_exit_field(e, types, notes)) for e in entries]
    return DeclaredExit(
        name.text,
        t.Record(tuple(t.Field(e.key.text, type_) for e, type_, _, _ in read)),
        name.place,
        {e.key.text: path for e, _, path, _ in read if path is not None},
        tuple(e.key.text for e, _, _, is_advice in read if is_advice),
        {e.key.text: e.key.place for e in entries},
    )


def _read_record_reference(
    name: ScalarNode, node: Node, types: Mapping[str, t.Type], notes: ReadingNotes
) -> t.Record:
    written = parse_type_expression(as_text(node), node.place, notes)
    found = t.resolve_reference(written, types)
    if isinstance(found, t.Record):
        return found
    if _check_types_exist(written, node.place, types, notes):
        message = f"exit '{name.text}' must be a mapping of fields or the name of a record type"
        notes.report("bad-type", message, node.place)
    return t.Record(())


def _read_exit_field(
    entry: Entry, types: Mapping[str, t.Type], notes: ReadingNotes
) -> tuple[t.Type, ScalarNode | None, bool]:
    node = entry.value
    if isinstance(node, MapNode):
        message = f"'{entry.key.text}' of an exit is written out as a record"
        fix = "write the record under 'types', and its name here"
        notes.report("bad-type", message, node.place, fix)
        return t.Scalar("Text"), None, False
    text, is_advice = _cut_mark(as_text(node).strip(), ADVISORY_MARK)
    written, _, path = text.partition(FILLED_FROM_MARK)
    type_ = parse_type_expression(written, node.place, notes)
    _check_types_exist(type_, node.place, types, notes)
    return type_, ScalarNode(path.strip(), node.place) if path else None, is_advice


def _cut_mark(text: str, mark: str) -> tuple[str, bool]:
    return text.removesuffix(mark), text.endswith(mark)


def exit_fields(exits: Mapping[str, DeclaredExit]) -> Iterator[tuple[DeclaredExit, t.Field]]:
    """Every field of every exit."""
    return ((exit_, field) for exit_ in exits.values() for field in exit_.record.fields)
