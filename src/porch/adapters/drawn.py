"""A picture that somebody drew of a journal, if it is one and still covers all of it."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PARTS = ("decisions", "positions", "row", "status", "text")
_END = b'"}\n'


def covering(directory: str) -> dict[str, Any] | None:
    """The picture in a run's directory; None where the journal has to be read instead."""
    try:
        with open(os.path.join(directory, "picture.json"), encoding="utf-8") as file:
            picture = json.load(file)
        if not isinstance(picture, dict) or any(part not in picture for part in _PARTS):
            return None
        journal = os.path.join(directory, "journal.jsonl")
        is_whole = _ends(journal, picture["length"], picture["sum"].encode() + _END)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return picture if is_whole else None


def _ends(path: str, length: int, seam: bytes) -> bool:
    """Whether the file has this length and this end: the sum stands in the last record."""
    with open(path, "rb", buffering=0) as file:
        if os.fstat(file.fileno()).st_size != length:
            return False
        file.seek(length - len(seam))
        return file.read(len(seam)) == seam
