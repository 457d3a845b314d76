"""Words and paths under a key of a graph file, each checked as it is read."""

from collections.abc import Iterator

from porch.dialects.graph.findings import ReadingNotes
from porch.dialects.graph.path_types import PathMeanings
from porch.model import types as t
from porch.text.fields import Fields
from porch.text.nodes import ScalarNode


def read_paths(
    fields: Fields, key: str, meaning: PathMeanings, kind: t.ScalarName | None = None
) -> Iterator[str]:
    """What a key lists, as canonical paths; with a kind, only to values of it."""
    for word in meaning.notes.words(fields.child(key), f"'{key}' of {fields.what}"):
        if found := _resolve_path(word, meaning, kind):
            yield found


def read_path(
    fields: Fields, key: str, meaning: PathMeanings, kind: t.ScalarName | None = None
) -> str:
    word = meaning.notes.word(fields.child(key), f"'{key}' of {fields.what}")
    return _resolve_path(word, meaning, kind) if word else ""


def _resolve_path(word: ScalarNode, meaning: PathMeanings, kind: t.ScalarName | None) -> str:
    found = meaning.path(word)
    return found if found and (kind is None or meaning.is_of(found, kind, word)) else ""


def read_words(
    fields: Fields, key: str, known: tuple[str, ...], notes: ReadingNotes
) -> Iterator[str]:
    """What a key lists, as words out of a few."""
    for word in notes.words(fields.child(key), f"'{key}' of {fields.what}"):
        if word.text in known:
            yield word.text
        else:
            notes.unknown(f"'{key}'", word, known, "unknown-word")
