"""Why the work of a run is not in a commit yet: one line beside its journal, for readers.

Nothing is decided from it: the next commit takes along whatever lies there.
"""

from __future__ import annotations

import os

_FILE = "not-committed"


def note_uncommitted_work(directory: str, why: str) -> None:
    """What the last try came to; an empty text says that everything is committed."""
    path = os.path.join(directory, _FILE)
    if why:
        from porch.system import atomic  # whoever shows a run writes nothing

        atomic.replace_file(path, f"{why}\n".encode("utf-8", "surrogateescape"), sync=False)
    elif os.path.lexists(path):
        os.unlink(path)


def read_uncommitted_work(directory: str) -> str:
    """Why the work is not committed; empty if it is."""
    path = os.path.join(directory, _FILE)
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return " ".join(file.read().split())
