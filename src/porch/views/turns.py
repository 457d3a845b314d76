"""The turns of a run as a table: the number of each is what `porch log --turn` takes."""

from collections.abc import Iterable, Mapping
from typing import Any

from porch.views.board import moment, one_line

_COLUMNS = ("TURN", "POSITION", "AGENT", "OUTCOME", "BEGAN", "TOOK", "COST")


def rows(turns: Iterable[Mapping[str, Any]]) -> str:
    """One line for each; nothing is clipped, because positions are there to be copied."""
    table = [_COLUMNS, *(_row(turn) for turn in turns)]
    if len(table) == 1:
        return "No agent has been asked anything yet.\n"
    widths = [max(len(row[at]) for row in table) for at in range(len(_COLUMNS))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        + "\n"
        for row in table
    )


def _row(turn: Mapping[str, Any]) -> tuple[str, ...]:
    parts = f" ({turn['parts']} parts)" if turn["parts"] > 1 else ""
    cells = (
        f"{turn['number']}{parts}",
        turn["position"],
        turn["agent"] or "-",
        turn["outcome"],
        moment(turn["began_at"]),
        "-" if turn["seconds"] is None else f"{turn['seconds']:.1f} s",
        _cost(turn["usd"], turn["tokens"]),
    )
    return tuple(one_line(cell) for cell in cells)


def _cost(usd: float, tokens: int) -> str:
    if usd:
        return f"${usd:.4f}"
    return f"{tokens:,} tokens" if tokens else "-"
