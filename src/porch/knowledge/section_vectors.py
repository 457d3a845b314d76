"""Vectors of the indexed sections, kept by the hash of their text, made where there is none."""

from __future__ import annotations

import hashlib
import sqlite3

from porch.knowledge.embedding import MODEL_NAME, Embedding
from porch.knowledge.index import Index
from porch.knowledge.index_file import make_index_trouble

NearSections = list[tuple[int, int, float]]


def find_nearest_sections(
    index: Index, worktree: int, directory: str, *, phrases: list[str], most: int
) -> list[NearSections]:
    """For each phrase the sections that mean the same, nearest first."""
    embedding = Embedding(directory)
    _add_missing_vectors(index, worktree, embedding)
    rows = index.vectors(worktree, MODEL_NAME)
    return [embedding.nearest(embedding.vector(phrase), rows, most) for phrase in phrases]


def _add_missing_vectors(index: Index, worktree: int, embedding: Embedding) -> None:
    """What another process is writing meanwhile is looked at the next time."""
    waiting = list(index.texts_without_vector(worktree, MODEL_NAME))
    if not waiting:
        return
    made = [_make_vector_row(index, embedding, section, text) for section, text in waiting]
    try:
        with index:
            index.keep_vectors(MODEL_NAME, made)
    except sqlite3.OperationalError as error:
        if make_index_trouble(error).kind != "locked":
            raise


def _make_vector_row(
    index: Index, embedding: Embedding, section: int, text: str
) -> tuple[int, str, bytes | None]:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    known = index.has_vector(digest, MODEL_NAME)
    return section, digest, None if known else embedding.vector(text)
