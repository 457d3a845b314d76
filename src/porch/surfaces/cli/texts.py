"""Texts that are too long for a command line come from files, and commands do not notice."""

import sys
from collections.abc import Sequence

from porch.errors import UsageError
from porch.surfaces.cli.verbs import Args, Argument, Instead


def fill(args: Args, arguments: Sequence[Argument]) -> None:
    """Every text that has a file beside it is one of the two, or what it is by default."""
    files = [(a, a.instead_of) for a in arguments if a.instead_of is not None]
    if [getattr(args, file.dest) for file, _ in files].count("-") > 1:
        raise UsageError(
            "only one text can come from standard input", fix="name a file for the others"
        )
    for file, instead in files:
        setattr(args, instead.text.dest, _one(args, file, instead))


def _one(args: Args, file: Argument, instead: Instead) -> str | None:
    said: str | None = getattr(args, instead.text.dest)
    path: str | None = getattr(args, file.dest)
    names = (instead.text.names[0], file.names[0])
    if said is not None and path is not None:
        raise UsageError(f"{' and '.join(names)} exclude each other", fix="give one of them")
    if path is not None:
        return _read(path, names[1])
    if said is None and instead.is_needed:
        fix = f"give the text, or the path of its file with {names[1]} (- for stdin)"
        raise UsageError(f"one of {' and '.join(names)} is required", fix)
    return instead.default if said is None else said


def _read(path: str, flag: str) -> str:
    try:
        return _text(_bytes(path))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{flag}: '{path}' cannot be read as a text: {why}",
            fix="name a file of UTF-8 text, or - for stdin",
            code="unreadable",
        ) from error


def _text(found: bytes) -> str:
    """No argument can hold a zero, so nothing behind this is prepared for one."""
    if b"\0" in found:
        raise ValueError("it has a zero byte")
    return found.decode()


def _bytes(path: str) -> bytes:
    if path != "-":
        with open(path, "rb") as file:
            return file.read()
    if sys.stdin is None:
        raise OSError("standard input is closed")
    read: bytes = sys.stdin.buffer.read()
    return read
