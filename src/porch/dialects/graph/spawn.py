"""The block `spawn`: which children an instance begins, from what plan, and of what type."""

from collections.abc import Iterator

from porch.dialects.graph.child_graphs import ChildGraph
from porch.dialects.graph.instances import InstanceBlocks
from porch.dialects.graph.path_types import PathMeanings
from porch.dialects.graph.type_fit import find_misfit, find_record_misfit
from porch.dialects.graph.word_lists import read_path
from porch.model import protocol as p
from porch.model import types as t
from porch.text.fields import Fields
from porch.text.nodes import ScalarNode

# The field of a planned child that the engine reads itself.
AFTER = "after"
_AFTER_TYPE = t.Maybe(t.ListOf(t.Scalar("Text")))


def read_spawn(blocks: InstanceBlocks, meaning: PathMeanings) -> Iterator[p.State]:
    if blocks.spawn is None or blocks.child is None:
        return
    reader = _SpawnReader(Fields(blocks.spawn, "'spawn'", meaning.notes.findings), blocks.child)
    actor = reader.read(meaning)
    name = reader.fields.text("state")
    reader.fields.know("protocol")
    reader.fields.done()
    yield p.State(name, name, actor, name)


class _SpawnReader:
    """Reads one block; knows what its children are about."""

    def __init__(self, fields: Fields, child: ChildGraph):
        self.fields = fields
        self.child = child

    def read(self, meaning: PathMeanings) -> p.Children:
        fields = self.fields
        specs = read_path(fields, "specs", meaning)
        word = meaning.notes.required(fields.node, "specs", "'spawn'")
        planned = _planned_record(specs, word, meaning) if specs and word else None
        inherits = tuple(self._shared_fields("inherit", meaning))
        from_parent = tuple(self._shared_fields("from_parent", meaning))
        if planned is not None and word is not None and self.child.is_known:
            self._check_plan(planned, word, inherits, meaning)
        return p.Children(
            self.child.part,
            specs,
            read_path(fields, "rework", meaning, "Text"),
            self._limit("depth", 2, meaning),
            self._limit("fan_out", 5, meaning),
            self._limit("instances", 25, meaning),
            self._suite(meaning),
            inherits=inherits,
            from_parent=from_parent,
            after=AFTER if planned and _field_type(planned, AFTER) else "",
        )

    def _limit(self, key: str, usual: int, meaning: PathMeanings) -> int:
        found = self.fields.whole(key, usual)
        if found < 1:
            message = f"'{key}' of 'spawn' is {found}, so no child can ever begin"
            fix = "write a number from 1, or remove the block"
            meaning.notes.report("wrong-value", message, self.fields.place(key), fix)
        return found

    def _check_plan(
        self,
        planned: t.Record,
        word: ScalarNode,
        inherits: tuple[str, ...],
        meaning: PathMeanings,
    ) -> None:
        """A planned child must be a spec of the graph that it follows."""
        awaited = _field_type(planned, AFTER)
        if awaited is not None and find_misfit(awaited, _AFTER_TYPE, meaning.types):
            message = f"'{word.text}.{AFTER}' names the siblings to wait for, so it must be [Text]"
            meaning.notes.report("wrong-type", message, word.place, "change its type or its name")
        wanted = _record_of(self.child.spec, meaning)
        wrong = find_record_misfit(planned, wanted, meaning.types, supplied=inherits, extra=[AFTER])
        if wrong:
            message = f"'{word.text}' is not what children are about: {wrong}"
            fix = f"make it fit {t.format_type(self.child.spec)}, or list a field under 'inherit'"
            meaning.notes.report("wrong-type", message, word.place, fix)

    def _shared_fields(self, key: str, meaning: PathMeanings) -> Iterator[str]:
        """Fields that the specs of parent and child both have."""
        own, child = _record_of(meaning.spec, meaning), _record_of(self.child.spec, meaning)
        for word in meaning.notes.words(self.fields.child(key), f"'{key}' of 'spawn'"):
            mine, theirs = _field_type(own, word.text), _field_type(child, word.text)
            known = [each.name for each in own.fields if _field_type(child, each.name)]
            if not (self.child.is_known and meaning.is_spec_known):
                continue
            if mine is None or theirs is None:
                meaning.notes.unknown("the field", word, known, "unknown-path")
            elif wrong := _shared_misfit(key, mine, theirs, meaning):
                message = f"'{word.text}' under '{key}': {wrong}"
                meaning.notes.report("wrong-type", message, word.place)
            else:
                yield word.text

    def _suite(self, meaning: PathMeanings) -> str:
        """A field of the child's spec by name."""
        word = meaning.notes.word(self.fields.child("suite"), "'suite'")
        if word is None or not self.child.is_known:
            return ""
        spec = _record_of(self.child.spec, meaning)
        type_ = _field_type(spec, word.text)
        if type_ is None:
            known = [each.name for each in spec.fields]
            meaning.notes.unknown("the field", word, known, "unknown-path")
        elif wrong := find_misfit(type_, t.Maybe(t.Scalar("FilePath")), meaning.types):
            message = f"'suite' must be a field with a path: '{word.text}' is {wrong}"
            meaning.notes.report("wrong-type", message, word.place)
        return word.text


def _shared_misfit(key: str, mine: t.Type, theirs: t.Type, meaning: PathMeanings) -> str:
    if key == "inherit":
        return find_misfit(mine, theirs, meaning.types)
    solid, _ = t.unwrap_type(theirs, meaning.types)
    return "" if isinstance(solid, t.ListOf) else f"{t.format_type(theirs)} is not a list"


def _planned_record(path: str, word: ScalarNode, meaning: PathMeanings) -> t.Record | None:
    """The record of one planned child; children are told apart by its id."""
    if not meaning.path(word, text=f"{word.text}.id"):
        return None
    many, _ = t.unwrap_type(meaning.type_of(path), meaning.types)
    if not isinstance(many, t.ListOf):
        message = f"'{word.text}' must be a list of records, not {t.format_type(many)}"
        meaning.notes.report("wrong-type", message, word.place)
        return None
    solid, may_be_null = t.unwrap_type(many.of, meaning.types)
    if isinstance(solid, t.Record) and not may_be_null:
        return solid
    message = f"'{word.text}' must be a list of records, not of {t.format_type(many.of)}"
    meaning.notes.report("wrong-type", message, word.place)
    return None


def _record_of(type_: t.Type, meaning: PathMeanings) -> t.Record:
    solid, _ = t.unwrap_type(type_, meaning.types)
    return solid if isinstance(solid, t.Record) else t.Record(())


def _field_type(record: t.Record, name: str) -> t.Type | None:
    return next((field.type for field in record.fields if field.name == name), None)
