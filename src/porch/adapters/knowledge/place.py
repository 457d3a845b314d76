"""Where the index lies, and what to do when it cannot be used: it is a cache, so never for long."""

from __future__ import annotations

import os
import sqlite3

from porch.adapters.knowledge.index import Index

NAME = "knowledge.sqlite3"
MEMORY = ":memory:"
# What SQLite's own numbers mean to us; the low byte names the family.
_CORRUPT = {1, 11, 26}
_UNWRITABLE = {3, 8, 10, 13, 14, 23}
_LOCKED = {5, 6}


class Trouble(Exception):
    """The index cannot be used as it is: `damaged`, `unwritable` or `locked`."""

    def __init__(self, kind: str, words: str):
        super().__init__(words)
        self.kind = kind


def trouble(error: sqlite3.Error) -> Trouble:
    """What an error of SQLite means for an index that may be thrown away."""
    family = getattr(error, "sqlite_errorcode", 1) & 0xFF
    words = str(error)
    if family in _LOCKED:
        return Trouble("locked", words)
    return Trouble("unwritable" if family in _UNWRITABLE else "damaged", words)


def make_place(directory: str) -> str:
    """Where the index lies, with directories that only this user may enter."""
    if not os.path.isdir(directory):
        # Outside of a repository there may be no `codev` yet; that one is for everybody.
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        os.mkdir(directory, 0o700)
    return os.path.join(directory, NAME)


def remove(path: str) -> None:
    """Throw a damaged index away, unless somebody has made a good one in the meantime."""
    import fcntl

    with open(f"{path}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_sound(path):
            for name in (path, f"{path}-wal", f"{path}-shm"):
                if os.path.lexists(name):
                    os.unlink(name)


def _is_sound(path: str) -> bool:
    if not os.path.exists(path):
        return True
    try:
        index = Index.open(path)
    except (sqlite3.Error, OSError):
        return False
    try:
        return index.is_sound()
    except sqlite3.Error:
        return False
    finally:
        index.close()
