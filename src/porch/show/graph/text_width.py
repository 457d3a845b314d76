"""Words in cells of equal width, because a picture is made before anybody has a font to measure."""

from porch.show.board import text_width
from porch.text.late_pattern import late_pattern
from porch.text.printable import make_printable

# A word that is too long breaks behind the marks that names are made of, if a letter follows.
_WORD_PIECES = late_pattern(r".+?(?:[:._/-]+(?=\w)|$)")
# Holds words together that no line may part.
GLUE = "\0"


def clean_line(text: str) -> str:
    """One line of safe text: names come from files that anybody may have written."""
    return " ".join(make_printable(text).split())


def wrap_cells(text: str, room: int) -> list[str]:
    """Lines of at most `room` cells (of one wide character at least); nothing is lost."""
    lines = [""]
    for word in text.split(" "):
        space = " " if lines[-1] else ""
        if text_width(lines[-1] + space + word) <= room:
            lines[-1] += space + word
        else:
            lines += _break_word(word, room)
    return [line.replace(GLUE, " ") for line in lines if line]


def _break_word(word: str, room: int) -> list[str]:
    lines = [""]
    for piece in [word] if text_width(word) <= room else _WORD_PIECES.findall(word):
        for part in [piece] if text_width(piece) <= room else piece:
            if lines[-1] and text_width(lines[-1] + part) > room:
                lines.append("")
            lines[-1] += part
    return lines


def clip_lines(lines: list[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"({len(lines) - most + 1} more lines)"]
