"""What a person wants to see of a long journal, without taking all of it apart.

Whoever decides something reads and checks all of a journal. Here only lines that hold one of the
wanted words are read, only for the fields that somebody names, and their chain is not looked at.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from porch.system.regular_file import open_regular

_PIECE = 1 << 22
Shape = TypeVar("Shape")


def find_records(path: str, words: Sequence[bytes], shape: type[Shape]) -> list[Shape] | None:
    """All records whose line holds one of the words; None if one of them has another shape."""
    decode = msgspec.json.Decoder(shape).decode
    try:
        return [decode(line) for line in _iterate_lines(path) if any(w in line for w in words)]
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _iterate_lines(path: str) -> Iterator[bytes]:
    """Whole lines; what a crash cut short is none."""
    rest = b""
    with open(path, "rb", buffering=0, opener=open_regular) as file:
        while piece := file.read(_PIECE):
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines
