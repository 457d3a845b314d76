"""The types of typed exits: the few words a graph file writes, as values to compute with."""

import re
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never, get_args

ScalarName = Literal["Text", "Int", "Bool", "FilePath", "Commit", "Blob"]
SCALARS: Mapping[str, ScalarName] = {name: name for name in get_args(ScalarName)}
# Deeper than anybody can read, and far from where a recursive reader would fall over.
NESTING_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value without parts; Blob is text that is expected to be long."""

    name: ScalarName


@dataclass(frozen=True, slots=True)
class Enum:
    """One of a few words."""

    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """Any number of one type."""

    of: "Type"


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value or null; the field itself is always there."""

    of: "Type"


@dataclass(frozen=True, slots=True)
class Tuple_:  # noqa: N801 - `Tuple` would read as the one of typing
    """A fixed number of values, each with its own type."""

    parts: "tuple[Type, ...]"


@dataclass(frozen=True, slots=True)
class Ref:
    """A type that the file declares by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Field:
    """One named value of a record."""

    name: str
    type: "Type"


@dataclass(frozen=True, slots=True)
class Record:
    """Named values, all of them required; without any it says no more than that it came."""

    fields: tuple[Field, ...] = ()


Solid = Scalar | Enum | ListOf | Tuple_ | Record | Ref
Type = Scalar | Enum | ListOf | Maybe | Tuple_ | Ref | Record
Types = Mapping[str, Type]
# For a codec that shall carry types.
CLASSES = (Scalar, Enum, ListOf, Maybe, Tuple_, Ref, Field, Record)


class TypeSyntax(Exception):
    """A type expression that cannot be read; the column counts from 0 in the text."""

    def __init__(self, message: str, column: int):
        super().__init__(message)
        self.message = message
        self.column = column


def parse(text: str) -> Type:
    """The type that an expression such as `Maybe [ChildSpec]` or `[(Text, Text)]` means."""
    reader = _Reader(text)
    type_ = reader.whole()
    reader.end()
    return type_


def is_name(text: str) -> bool:
    """Whether a type can be declared under this name and meant by it."""
    return bool(_NAME.fullmatch(text)) and text != "Maybe" and text not in SCALARS


def printed(type_: Type) -> str:
    """What `parse` reads back; a record, which it never meets, is printed in braces."""
    match type_:
        case Scalar(name) | Ref(name):
            return name
        case Enum(options):
            return " | ".join(options)
        case ListOf(of):
            return f"[{printed(of)}]"
        case Maybe(of):
            inner = printed(of)
            return f"Maybe ({inner})" if isinstance(of, Enum | Maybe) else f"Maybe {inner}"
        case Tuple_(parts):
            return f"({', '.join(map(printed, parts))})"
        case Record(fields):
            return "{" + ", ".join(f"{f.name}: {printed(f.type)}" for f in fields) + "}"
        case _:
            assert_never(type_)


def unknown(type_: Type, names: Container[str]) -> list[str]:
    """The names this type refers to and nobody declares, in the order written, each once."""
    return [name for name in dict.fromkeys(references(type_)) if name not in names]


def references(type_: Type) -> Iterator[str]:
    """Every name written in a type, in order."""
    return _references(type_, stop=())


def resolve(type_: Type, types: Types) -> Type:
    """One step from a name to what it stands for; an unknown name stays as it is."""
    return types.get(type_.name, type_) if isinstance(type_, Ref) else type_


def bare(type_: Type, types: Types) -> tuple[Solid, bool]:
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


def without(record: Record, names: Collection[str]) -> Record:
    """The record that is left when some fields are somebody else's to fill."""
    return Record(tuple(f for f in record.fields if f.name not in names))


def circular(types: Types) -> tuple[str, ...]:
    """The names that contain themselves in any way."""
    return _circles({name: set(references(type_)) for name, type_ in types.items()})


def endless(types: Types) -> tuple[str, ...]:
    """The names that contain themselves and can never be finished: no list or Maybe cuts in.

    A bare alias of itself is endless even through Maybe, because it says nothing but null.
    """
    return _circles({name: _musts(type_) for name, type_ in types.items()})


def weight(type_: Type, names: Mapping[str, int]) -> int:
    """How many parts a type has when every name in it counts as told."""
    if isinstance(type_, Ref):
        return names[type_.name]
    return 1 + sum(weight(part, names) for part in _parts(type_))


def _musts(type_: Type) -> set[str]:
    while isinstance(type_, Maybe):
        type_ = type_.of
        if isinstance(type_, Ref):
            return {type_.name}
    return set(_references(type_, stop=(ListOf, Maybe)))


def _references(type_: Type, stop: tuple[type[Type], ...]) -> Iterator[str]:
    if isinstance(type_, Ref):
        yield type_.name
    elif not isinstance(type_, stop):
        for part in _parts(type_):
            yield from _references(part, stop)


def _parts(type_: Type) -> tuple[Type, ...]:
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


def _circles(ways: Mapping[str, set[str]]) -> tuple[str, ...]:
    return tuple(name for name in ways if name in _reached(name, ways))


def _reached(start: str, ways: Mapping[str, set[str]]) -> set[str]:
    reached, ahead = set[str](), [start]
    while ahead:
        fresh = ways.get(ahead.pop(), set()) - reached
        reached |= fresh
        ahead.extend(fresh)
    return reached


_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*")
_TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z0-9_]*|[\[\](),|])|(\S))")


class _Reader:
    """Reads one expression from left to right; a token is its text and its column."""

    def __init__(self, text: str):
        self._tokens = list(_tokens(text))
        self._end = len(text.rstrip())
        self._at = 0

    def whole(self) -> Type:
        """A type that stands alone or in brackets; only there an enum has clear ends."""
        column = self._column()
        first = self._simple()
        if self._next() != "|":
            return first
        options = [_option(first, column)]
        while self._next() == "|":
            self._take()
            column = self._column()
            option = _option(self._simple(), column)
            if option in options:
                raise TypeSyntax(f"the enum names '{option}' twice", column)
            options.append(option)
        return Enum(tuple(options))

    def end(self) -> None:
        if self._next():
            message = f"'{self._next()}' follows a type that is already complete"
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
        return _named(word, column)

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
            raise TypeSyntax("Maybe of a Maybe: null could not say which of the two", column)
        if self._next() == "|":
            raise TypeSyntax("an enum behind Maybe needs brackets: Maybe (A | B)", self._column())
        return Maybe(of)

    def _close(self, closing: str, opened: int) -> None:
        if self._next() != closing:
            found = f"'{self._next()}' stands there" if self._next() else "the text ends"
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


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    depth = 0
    for found in _TOKEN.finditer(text):
        token, stranger = found.groups()
        if stranger:
            message = f"unexpected '{stranger}': a type is made of names, [ ], ( , ), | and Maybe"
            raise TypeSyntax(message, found.start(2))
        depth += (token in ("[", "(")) - (token in ("]", ")"))
        if depth > NESTING_LIMIT:
            message = f"more than {NESTING_LIMIT} brackets inside each other; declare a type"
            raise TypeSyntax(message, found.start(1))
        yield token, found.start(1)


def _named(token: str, column: int) -> Type:
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
    raise TypeSyntax(f"'{token}' begins with a small letter, types with a capital{hint}", column)


def _option(type_: Type, column: int) -> str:
    if isinstance(type_, Ref):
        return type_.name
    message = f"'{printed(type_)}' cannot be an option: | joins the words of an enum, not types"
    raise TypeSyntax(message, column)
