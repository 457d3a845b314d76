"""A part of a long list, and the way to the other parts: no page shows ten thousand of anything."""

from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

Row = TypeVar("Row")


def read_number(word: str) -> int:
    """A number of an address; 0 where somebody wrote something else there."""
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else 0


def cut_pages(
    rows: Sequence[Row], page: int, size: int, address: str, **query: str
) -> tuple[Sequence[Row], dict[str, Any]]:
    """The rows of one page, counted from 1, and what a pager says; beyond the end is the last."""
    pages = max((len(rows) + size - 1) // size, 1)
    here = min(max(page, 1), pages)
    begin = (here - 1) * size
    kept = rows[begin : begin + size]

    def link(number: int) -> str:
        return f"{address}?{urlencode({**query, 'page': number})}" if 1 <= number <= pages else ""

    return kept, {
        "total": len(rows),
        "begin": begin + 1 if kept else 0,
        "end": begin + len(kept),
        "is_cut": pages > 1,
        "earlier": link(here - 1),
        "later": link(here + 1),
    }
