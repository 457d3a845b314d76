"""JSON Schemas of typed exits: one declaration, three forms, because agents' tools differ."""

from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter
from typing import Any, assert_never

from porch.model import types as t

Json = dict[str, Any]
Exits = Mapping[str, t.Record]
LeaveOut = Mapping[str, Collection[str]]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
COMMIT_PATTERN = "^[0-9a-f]{7,64}$"
# Names are written out where they are used, which tools read best, up to this many parts each;
# without an end a few dozen lines of types could ask for a schema larger than memory.
INLINE_LIMIT = 50
_NOTHING: LeaveOut = {}
_NULL: Json = {"type": "null"}
_SCALARS: Mapping[t.ScalarName, Json] = {
    "Text": {"type": "string"},
    "Int": {"type": "integer"},
    "Bool": {"type": "boolean"},
    "FilePath": {
        "type": "string",
        "description": "a path from the top of the repository, with forward slashes",
    },
    "Commit": {
        "type": "string",
        "description": "a git commit hash in hexadecimal",
        "pattern": COMMIT_PATTERN,
    },
    "Blob": {"type": "string", "description": "text of any length"},
}


def record_schema(record: t.Record, types: t.Types, leave_out: Collection[str] = ()) -> Json:
    """The schema of one payload; all types it names must be declared."""
    writer = _SchemaWriter(types)
    return writer.finished(writer.record(t.remove_fields(record, leave_out)))


def union_schema(exits: Exits, types: t.Types, leave_out: LeaveOut = _NOTHING) -> Json:
    """The canonical form: exactly one of `{exit, payload}`, told apart by the exit's name."""
    writer = _SchemaWriter(types)
    forms = [
        _object_schema({"exit": {"const": name}, "payload": writer.record(record)})
        for name, record in _requested_records(exits, leave_out).items()
    ]
    return writer.finished({"$schema": DRAFT, "oneOf": forms})


def schemas_per_exit(
    exits: Exits, types: t.Types, leave_out: LeaveOut = _NOTHING
) -> dict[str, Json]:
    """A flat object per exit, for tools that refuse a union at the top: one tool for each."""
    asked = _requested_records(exits, leave_out)
    return {name: record_schema(record, types) for name, record in asked.items()}


def flat_schema(exits: Exits, types: t.Types, leave_out: LeaveOut = _NOTHING) -> Json:
    """One flat object for all exits, for CLIs that return one schema; `from_flat` reads it."""
    writer = _SchemaWriter(types)
    forms: dict[str, list[t.Type]] = {}
    for record in _requested_records(exits, leave_out).values():
        for field in record.fields:
            kinds = forms.setdefault(field.name, [])
            if field.type not in kinds:
                kinds.append(field.type)
    properties = {name: writer.nullable(kinds) for name, kinds in forms.items()}
    choice = {discriminator_name(exits): {"type": "string", "enum": list(exits)}}
    return writer.finished(_object_schema(choice | properties))


def parse_flat_answer(answer: object, exits: Exits) -> tuple[str, Any]:
    """The exit and payload of a flat answer; an exit that is not said is the empty text.

    Nulls that belong to other exits are dropped. Anything else stays where it is, so that it is
    complained about by name and not lost.
    """
    if not isinstance(answer, Mapping):
        return "", answer
    key = discriminator_name(exits)
    said = answer.get(key)
    name = said.strip() if isinstance(said, str) else ""
    own = {field.name for field in exits[name].fields} if name in exits else set[str]()
    payload = {
        field: value
        for field, value in answer.items()
        if field != key and (field in own or value is not None)
    }
    return name, payload


def discriminator_name(exits: Exits) -> str:
    """The property of the flat form that names the exit; it gives way to a field of that name."""
    taken = {field.name for record in exits.values() for field in record.fields}
    key = "exit"
    while key in taken:
        key += "_"
    return key


def _requested_records(exits: Exits, leave_out: LeaveOut) -> dict[str, t.Record]:
    return {
        name: t.remove_fields(record, leave_out.get(name, ())) for name, record in exits.items()
    }


def _object_schema(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class _SchemaWriter:
    """Writes schemas that share their definitions, and remembers which were wanted."""

    def __init__(self, types: t.Types):
        self._types = types
        self._apart = _names_kept_apart(types)
        self._wanted: dict[str, None] = {}

    def finished(self, schema: Json) -> Json:
        """The schema with the definitions it needs; writing one may ask for more."""
        written: Json = {}
        while missing := [name for name in self._wanted if name not in written]:
            written |= {name: self.any(self._types[name]) for name in missing}
        return schema | {"$defs": written} if written else schema

    def record(self, record: t.Record) -> Json:
        return _object_schema({field.name: self.any(field.type) for field in record.fields})

    def nullable(self, kinds: list[t.Type]) -> Json:
        """Any of these types, or null."""
        schemas = [self.any(kind.of if isinstance(kind, t.Maybe) else kind) for kind in kinds]
        distinct = [schema for at, schema in enumerate(schemas) if schema not in schemas[:at]]
        return {"anyOf": [*distinct, _NULL]}

    def any(self, type_: t.Type) -> Json:
        match type_:
            case t.Scalar(name):
                return dict(_SCALARS[name])
            case t.Enum(options):
                return {"type": "string", "enum": list(options)}
            case t.ListOf(of):
                return {"type": "array", "items": self.any(of)}
            case t.Maybe(of):
                return self.nullable([of])
            case t.Tuple_(parts):
                return self._tuple(parts)
            case t.Ref(name):
                return self._ref(name)
            case t.Record():
                return self.record(type_)
            case _:
                assert_never(type_)

    def _tuple(self, parts: tuple[t.Type, ...]) -> Json:
        return {
            "type": "array",
            "prefixItems": [self.any(part) for part in parts],
            "items": False,
            "minItems": len(parts),
        }

    def _ref(self, name: str) -> Json:
        if name not in self._apart:
            return self.any(self._types[name])
        self._wanted[name] = None
        return {"$ref": f"#/$defs/{name}"}


def _names_kept_apart(types: t.Types) -> set[str]:
    """The names that get a definition: what contains itself, and what is too heavy to repeat."""
    apart = set(t.find_circular_names(types))
    rest = {
        name: set(t.list_references(types[name])) - apart for name in types if name not in apart
    }
    weights: dict[str, int] = dict.fromkeys(apart, 1)
    for name in TopologicalSorter(rest).static_order():
        weight = t.count_type_parts(types[name], weights)
        if weight > INLINE_LIMIT:
            apart.add(name)
        weights[name] = 1 if name in apart else weight
    return apart
