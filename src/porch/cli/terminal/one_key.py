"""One key that a person presses: other keys do nothing, and neither does what was typed before."""

import os
import select
import sys
from collections.abc import Collection

# Ctrl-D: there is nobody who wants to answer.
_END = "\x04"
_ESCAPE = "\x1b"
# Arrows and their like send several characters at once.
_SEQUENCE_S = 0.05


def read_one_key(question: str, keys: Collection[str]) -> str:
    """One of `keys`, in lower case; empty when there is nobody to press one."""
    if not sys.stdin.isatty():
        return ""
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        # What was typed before the question was shown is no answer to it, so it is dropped.
        tty.setcbreak(fd, termios.TCSAFLUSH)
        sys.stdout.write(question)
        sys.stdout.flush()
        return _wait_for_key(fd, keys)
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)


def _wait_for_key(fd: int, keys: Collection[str]) -> str:
    while True:
        key = os.read(fd, 1).decode("utf-8", "replace").lower()
        if key in ("", _END):
            return ""
        if key == _ESCAPE:
            _skip_sequence(fd)
        elif key in keys:
            return key


def _skip_sequence(fd: int) -> None:
    """The rest of an arrow or its like, and nothing of what was typed after it."""
    begins = _read_soon(fd)
    while begins in ("[", "O"):
        key = _read_soon(fd)
        if not key or "@" <= key <= "~":
            return


def _read_soon(fd: int) -> str:
    is_there = bool(select.select([fd], [], [], _SEQUENCE_S)[0])
    return os.read(fd, 1).decode("utf-8", "replace") if is_there else ""
