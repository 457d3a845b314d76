"""Two files change names in one step, where the system can: the cheap way to redraw a picture.

Renaming over a file makes ext4 start writing the new one at once, measured at 0.12 ms; swapping
does not. So this is for files that need not outlive a power cut, and a caller always needs another
way: not every system and not every file system knows how to swap.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Swap = Callable[[bytes, bytes], bool]

_HERE = -100  # AT_FDCWD
_EXCHANGE = 2
_known: list[Swap] = []


def swap(one: str, other: str) -> bool:
    """Whether the two exchanged their names; if not, nothing has happened."""
    if not _known:
        _known.append(_found())
    return _known[0](os.fsencode(one), os.fsencode(other))


def _found() -> Swap:
    if not sys.platform.startswith("linux"):
        return _never
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return _never
    renameat2.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    return lambda one, other: renameat2(_HERE, one, _HERE, other, _EXCHANGE) == 0


def _never(_one: bytes, _other: bytes) -> bool:
    return False
