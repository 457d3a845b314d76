"""One key from a terminal, without waiting for Enter."""

import sys


def one_key(question: str) -> str:
    """The key a person pressed, in lower case; empty when there is nobody to press one."""
    if not sys.stdin.isatty():
        return ""
    import termios
    import tty

    sys.stdout.write(question)
    sys.stdout.flush()
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        return sys.stdin.read(1).lower()
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
