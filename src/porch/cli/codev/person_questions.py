"""Questions of the set-up: on a terminal a person answers; elsewhere nothing is assumed."""

import sys


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_person(question: str, default: bool) -> bool:
    """Without anybody to ask, nothing is done that was not asked for."""
    if not is_terminal():
        return False
    said = input(f"{question} [{'Y/n' if default else 'y/N'}] ").strip().lower()
    return said in ("y", "yes") if said else default
