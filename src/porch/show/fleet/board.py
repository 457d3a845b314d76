"""All runs of one or several projects as a table, by what a person has to do; builtins only."""

from __future__ import annotations

from porch.show.board import cut_text, one_line, pad_text, text_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    FleetRow = Mapping[str, str]

# In the order in which people want to see them.
GROUPS = {
    "waiting": ("AWAITING REVIEW", "?", "33"),
    "alone": ("NOT MOVING", "!", "31"),
    "queued": ("QUEUED", ".", ""),
    "running": ("RUNNING", ">", "36"),
    "stopped": ("STOPPED", "-", ""),
    "over": ("OVER", "x", "32"),
}
_COLUMNS = ("repository", "id", "title", "state", "told")
# What gives way first, and how far; an id must stay whole to be typed.
_SHRINKING = (("told", 24), ("title", 8), ("repository", 6), ("state", 10), ("told", 8))
_LEAST = 40


def render_fleet(rows: Sequence[FleetRow], width: int, colour: bool = False) -> str:
    """The groups one after the other; columns are as wide in all of them."""
    if not rows:
        return 'Nothing runs here. Start something: af kickoff "what you want"\n'
    told = [{key: one_line(_read_cell(row, key)) for key in _COLUMNS} for row in rows]
    widths = _fit_columns(told, max(width, _LEAST) - 2)
    lines: list[str] = []
    for group, (title, sign, code) in GROUPS.items():
        mine = [line for row, line in zip(rows, told, strict=True) if row["group"] == group]
        if mine:
            lines.append(_paint(f"{title} ({len(mine)})", code, colour))
            lines += [_render_line(sign, line, widths, width) for line in mine]
    return "\n".join(lines) + "\n"


def _read_cell(row: FleetRow, key: str) -> str:
    """People read a title as it was typed."""
    return (key == "title" and row.get("heading")) or row.get(key, "")


def _fit_columns(rows: Sequence[Mapping[str, str]], width: int) -> dict[str, int]:
    widths = {key: max(text_width(row[key]) for row in rows) for key in _COLUMNS}
    widths = {key: size for key, size in widths.items() if size}
    for key, least in _SHRINKING:
        spare = sum(widths.values()) + 2 * (len(widths) - 1) - width
        if spare > 0 and key in widths:
            widths[key] = max(min(least, widths[key]), widths[key] - spare)
    return widths


def _render_line(sign: str, row: Mapping[str, str], widths: Mapping[str, int], width: int) -> str:
    cells = [pad_text(cut_text(row[key], size), size) for key, size in widths.items()]
    return cut_text(f"{sign} {'  '.join(cells)}".rstrip(), max(width, _LEAST))


def _paint(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code and colour else text
