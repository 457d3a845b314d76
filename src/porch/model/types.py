"""The types of typed exits: the few words a graph file writes, as values to compute with."""

from collections.abc import Collection, Container, Iterator, Mapping
from typing import Literal, assert_never, get_args

from porch.model.tagged import Tagged
from porch.text.late_pattern import late_pattern

ScalarName = Literal["Text", "Int", "Bool", "FilePath", "Commit", "Blob"]
SCALARS: Mapping[str, ScalarName] = {name: name for name in get_args(ScalarName)}
# Deeper than anybody can read, and far from where a recursive reader would fall over.
NESTING_LIMIT = 20


class Scalar(Tagged, frozen=True, tag="Scalar"):
    """A value without parts; Blob is text that is expected to be long."""

    name: ScalarName


class Enum(Tagged, frozen=True, tag="Enum"):
    """One of a few words."""

    options: tuple[str, ...]


class ListOf(Tagged, frozen=True, tag="ListOf"):
    """Any number of one type."""

    of: "Type"


class Maybe(Tagged, frozen=True, tag="Maybe"):
    """A value or null; the field itself is always there."""

    of: "Type"


class Tuple_(Tagged, frozen=True, tag="Tuple_"):  # noqa: N801 - `Tuple` would read as the one of typing
    """A fixed number of values, each with its own type."""

    parts: "tuple[Type, ...]"


class Ref(Tagged, frozen=True, tag="Ref"):
    """A type that the file declares by name."""

    name: str


class Field(Tagged, frozen=True, tag="Field"):
    """One named value of a record."""

    name: str
    type: "Type"


class Record(Tagged, frozen=True, tag="Record"):
    """Named values, all of them required; without any it says no more than that it came."""

    fields: tuple[Field, ...] = ()


Solid = Scalar | Enum | ListOf | Tuple_ | Record | Ref
Type = Scalar | Enum | ListOf | Maybe | Tuple_ | Ref | Record
Types = Mapping[str, Type]
# For whoever keeps types on disk.
CLASSES = (Scalar, Enum, ListOf, Maybe, Tuple_, Ref, Field, Record)


class TypeSyntax(Exception):
    """A type expression that cannot be read; the column counts from 0 in the text."""

    def __init__(self, message: str, column: int):
        super().__init__(message)
        self.message = message
        self.column = column


def parse_type(text: str) -> Type:
    """The type that an expression such as `Maybe [ChildSpec]` or `[(Text, Text)]` means."""
    reader = _TypeParser(text)
    type_ = reader.whole()
    reader.end()
    return type_


def is_type_name(text: str) -> bool:
    """Whether a type can be declared under this name and meant by it."""
    return bool(_NAME.fullmatch(text)) and text != "Maybe" and text not in SCALARS


def format_type(type_: Type) -> str:
    """What `parse` reads back; a record, which it never meets, is printed in braces."""
    match type_:
        case Scalar(name) | Ref(name):
            return name
        case Enum(options):
            return " | ".join(options)
        case ListOf(of):
            return f"[{format_type(of)}]"
        case Maybe(of):
            inner = format_type(of)
            return f"Maybe ({inner})" if isinstance(of, Enum | Maybe) else f"Maybe {inner}"
        case Tuple_(parts):
            return f"({', '.join(map(format_type, parts))})"
        case Record(fields):
            return "{" + ", ".join(f"{f.name}: {format_type(f.type)}" for f in fields) + "}"
        case _:
            assert_never(type_)


def find_unknown_names(type_: Type, names: Container[str]) -> list[str]:
    """The names this type refers to and nobody declares, in the order written, each once."""
    return [name for name in dict.fromkeys(list_references(type_)) if name not in names]


def list_references(type_: Type) -> Iterator[str]:
    """Every name written in a type, in order."""
    return _walk_references(type_, stop=())


def resolve_reference(type_: Type, types: Types) -> Type:
    """One step from a name to what it stands for; an unknown name stays as it is."""
    return types.get(type_.name, type_) if isinstance(type_, Ref) else type_


def unwrap_type(type_: Type, types: Types) -> tuple[Solid, bool]:
    """The type without names and Maybes around it, and whether null is allowed.

    What comes back is a Ref only for a name that is unknown or leads back to itself.
    """
    is_nullable, seen = False, set[str]()
    while True:
        match type_:
            case Maybe(of):
                is_nullable, type_ = True, of
            case Ref(name) if name in types and name not in seen:
                seen.add(name)
                type_ = types[name]
            case _:
                return type_, is_nullable


def remove_fields(record: Record, names: Collection[str]) -> Record:
    """The record that is left when some fields are somebody else's to fill."""
    return Record(tuple(f for f in record.fields if f.name not in names))


def find_circular_names(types: Types) -> tuple[str, ...]:
    """The names that contain themselves in any way."""
    return _names_in_circles({name: set(list_references(type_)) for name, type_ in types.items()})


def find_endless_names(types: Types) -> tuple[str, ...]:
    """The names that contain themselves and can never be finished: no list or Maybe cuts in.

    A bare alias of itself is endless even through Maybe, because it says nothing but null.
    """
    return _names_in_circles({name: _required_names(type_) for name, type_ in types.items()})


def count_type_parts(type_: Type, names: Mapping[str, int]) -> int:
    """How many parts a type has when every name in it counts as told."""
    if isinstance(type_, Ref):
        return names[type_.name]
    return 1 + sum(count_type_parts(part, names) for part in _part_types(type_))


