"""Keys of a terminal one by one, put together to lines, beside a running event loop."""

import asyncio
import codecs
import contextlib
import os
import sys
import termios
import tty
from collections.abc import Callable, Mapping
from typing import Any, Self

from porch.cli.terminal.line_editor import LineEditor

_ENTER = "\r\n"
_END = "\x04"
_ESCAPE = "\x1b"
_KEYS: Mapping[str, str] = {
    "\t": "tab",
    "\x7f": "erase",
    "\x08": "erase",
    "\x15": "erase line",
    "\x17": "erase word",
    "\x01": "home",
    "\x05": "end",
    "\x10": "up",
    "\x0e": "down",
    "\x02": "left",
    "\x06": "right",
}
# What arrows and their like send behind ESC and [ or O.
_SEQUENCES: Mapping[str, str] = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "1~": "home",
    "4~": "end",
    "7~": "home",
    "8~": "end",
    "3~": "delete",
}


class KeyReader:
    """Collects what is typed; the screen shows it, so the terminal does not echo.

    An empty line is a line, too: it asks for the next page. A terminal that is gone is no error
    here: the hangup tells the driver to leave.
    """

    def __init__(
        self,
        editor: LineEditor,
        on_line: Callable[[str], None],
        on_key: Callable[[], None],
        on_end: Callable[[], None],
    ):
        self._editor = editor
        self._on_line = on_line
        self._on_key = on_key
        self._on_end = on_end
        self._sequence = ""
        self._fd = sys.stdin.fileno()
        self._before: list[Any] | None = None
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._fd)
        self.hold()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def hold(self) -> None:
        """The terminal gives every key at once and echoes none; what is typed already stays."""
        with contextlib.suppress(termios.error):
            tty.setcbreak(self._fd, termios.TCSADRAIN)

    def release(self) -> None:
        """The terminal as it was before."""
        if self._before is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def listen(self) -> None:
        """Called inside the event loop that drives the run."""
        asyncio.get_running_loop().add_reader(self._fd, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 4096)
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._fd)
        for key in self._decode(data):
            self._feed(key)
        self._on_key()

    def _feed(self, key: str) -> None:
        """Arrows and their like send several characters; none of them is meant as text."""
        if key == _ESCAPE:
            self._sequence = _ESCAPE
        elif not self._sequence:
            self._key(key)
        else:
            self._sequence += key
            begins = len(self._sequence) == 2 and key in "[O"
            if not begins and "@" <= key <= "~":
                self._editor.press(_SEQUENCES.get(self._sequence[2:], ""))
                self._sequence = ""

    def _key(self, key: str) -> None:
        if key in _ENTER:
            self._on_line(self._editor.take())
        elif key in _KEYS:
            self._editor.press(_KEYS[key])
        elif key == _END and not self._editor.view.text:
            self._on_end()
        elif key.isprintable():
            self._editor.insert(key)
