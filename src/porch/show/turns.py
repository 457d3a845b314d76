"""The turns of a run as a table: the number of each is what `porch log --turn` takes."""

from collections.abc import Iterable, Mapping
from typing import Any

from porch.show.board import format_moment, one_line

_COLUMNS = ("TURN", "POSITION", "AGENT", "OUTCOME", "BEGAN", "TOOK", "COST")


def render_turns(turns: Iterable[Mapping[str, Any]]) -> str:
    """One line for each; nothing is clipped, because positions are there to be copied."""
    table = [_COLUMNS, *(_turn_cells(turn) for turn in turns)]
    if len(table) == 1:
        return "No agent has worked in this run yet.\n"
    widths = [max(len(row[at]) for row in table) for at in range(len(_COLUMNS))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        + "\n"
        for row in table
    )


def _turn_cells(turn: Mapping[str, Any]) -> tuple[str, ...]:
    parts = f" ({turn['parts']} parts)" if turn["parts"] > 1 else ""
    cells = (
        f"{turn['number']}{parts}",
        turn["position"],
        turn["agent"] or "-",
        turn["outcome"],
        format_moment(turn["began_at"]),
        "-" if turn["seconds"] is None else f"{turn['seconds']:.1f} s",
        _format_cost(turn["usd"], turn["tokens"]),
    )
    return tuple(one_line(cell) for cell in cells)


def _format_cost(usd: float, tokens: int) -> str:
    if usd:
        return f"${usd:.4f}"
    return f"{tokens:,} tokens" if tokens else "-"
