"""Why the work of a run is not committed, or not merged: one line beside its journal, for readers.

Nothing is decided from it: the next commit takes along whatever lies there, and `porch finish`
looks for itself.
"""

from __future__ import annotations

import os

_FILE = "not-committed"
_UNMERGED = "not-merged"


def note_uncommitted_work(directory: str, why: str) -> None:
    """What the last try came to; an empty text says that everything is committed."""
    _write_line(os.path.join(directory, _FILE), why)


def note_unmerged_work(directory: str, why: str) -> None:
    """Why porch did not merge the work when the run was complete; an empty text if it did."""
    _write_line(os.path.join(directory, _UNMERGED), why)


def _write_line(path: str, why: str) -> None:
    if why:
        from porch.system import atomic  # whoever shows a run writes nothing

        atomic.replace_file(path, f"{why}\n".encode("utf-8", "surrogateescape"), sync=False)
    elif os.path.lexists(path):
        os.unlink(path)


def read_uncommitted_work(directory: str) -> str:
    """Why the work is not committed; empty if it is."""
    return _read_line(os.path.join(directory, _FILE))


def read_unmerged_work(directory: str) -> str:
    """Why porch could not merge it; only of a run that nobody has finished since."""
    return _read_line(os.path.join(directory, _UNMERGED))


def _read_line(path: str) -> str:
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return " ".join(file.read().split())
