"""Where the index lies, and what to do when it cannot be used: it is a cache, so never for long."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

INDEX_FILE_NAME = "knowledge.sqlite3"
MEMORY_PATH = ":memory:"
# What SQLite's own numbers mean to us; the low byte names the family.
_UNWRITABLE_CODES = {3, 8, 10, 13, 14, 23}
_LOCKED_CODES = {5, 6}


class IndexTrouble(Exception):
    """The index cannot be used as it is: `damaged`, `unwritable` or `locked`."""

    def __init__(self, kind: str, words: str):
        super().__init__(words)
        self.kind = kind


def make_index_trouble(error: sqlite3.Error) -> IndexTrouble:
    """What an error of SQLite means for an index that may be thrown away."""
    family = getattr(error, "sqlite_errorcode", 1) & 0xFF
    words = str(error)
    if family in _LOCKED_CODES:
        return IndexTrouble("locked", words)
    return IndexTrouble("unwritable" if family in _UNWRITABLE_CODES else "damaged", words)


def ensure_index_directory(directory: str) -> str:
    """Where the index lies, with directories that only this user may enter."""
    if not os.path.isdir(directory):
        # Outside of a repository there may be no `codev` yet; that one is for everybody.
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        os.mkdir(directory, 0o700)
    return os.path.join(directory, INDEX_FILE_NAME)


def remove_index(path: str) -> None:
    """Throw a damaged index away; whoever still has it open goes on with what nobody else sees.

    The file itself goes last: a new one beside an old log would drop that log as not its own.
    """
    for name in (f"{path}-wal", f"{path}-shm", path):
        if os.path.lexists(name):
            os.unlink(name)
