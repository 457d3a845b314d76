"""Writes docs/reference/cli.md from the tables of commands, so that the page cannot lag behind.

python tools/cli_reference.py [--check]
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from porch.cli.command import Argument, CliCommand
from porch.cli.rows import PROGRAMS as ROWS
from porch.cli.table import load_all_commands

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = {program: load_all_commands(program) for program in ROWS}
_FOR_PEOPLE = "confirm that you are a person; this is recorded"
PAGE = ROOT / "docs" / "reference" / "cli.md"

_HEAD = """\
# Commands

Made from the table of commands by `tools/cli_reference.py`; change that, not this.

Every command takes `--json`, which prints one object instead of text, and `--help`. A run is
named by its id (`0073`), its unpadded id (`73`) or the name of its directory; in the worktree of
a run its name may be left out where the usage says so.

| exit | means |
|---|---|
| 0 | done |
| 1 | the protocol ran and failed, or the wish was refused |
| 2 | fix the input or the command |
| 3 | only a person can move the run now |
| 4 | busy: somebody else holds the run, or has not yet answered |
| 5 | the state on disk cannot be trusted |
| 6 | something outside failed: git, an agent, the disk |
| 70 | a bug of porch; a report file is named |
| 130 | interrupted |
"""


def page() -> str:
    described = (
        "\n".join(_described(program, command))
        for program, commands in PROGRAMS.items()
        for command in commands
    )
    return "\n".join([_HEAD, *described]) + "\n"


def _described(program: str, command: CliCommand) -> Iterator[str]:
    usage = " ".join([program, command.name, *(_usage(each) for each in command.arguments)])
    yield f"## {program} {command.name}\n"
    yield f"    {usage}\n"
    yield f"{_sentence(command.help)}\n"
    if command.arguments:
        yield "| argument | |\n|---|---|"
        yield from (_row(each) for each in command.arguments)
        yield ""


def _usage(argument: Argument) -> str:
    text = _written(argument)
    if _is_option(argument):
        return text if argument.options.get("required") else f"[{text}]"
    more = {"?": f"[{text}]", "+": f"{text}...", "*": f"[{text}...]"}
    return more.get(str(argument.options.get("nargs", "")), text)


def _written(argument: Argument) -> str:
    name = argument.names[-1]
    if not _is_option(argument):
        return str(argument.options.get("metavar") or name).upper()
    if argument.options.get("action") == "store_true":
        return name
    word = argument.options.get("metavar") or name.lstrip("-").replace("-", "_").upper()
    return f"{name} {word}"


def _is_option(argument: Argument) -> bool:
    return argument.names[0].startswith("-")


def _row(argument: Argument) -> str:
    known = argument.options.get("help", "")
    # Agents read the help of a command, people this page.
    told = _FOR_PEOPLE if known == argparse.SUPPRESS else str(known).replace("|", "\\|")
    often = "; may be given several times" if argument.options.get("action") == "append" else ""
    return f"| `{_written(argument)}` | {told}{often} |"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def main(words: list[str]) -> int:
    if "--check" not in words:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == page():
        return 0
    print(f"{PAGE.relative_to(ROOT)} lags behind; run tools/cli_reference.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
