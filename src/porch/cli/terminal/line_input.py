"""Keys of a terminal one by one, put together to lines, beside a running event loop."""

import asyncio
import codecs
import os
import sys
import termios
import tty
from collections.abc import Callable
from typing import Any, Self

_ENTER = "\r\n"
_ERASE = "\x7f\x08"
_ERASE_LINE = "\x15"
_ERASE_WORD = "\x17"
_END = "\x04"
_ESCAPE = "\x1b"


class KeyReader:
    """Collects what is typed; the screen shows it, so the terminal does not echo."""

    def __init__(
        self,
        on_line: Callable[[str], None],
        on_key: Callable[[], None],
        on_end: Callable[[], None],
    ):
        self.typed = ""
        self._on_line = on_line
        self._on_key = on_key
        self._on_end = on_end
        self._sequence = ""
        self._fd = sys.stdin.fileno()
        self._before: list[Any] | None = None
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def listen(self) -> None:
        """Called inside the event loop that drives the run."""
        asyncio.get_running_loop().add_reader(self._fd, self._read)

    def _read(self) -> None:
        data = os.read(self._fd, 4096)
        if not data:
            asyncio.get_running_loop().remove_reader(self._fd)
        for key in self._decode(data):
            if not self._is_sequence(key):
                self._key(key)
        self._on_key()

    def _is_sequence(self, key: str) -> bool:
        """Arrows and their like send several characters; none of them is meant as text."""
        if key == _ESCAPE or not self._sequence:
            self._sequence = key if key == _ESCAPE else ""
            return key == _ESCAPE
        self._sequence += key
        begins = len(self._sequence) == 2 and key in "[O"
        if not begins and "@" <= key <= "~":
            self._sequence = ""
        return True

    def _key(self, key: str) -> None:
        if key in _ENTER:
            line, self.typed = self.typed, ""
            if line.strip():
                self._on_line(line)
        elif key in _ERASE:
            self.typed = self.typed[:-1]
        elif key == _ERASE_LINE:
            self.typed = ""
        elif key == _ERASE_WORD:
            self.typed = self.typed.rstrip().rpartition(" ")[0]
        elif key == _END and not self.typed:
            self._on_end()
        elif key.isprintable():
            self.typed += key
