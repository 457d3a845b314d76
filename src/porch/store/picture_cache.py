"""A picture that somebody drew of a journal, if it is one and still covers all of it."""

from __future__ import annotations

import os

from porch.show.board import PICTURE_VERSION
from porch.store.run_rows import has_old_stamps
from porch.store.view_files import check_sealed
from porch.system.regular_file import open_regular
from porch.text.quick_json import parse_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

    from porch.show.shapes import PictureShape, PlaceNames

_PARTS = ("decisions", "positions", "row", "status", "text")
_END = b'"}\n'


def read_current_picture(directory: str) -> PictureShape | None:
    """The picture in a run's directory; None where the journal has to be read instead."""
    try:
        picture: PictureShape = parse_value(check_sealed(_read_file(directory)).decode())
        if type(picture) is not dict or any(part not in picture for part in _PARTS):
            return None
        if picture["v"] != PICTURE_VERSION or has_old_stamps(picture):
            return None
        journal = os.path.join(directory, "journal.jsonl")
        is_whole = _ends_with(journal, picture["length"], picture["sum"].encode() + _END)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return picture if is_whole else None


def kept_names(directory: str) -> PlaceNames:
    """What places are called, as far as it was known when the picture was drawn.

    An earlier release drew it without a checksum, and may have been the last to see the run.
    """
    try:
        data = _read_file(directory)
        picture = parse_value((check_sealed(data) if b'"crc":' in data[:8] else data).decode())
        read = picture.get("names")
        return read if _are_names(read) else {}
    except (OSError, ValueError, AttributeError):
        return {}


def _read_file(directory: str) -> bytes:
    with open(os.path.join(directory, "picture.json"), "rb", opener=open_regular) as file:
        return file.read()


def _are_names(names: Any) -> TypeGuard[PlaceNames]:
    """Anybody may have written the file; a log must come out all the same."""
    return (
        isinstance(names, dict)
        and all(isinstance(each, dict) for each in names.values())
        and all(
            isinstance(limit, int)
            for kind in ("limits", "rounds", "firsts")
            for limit in names.get(kind, {}).values()
        )
    )


def _ends_with(path: str, length: int, seam: bytes) -> bool:
    """Whether the file has this length and this end: the sum stands in the last record."""
    with open(path, "rb", buffering=0, opener=open_regular) as file:
        if os.fstat(file.fileno()).st_size != length:
            return False
        file.seek(length - len(seam))
        return file.read(len(seam)) == seam
