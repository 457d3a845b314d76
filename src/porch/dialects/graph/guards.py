"""Guards of edges: a path that is filled or empty, equals a literal, or lies within others."""

from collections.abc import Iterator, Mapping

from porch.dialects.fields import Fields
from porch.dialects.graph.meaning import Meaning
from porch.dialects.nodes import Scalar
from porch.model import protocol as p
from porch.model import types as t


def read_guards(fields: Fields, near: Mapping[str, str], meaning: Meaning) -> Iterator[p.Guard]:
    """`when` and `unless`; an edge may have both."""
    when = meaning.notes.word(fields.child("when"), "'when'")
    unless = meaning.notes.word(fields.child("unless"), "'unless'")
    if when is not None:
        yield from _when(when, near, meaning)
    if unless is not None:
        path = meaning.path(unless, near)
        yield from [p.Guard(path, "empty")] if path else []


def _when(word: Scalar, near: Mapping[str, str], meaning: Meaning) -> Iterator[p.Guard]:
    left, sign, right = _split(word.text)
    path = meaning.path(word, near, left)
    if not path:
        return
    match sign:
        case "==":
            if _is_comparable(path, right, word, meaning):
                yield p.Guard(path, "equals", right)
        case "within":
            places = [meaning.path(word, near, each) for each in right.split()]
            yield p.Guard(path, "within", " ".join(places))
        case _:
            yield p.Guard(path, "filled")


def _split(text: str) -> tuple[str, str, str]:
    for sign in (" == ", " within "):
        left, found, right = text.partition(sign)
        if found:
            return left.strip(), found.strip(), right.strip()
    return text.strip(), "", ""


def _is_comparable(path: str, literal: str, word: Scalar, meaning: Meaning) -> bool:
    """Whether the literal is one of the values that can stand there."""
    solid, _ = t.bare(meaning.type_of(path), meaning.types)
    problem = ""
    match solid:
        case t.Enum(options) if literal not in options:
            problem = f"'{literal}' is none of {', '.join(options)}"
        case t.Scalar("Int") if not literal.removeprefix("-").isdigit():
            problem = f"'{literal}' is not a whole number"
        case t.Scalar("Bool") | t.ListOf() | t.Tuple_() | t.Record() | t.Ref():
            problem = "only a text, a number or a word of an enum can be compared"
        case _:
            return True
    meaning.notes.report("wrong-value", f"'{word.text}': {problem}", word.place)
    return False
