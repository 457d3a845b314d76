"""Text that is safe to show: what agents print must never reach a terminal raw."""

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from porch.text.late_pattern import late_pattern

# CSI, then the strings (OSC, DCS, SOS, PM, APC) with their terminators, then short escapes. Each
# in its 7-bit and 8-bit form; a string without an end loses only its introducer.
_ESCAPES = late_pattern(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
# Controls, formats (bidi, zero width, tags), lone surrogates, line and paragraph separators.
_UNSAFE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
# Letters and marks by category, yet invisible: fillers, joiners, variation selectors.
_INVISIBLE = frozenset(
    (
        *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
        *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
    )
)


class _SafeCharacters(dict[int, int | None]):
    """A translation that decides once for each character it meets."""

    def __missing__(self, point: int) -> int | None:
        char = chr(point)
        kept = char in "\n\t" or not (unicodedata.category(char) in _UNSAFE or point in _INVISIBLE)
        self[point] = point if kept else None
        return self[point]


_SAFE_CHARACTERS = _SafeCharacters()


# In the place of a long text stands where it is kept, how long it is, and how it begins.
TEXT_REF_KEY: Final = "$sha256"


def describe_text(value: Any) -> str:
    """A text as it is; of a long one, which is kept elsewhere, what can be shown."""
    if isinstance(value, Mapping) and TEXT_REF_KEY in value:
        return f"{value['clip']} ... ({value['size']} bytes, sha256:{value[TEXT_REF_KEY][:12]})"
    return str(value)


def make_printable(text: str) -> str:
    """Without escape sequences, controls other than line end and tab, and invisible marks."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _ESCAPES.sub("", text).translate(_SAFE_CHARACTERS)
