"""Vectors of the indexed sections, kept by the hash of their text, made where there is none."""

from __future__ import annotations

import hashlib
import sqlite3

from porch.adapters.knowledge.index import Index
from porch.adapters.knowledge.place import trouble
from porch.adapters.knowledge.semantic import MODEL, Embedding

Near = list[tuple[int, int, float]]


def nearest(
    index: Index, worktree: int, directory: str, phrases: list[str], most: int
) -> list[Near]:
    """For each phrase the sections that mean the same, nearest first."""
    embedding = Embedding(directory)
    _complete(index, worktree, embedding)
    rows = index.vectors(worktree, MODEL)
    return [embedding.nearest(embedding.vector(phrase), rows, most) for phrase in phrases]


def _complete(index: Index, worktree: int, embedding: Embedding) -> None:
    """What another process is writing meanwhile is looked at the next time."""
    waiting = list(index.texts_without_vector(worktree, MODEL))
    if not waiting:
        return
    made = [_made(index, embedding, section, text) for section, text in waiting]
    try:
        with index:
            index.keep_vectors(MODEL, made)
    except sqlite3.OperationalError as error:
        if trouble(error).kind != "locked":
            raise


def _made(
    index: Index, embedding: Embedding, section: int, text: str
) -> tuple[int, str, bytes | None]:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    known = index.has_vector(digest, MODEL)
    return section, digest, None if known else embedding.vector(text)
