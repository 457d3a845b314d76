"""A line that a person types at a question."""

import sys


def ask_line(question: str) -> str:
    """What was typed, in one piece; who closes the input leaves, as with Ctrl-C."""
    try:
        return input(question).strip()
    except (EOFError, KeyboardInterrupt):
        print()
        raise KeyboardInterrupt from None


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_person(question: str, default: bool) -> bool:
    """Without anybody to ask, nothing is done that was not asked for."""
    if not is_terminal():
        return False
    said = ask_line(f"{question} [{'Y/n' if default else 'y/N'}] ").lower()
    return said in ("y", "yes") if said else default
