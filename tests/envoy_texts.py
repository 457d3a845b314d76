"""Command lines in texts for agents, as the real parser of the commands sees them."""

import re
from collections.abc import Iterator, Sequence

from porch.cli import arguments
from porch.cli.table import load_all_commands
from porch.errors import UsageError

PROGRAMS = {program: load_all_commands(program) for program in ("envoy", "porch")}
_CODE = re.compile(r"`((?:envoy|porch) [^`]+)`")
_INDENTED = re.compile(r"^ {4}((?:envoy|porch) [^#\n]+)", re.MULTILINE)
_PLACEHOLDER = re.compile(r"<([^<>]+)>")
_OPTIONAL = re.compile(r"\[([^][]*)\]")
_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|[^\s'"])+""")
_LETTERS = ("V", "VARIANT", "LETTER")


def calls(source: str) -> Iterator[list[str]]:
    """The command lines of a text, once with everything that may be left out and once without."""
    for line in [*_CODE.findall(source), *_INDENTED.findall(source)]:
        yield words(_OPTIONAL.sub(r"\1", line))
        yield words(_OPTIONAL.sub("", line))


def words(line: str) -> list[str]:
    filled = _PLACEHOLDER.sub(lambda found: "A" if found[1] in _LETTERS else "1", line)
    return [re.sub("['\"]", "", word) for word in _WORD.findall(filled)]


def named(call: Sequence[str]) -> str | None:
    """The command that a line begins with, the longest that there is."""
    known = {each.name for each in PROGRAMS[call[0]]}
    return next((name for n in (2, 1) if (name := " ".join(call[1 : n + 1])) in known), None)


def is_bare(call: Sequence[str]) -> bool:
    """A name with nothing behind it only speaks of the command."""
    return len(call) == len(str(named(call)).split()) + 1


def refused(call: Sequence[str]) -> bool:
    """As the real parser sees it."""
    if is_bare(call):
        return False
    try:
        arguments.read_arguments(call[0], PROGRAMS[call[0]], list(call[1:]))
    except (SystemExit, UsageError):
        return True
    return False
