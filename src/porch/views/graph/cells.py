"""Words in cells of equal width, because a picture is made before anybody has a font to measure."""

import re
import unicodedata

from porch.views.text import printable

# A word that is too long breaks behind the marks that names are made of, if a letter follows.
_PIECES = re.compile(r".+?(?:[:._/-]+(?=\w)|$)")
# Holds words together that no line may part.
GLUE = "\0"


def clean(text: str) -> str:
    """One line of safe text: names come from files that anybody may have written."""
    return " ".join(printable(text).split())


def width(text: str) -> int:
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrapped(text: str, room: int) -> list[str]:
    """Lines of at most `room` cells (of one wide character at least); nothing is lost."""
    lines = [""]
    for word in text.split(" "):
        space = " " if lines[-1] else ""
        if width(lines[-1] + space + word) <= room:
            lines[-1] += space + word
        else:
            lines += _broken(word, room)
    return [line.replace(GLUE, " ") for line in lines if line]


def _broken(word: str, room: int) -> list[str]:
    lines = [""]
    for piece in [word] if width(word) <= room else _PIECES.findall(word):
        for part in [piece] if width(piece) <= room else piece:
            if lines[-1] and width(lines[-1] + part) > room:
                lines.append("")
            lines[-1] += part
    return lines


def clipped(lines: list[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"({len(lines) - most + 1} more lines)"]
