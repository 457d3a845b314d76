"""The door of every command: looks at argv before importing anything, because agents call often."""

from __future__ import annotations

import sys


def porch() -> int:
    """The command `porch`."""
    _take_any_text()
    argv = sys.argv[1:]
    from porch.surfaces.cli import fast

    try:
        answered = fast.answer(argv)
    except BrokenPipeError:
        return _closed_pipe()
    except OSError:
        answered = None  # the long way round has the words for it
    if answered is not None:
        return answered
    from porch.surfaces.cli.command import main
    from porch.surfaces.cli.porch import COMMANDS

    return main("porch", COMMANDS, argv)


def codev() -> int:
    """The command `codev`."""
    _take_any_text()
    from porch.surfaces.cli.codev import COMMANDS
    from porch.surfaces.cli.command import main

    return main("codev", COMMANDS, sys.argv[1:])


def envoy() -> int:
    """The command `envoy`."""
    _take_any_text()
    argv = sys.argv[1:]
    from porch.surfaces.cli import envoy_fast

    try:
        answered = envoy_fast.answer(argv)
    except BrokenPipeError:
        return _closed_pipe()
    except OSError:
        answered = None  # the long way round has the words for it
    if answered is not None:
        return answered
    from porch.surfaces.cli.command import main
    from porch.surfaces.cli.envoy_tables import table

    return main("envoy", table(argv), argv)


def _closed_pipe() -> int:
    """Whoever read us has gone; saying so to nobody would only print a traceback."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _take_any_text() -> None:
    """A stream that cannot say a character must not end the command that says it."""
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None) or "utf-8"
        if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
            import codecs

            codecs.register_error("porch", _escaped)
            stream.reconfigure(errors="porch")  # type: ignore[union-attr]


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """As JSON writes them, which `backslashreplace` does not, so that JSON stays JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end
