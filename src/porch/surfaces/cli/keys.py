"""One key from a terminal, without waiting for Enter."""

import os
import sys


def one_key(question: str) -> str:
    """The key a person pressed, in lower case; empty when there is nobody to press one."""
    if not sys.stdin.isatty():
        return ""
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        # Before the question is asked, and without a flush: a quick finger must not be lost.
        tty.setcbreak(fd, termios.TCSANOW)
        sys.stdout.write(question)
        sys.stdout.flush()
        return os.read(fd, 1).decode("utf-8", "replace").lower()
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)
