"""Two files change names in one step, where the system can: so a file of somebody's is never lost.

Whoever replaces a version of a file that others write too looks at what came out, and puts it back
if it is not the version that was meant. A caller always needs another way: not every system and
not every file system knows how to swap.
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


def swap_files(one: str, other: str) -> bool:
    """Whether the two exchanged their names; if not, nothing has happened."""
    if not _known:
        _known.append(_load_swap_call())
    return _known[0](os.fsencode(one), os.fsencode(other))


def _load_swap_call() -> Swap:
    if not sys.platform.startswith("linux"):
        return _cannot_swap
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return _cannot_swap
    renameat2.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    return lambda one, other: renameat2(_HERE, one, _HERE, other, _EXCHANGE) == 0


def _cannot_swap(_one: bytes, _other: bytes) -> bool:
    return False
