"""Texts in the columns of a terminal: their width, cut to fit, as a table; builtins only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_GAP = 2


def text_width(text: str) -> int:
    """How many columns a text takes: some characters take two, some none."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(char: str) -> int:
    from unicodedata import category, east_asian_width

    # Accents, joiners, and the parts of a Korean syllable behind its first one.
    if category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def cut_text(text: str, width: int) -> str:
    """As much of a text as fits, and a sign that there is more."""
    if text_width(text) <= width:
        return text
    kept, room = "", max(width - 3, 0)
    for char in text:
        room -= text_width(char)
        if room < 0:
            break
        kept += char
    return kept + "..."


def pad_text(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))


def lay_out_table(
    rows: Sequence[Sequence[str]], width: int, shrinking: Iterable[tuple[int, int]]
) -> list[str]:
    """A line for each row, in columns; `shrinking` says which give way first, and how far.

    A column that may shrink to nothing is left out.
    """
    widths = [max(map(text_width, cells)) for cells in zip(*rows, strict=True)]
    for column, least in shrinking:
        spare = sum(widths) + _GAP * (len(widths) - widths.count(0) - 1) - width
        if spare > 0:
            kept = max(min(least, widths[column]), widths[column] - spare)
            widths[column] = kept if least else 0
    return [_render_row(row, widths) for row in rows]


def _render_row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [(cell, width) for cell, width in zip(row, widths, strict=True) if width]
    return (" " * _GAP).join([pad_text(cut_text(cell, w), w) for cell, w in cells]).rstrip()


def list_with_files(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Names and what they are for, each above the file it came from."""
    width = max(text_width(row["name"]) for row in rows)
    return [
        f"{pad_text(row['name'], width)}  {row['description']}\n  {row['file']}" for row in rows
    ]
