"""All runs of one or several projects as a table, by what a person has to do; builtins only."""

from __future__ import annotations

from porch.show.board import VAIN_ENDS, cut_text, lay_out_table, make_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from porch.show.shapes import FleetRowShape

# In the order in which people want to see them.
GROUPS = {
    "waiting": ("AWAITING REVIEW", "?", "33"),
    "alone": ("NOT MOVING", "!", "31"),
    "queued": ("QUEUED", ".", ""),
    "running": ("RUNNING", ">", "36"),
    "stopped": ("STOPPED", "-", ""),
    "over": ("OVER", "x", "32"),
}
_COLUMNS = ("repository", "id", "title", "protocol", "state", "told", "driver")
# What gives way first, and how far; an id must stay whole to be typed. What a run waits for ends in
# a time, and a time that is cut says something else.
_REPOSITORY, _, _TITLE, _PROTOCOL, _STATE, _TOLD, _DRIVER = range(len(_COLUMNS))
_SHRINKING = (
    (_DRIVER, 0),
    (_PROTOCOL, 0),
    (_TITLE, 24),
    (_STATE, 14),
    (_TITLE, 12),
    (_REPOSITORY, 10),
    (_STATE, 10),
    (_TITLE, 8),
    (_REPOSITORY, 6),
    (_STATE, 0),
    (_TOLD, 8),
)
_WIDE = 120  # from here on there is room for the columns that nobody has to know
_LEAST = 40


def render_fleet(rows: Sequence[FleetRowShape], width: int, colour: bool = False) -> str:
    """The groups one after the other; columns are as wide in all of them."""
    if not rows:
        return 'Nothing runs here. Start something: af kickoff "what you want"\n'
    room = max(width, _LEAST)
    left_out = () if room >= _WIDE else ("protocol", "driver")
    cells = make_lines(
        [["" if key in left_out else _read_cell(row, key) for key in _COLUMNS] for row in rows]
    )
    told: dict[str, list[str]] = {group: [] for group in GROUPS}
    for row, line in zip(rows, lay_out_table(cells, room - 2, _SHRINKING), strict=True):
        told[row["group"]].append(cut_text(f"{_find_sign(row)} {line}", room))
    lines: list[str] = []
    for group, (title, _, code) in GROUPS.items():
        if told[group]:
            lines += [_paint(f"{title} ({len(told[group])})", code, colour), *told[group]]
    return "\n".join(lines) + "\n"


def _find_sign(row: FleetRowShape) -> str:
    """What ended in vain is not ticked, although nobody has to do anything for it."""
    is_vain = row["group"] == "over" and row["state"] in VAIN_ENDS
    return "!" if is_vain else GROUPS[row["group"]][1]


def _read_cell(row: FleetRowShape, key: str) -> str:
    """People read a title as it was typed."""
    if key == "driver":
        driver = row["driver"]
        return f"pid {driver['pid']}" if driver else ""
    return str((key == "title" and row.get("heading")) or row.get(key, ""))


def _paint(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code and colour else text
