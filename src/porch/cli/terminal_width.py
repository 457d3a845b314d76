"""What the terminal at the other end can show; nothing for a pipe."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from porch.show.terminal_style import TerminalStyle


_UNCUT = 100_000


def table_width() -> int:
    """How wide a table may be; 80 where nobody looks, so that pipes get the same every time."""
    look = terminal_style()
    return look.width if look else 80


def line_sign() -> Callable[[str, str], str] | None:
    """What puts the sign and the colour of a mark before a line; nothing for a pipe."""
    look = terminal_style()
    return look.signed if look else None


def listing_width() -> int:
    """The same for what a pipe gets uncut, since programs and people search in it."""
    look = terminal_style()
    return look.width if look else _UNCUT


def terminal_style(stream: TextIO | None = None) -> TerminalStyle | None:
    """None where nobody looks: a pipe gets plain lines."""
    out = stream or sys.stdout
    if not out.isatty():
        return None
    from porch.show.terminal_style import TerminalStyle

    try:
        width = os.get_terminal_size(out.fileno()).columns
    except (OSError, ValueError):
        width = 0
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    has_unicode = "utf" in (out.encoding or "").lower()
    return TerminalStyle(width or 80, not is_plain, has_unicode)