def _required_names(type_: Type) -> set[str]:
    while isinstance(type_, Maybe):
        type_ = type_.of
        if isinstance(type_, Ref):
            return {type_.name}
    return set(_walk_references(type_, stop=(ListOf, Maybe)))


def _walk_references(type_: Type, stop: tuple[type[Type], ...]) -> Iterator[str]:
    if isinstance(type_, Ref):
        yield type_.name
    elif not isinstance(type_, stop):
        for part in _part_types(type_):
            yield from _walk_references(part, stop)


def _part_types(type_: Type) -> tuple[Type, ...]:
    match type_:
        case ListOf(of) | Maybe(of):
            return (of,)
        case Tuple_(parts):
            return parts
        case Record(fields):
            return tuple(field.type for field in fields)
        case Scalar() | Enum() | Ref():
            return ()
        case _:
            assert_never(type_)


def _names_in_circles(ways: Mapping[str, set[str]]) -> tuple[str, ...]:
    return tuple(name for name in ways if name in _reachable_names(name, ways))


def _reachable_names(start: str, ways: Mapping[str, set[str]]) -> set[str]:
    reached, ahead = set[str](), [start]
    while ahead:
        fresh = ways.get(ahead.pop(), set()) - reached
        reached |= fresh
        ahead.extend(fresh)
    return reached


_NAME = late_pattern(r"[A-Z][A-Za-z0-9_]*")
_TOKEN = late_pattern(r"\s*(?:([A-Za-z_][A-Za-z0-9_]*|[\[\](),|])|(\S))")


class _TypeParser:
    """Reads one expression from left to right; a token is its text and its column."""

    def __init__(self, text: str):
        self._tokens = list(_split_tokens(text))
        self._end = len(text.rstrip())
        self._at = 0

    def whole(self) -> Type:
        """A type that stands alone or in brackets; only there an enum has clear ends."""
        column = self._column()
        first = self._simple()
        if self._next() != "|":
            return first
        options = [_require_option(first, column)]
        while self._next() == "|":
            self._take()
            column = self._column()
            option = _require_option(self._simple(), column)
            if option in options:
                raise TypeSyntax(f"the enum names '{option}' twice", column)
            options.append(option)
        return Enum(tuple(options))

    def end(self) -> None:
        if self._next():
            message = f"unexpected '{self._next()}' after a complete type"
            raise TypeSyntax(message, self._column())

    def _simple(self) -> Type:
        column = self._column()
        word = self._take()
        if word == "[":
            of = self.whole()
            self._close("]", column)
            return ListOf(of)
        if word == "(":
            return self._bracketed(column)
        if word == "Maybe":
            return self._maybe(column)
        return _parse_named(word, column)

    def _bracketed(self, column: int) -> Type:
        parts = [self.whole()]
        while self._next() == ",":
            self._take()
            parts.append(self.whole())
        self._close(")", column)
        return parts[0] if len(parts) == 1 else Tuple_(tuple(parts))

    def _maybe(self, column: int) -> Maybe:
        of = None if self._next() == "Maybe" else self._simple()
        if of is None or isinstance(of, Maybe):
            raise TypeSyntax(
                "Maybe of a Maybe is not allowed: null would have two meanings", column
            )
        if self._next() == "|":
            raise TypeSyntax("an enum behind Maybe needs brackets: Maybe (A | B)", self._column())
        return Maybe(of)

    def _close(self, closing: str, opened: int) -> None:
        if self._next() != closing:
            found = f"found '{self._next()}'" if self._next() else "the text ends"
            message = f"expected '{closing}' for the bracket at column {opened}, but {found}"
            raise TypeSyntax(message, self._column())
        self._take()

    def _next(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _column(self) -> int:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else self._end

    def _take(self) -> str:
        token = self._next()
        self._at += 1
        return token


def _split_tokens(text: str) -> Iterator[tuple[str, int]]:
    depth = 0
    for found in _TOKEN.finditer(text):
        token, stranger = found.groups()
        if stranger:
            message = f"unexpected '{stranger}': a type has only names, [ ], ( , ), | and Maybe"
            raise TypeSyntax(message, found.start(2))
        depth += (token in ("[", "(")) - (token in ("]", ")"))
        if depth > NESTING_LIMIT:
            message = f"more than {NESTING_LIMIT} nested brackets; declare a type with a name"
            raise TypeSyntax(message, found.start(1))
        yield token, found.start(1)


def _parse_named(token: str, column: int) -> Type:
    if token in SCALARS:
        return Scalar(SCALARS[token])
    if _NAME.fullmatch(token):
        return Ref(token)
    if not token:
        raise TypeSyntax("a type is missing at the end", column)
    if not token[0].isalpha():
        raise TypeSyntax(f"expected a type before '{token}'", column)
    meant = next((name for name in (*SCALARS, "Maybe") if name.lower() == token.lower()), "")
    hint = f"; did you mean '{meant}'?" if meant else ""
    raise TypeSyntax(
        f"'{token}' starts with a small letter; a type starts with a capital{hint}", column
    )


def _require_option(type_: Type, column: int) -> str:
    if isinstance(type_, Ref):
        return type_.name
    message = f"'{format_type(type_)}' cannot be an option of an enum: | joins words, not types"
    raise TypeSyntax(message, column)
