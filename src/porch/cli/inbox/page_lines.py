"""Blocks of a page as lines of a terminal: wrapped to a width, with colours that every one has.

What agents wrote is only ever text here: no markup is read in it, and nothing moves the cursor.
"""

import io
from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from porch.cli.inbox.opened_row import Block
from porch.cli.terminal.documents import render_difference, render_document
from porch.text.printable import make_printable

_SIGNS = {"good": ("+", "green"), "bad": ("x", "red"), "warn": ("!", "yellow")}
_INDENT = 2


def render_lines(blocks: Sequence[Block], width: int) -> list[list[Segment]]:
    """One list of segments for each line."""
    return _make_console(width).render_lines(Group(*_render_blocks(blocks, width)), pad=False)


def render_texts(texts: Sequence[Text], width: int) -> list[list[Segment]]:
    """The same of texts that are a line each."""
    return _make_console(width).render_lines(Group(*texts), pad=False)


def _make_console(width: int) -> Console:
    return Console(
        width=width,
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard",
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )


def _render_blocks(blocks: Sequence[Block], width: int) -> Iterator[RenderableType]:
    for number, block in enumerate(blocks):
        if block.kind == "title" and number:
            yield Text("")
        yield _render_block(block, width)


def _render_block(block: Block, width: int) -> RenderableType:
    text = make_printable(block.text)
    match block.kind:
        case "title":
            return Text(text, style="bold", overflow="fold")
        case "document":
            return render_document(block.text, width)
        case "difference":
            return render_difference(block.text)
        case "quote":
            return Padding(Text(text, overflow="fold"), (0, 0, 0, _INDENT))
        case "good" | "bad" | "warn":
            sign, style = _SIGNS[block.kind]
            return _hang(f"{sign} ", text, style)
        case "text" if block.sign:
            return _hang(f"{block.sign}  ", text, "bold")
        case _:
            return Text(text, overflow="fold")


def _hang(sign: str, text: str, style: str) -> RenderableType:
    """Wrapped, and further in from the second line on; the sign alone has the colour."""
    table = Table.grid(padding=0)
    table.add_column(width=len(sign), no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(sign, style=style), Text(text, overflow="fold"))
    return table
