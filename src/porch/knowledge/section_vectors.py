"""Vectors of the indexed sections, kept by the hash of their text, made where there is none."""

from __future__ import annotations

import hashlib
import sqlite3

from porch.knowledge.embedding import (
    LEAST_SIMILAR,
    MODEL_NAME,
    ROUGH_MODEL_NAME,
    Embedding,
    NearSection,
)
from porch.knowledge.index import Index
from porch.knowledge.index_file import make_index_trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# So many sections that the rough vectors put nearest are read by the whole network.
_LIKELY = 40


def find_nearest_sections(
    index: Index, worktree: int, directory: str, phrases: list[str]
) -> list[list[NearSection]]:
    """For each phrase the sections that mean the same, nearest first."""
    embedding = Embedding(directory)
    everything = list(index.texts_without_vector(worktree, ROUGH_MODEL_NAME))
    _keep_vectors(index, ROUGH_MODEL_NAME, everything, embedding.rough_vector)
    rough = index.vectors(worktree, ROUGH_MODEL_NAME)
    likely = [
        {near[0] for near in embedding.nearest(embedding.rough_vector(each), rough, _LIKELY, -1)}
        for each in phrases
    ]
    rest = index.texts_without_vector(worktree, MODEL_NAME)
    unread = [(section, text) for section, text in rest if section in set().union(*likely)]
    _keep_vectors(index, MODEL_NAME, unread, embedding.vector)
    exact = index.vectors(worktree, MODEL_NAME)
    return [
        embedding.nearest(
            embedding.vector(phrase),
            [row for row in exact if row[0] in sections],
            _LIKELY,
            LEAST_SIMILAR,
        )
        for phrase, sections in zip(phrases, likely, strict=True)
    ]


def _keep_vectors(
    index: Index, model: str, waiting: list[tuple[int, str]], make: Callable[[str], bytes]
) -> None:
    """What another process is writing meanwhile is looked at the next time."""
    if not waiting:
        return
    rows: list[tuple[int, str, bytes | None]] = []
    for section, text in waiting:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        rows.append((section, digest, None if index.has_vector(digest, model) else make(text)))
    try:
        with index:
            index.keep_vectors(model, rows)
    except sqlite3.OperationalError as error:
        if make_index_trouble(error).kind != "locked":
            raise
