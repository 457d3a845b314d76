"""The help of a program and of a group of commands, written from their rows, without argparse."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence

from porch.cli.rows import CommandRow

_ABOUT = "Run written protocols around coding agents."
_HELP = ("-h, --help", "show this help message and exit")
_VERSION = ("--version", "show program's version number and exit")
_JSON = ("--json", "print one JSON object")
# As argparse has it, whose pages stand beside ours: names have at most this much room.
_NAMES_WIDTH = 24


def group_rows(rows: Iterable[CommandRow], group: str) -> list[CommandRow]:
    """The rows of the commands that begin with this word and have a second one."""
    return [row for row in rows if row.words.startswith(f"{group} ")]


def group_default(rows: Iterable[CommandRow], group: str) -> CommandRow | None:
    """What the first word of a group means when it stands alone."""
    return next((row for row in rows if row.words == f"{group} list"), None)


def render_program_page(program: str, rows: Sequence[CommandRow]) -> str:
    """What `PROGRAM --help` prints."""
    seen = dict.fromkeys(row.words.partition(" ")[0] for row in rows)
    names = [(word, _summarise_word(rows, word)) for word in seen]
    usage = f"usage: {program} [-h] [--version] COMMAND ..."
    return _render_page(usage, _ABOUT, "COMMAND", names, (_HELP, _VERSION))


def render_group_page(program: str, rows: Sequence[CommandRow], group: str) -> str:
    """What `PROGRAM GROUP --help` prints."""
    inside = group_rows(rows, group)
    names = [(row.words.partition(" ")[2], row.help) for row in inside]
    about = f"{group} {_summarise_word(rows, group)}"
    if group_default(rows, group) is None:
        return _render_page(
            f"usage: {program} {group} [-h] WHAT ...", about, "WHAT", names, (_HELP,)
        )
    usage = f"usage: {program} {group} [-h] [--json] WHAT ..."
    return _render_page(usage, about, "WHAT", names, (_HELP, _JSON))


def _summarise_word(rows: Iterable[CommandRow], word: str) -> str:
    """The help of a command of one word, or the second words of a group."""
    single = next((row.help for row in rows if row.words == word), None)
    return single or ", ".join(row.words.partition(" ")[2] for row in group_rows(rows, word))


NameAndHelp = tuple[str, str]


def _render_page(
    usage: str,
    about: str,
    metavar: str,
    names: Sequence[NameAndHelp],
    options: Sequence[NameAndHelp],
) -> str:
    width = max(terminal_width() - 2, 11)
    longest = max([len(name) + 4 for name, _ in names] + [len(name) + 2 for name, _ in options])
    column = min(longest + 2, _NAMES_WIDTH, max(width - 20, 4))
    lines = [usage, "", *_wrap_text(about, width), "", "positional arguments:", f"  {metavar}"]
    lines += [line for each in names for line in _render_entry("    ", each, column, width)]
    lines += ["", "options:"]
    lines += [line for each in options for line in _render_entry("  ", each, column, width)]
    return "\n".join(lines) + "\n"


def _render_entry(margin: str, named: NameAndHelp, column: int, width: int) -> Iterator[str]:
    """A name and its help beside it; a name that is too long has a line of its own."""
    name, told = named
    lines = _wrap_text(told, max(width - column, 11))
    front = f"{margin}{name}"
    if len(front) > column - 2:
        yield front
        front = ""
    yield f"{front:<{column}}{lines[0]}"
    yield from (f"{'':<{column}}{line}" for line in lines[1:])


def _wrap_text(text: str, width: int) -> list[str]:
    """Broken between words only: half the name of a command is no command."""
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def terminal_width() -> int:
    """As `shutil.get_terminal_size` finds it, which costs more to load than all of this."""
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns > 0:
        return columns
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80
