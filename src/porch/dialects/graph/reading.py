"""Words and paths under a key of a graph file, each checked as it is read."""

from collections.abc import Iterator

from porch.dialects.fields import Fields
from porch.dialects.graph.meaning import Meaning
from porch.dialects.graph.notes import Notes
from porch.dialects.nodes import Scalar
from porch.model import types as t


def paths(
    fields: Fields, key: str, meaning: Meaning, kind: t.ScalarName | None = None
) -> Iterator[str]:
    """What a key lists, as canonical paths; with a kind, only to values of it."""
    for word in meaning.notes.words(fields.child(key), f"'{key}' of {fields.what}"):
        if found := _path(word, meaning, kind):
            yield found


def path(fields: Fields, key: str, meaning: Meaning, kind: t.ScalarName | None = None) -> str:
    word = meaning.notes.word(fields.child(key), f"'{key}' of {fields.what}")
    return _path(word, meaning, kind) if word else ""


def _path(word: Scalar, meaning: Meaning, kind: t.ScalarName | None) -> str:
    found = meaning.path(word)
    return found if found and (kind is None or meaning.is_of(found, kind, word)) else ""


def listed(fields: Fields, key: str, known: tuple[str, ...], notes: Notes) -> Iterator[str]:
    """What a key lists, as words out of a few."""
    for word in notes.words(fields.child(key), f"'{key}' of {fields.what}"):
        if word.text in known:
            yield word.text
        else:
            notes.unknown(f"'{key}'", word, known, "unknown-word")
