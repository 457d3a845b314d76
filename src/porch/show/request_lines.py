"""What a run was asked, as people see it: whole in its status, its first lines at every gate."""

from collections.abc import Iterator

from porch.show import board
from porch.show.board import cut_text, text_width
from porch.text.printable import make_printable

FIRST_LINES = 4


def render_request(request: str, source: str) -> Iterator[str]:
    """All of it; a line that fits stays as it is, so that code keeps its shape."""
    if not request.strip():
        return
    yield f"  request ({board.one_line(source or 'file')})"
    for line in _split_lines(request):
        yield from _fit_line(line)


def first_lines(request: str, id_: str) -> list[str]:
    """How it begins, and the command that shows the rest."""
    lines = [line for line in _split_lines(request) if line.strip()]
    shown = [cut_text(line.strip(), board.WIDTH - 4) for line in lines[:FIRST_LINES]]
    is_whole = len(lines) <= FIRST_LINES and shown == [line.strip() for line in lines]
    more = f" ({len(lines) - FIRST_LINES} more lines)" if len(lines) > FIRST_LINES else ""
    return shown if is_whole else [*shown, f"the whole request{more}: porch status {id_}"]


def _split_lines(request: str) -> list[str]:
    return [line.expandtabs(4).rstrip() for line in make_printable(request).strip("\n").split("\n")]


def _fit_line(line: str) -> list[str]:
    if text_width(line) <= board.WIDTH - 4:
        return [f"    {line}".rstrip()]
    return board.wrap_text(line, 4)
