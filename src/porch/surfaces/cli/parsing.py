"""Words of a command line become arguments, or a complaint that says what to type instead."""

import argparse
from collections.abc import Sequence
from typing import Any

from porch import __version__
from porch.errors import UsageError
from porch.surfaces.cli import dashes, texts
from porch.surfaces.cli.verbs import Args, Argument, Command
from porch.views.text import printable


class _Parser(argparse.ArgumentParser):
    """argparse, but errors look like all our errors, and half a flag is no flag."""

    def __init__(self, **options: Any):
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> Any:
        raise UsageError(printable(message), fix=f"see `{self.prog} --help`")


def read(program: str, commands: Sequence[Command], argv: Sequence[str]) -> Args:
    """The arguments of one command; none is among them if none was named, and help is shown."""
    parser = _parser(program, commands)
    _refuse_half_characters(parser, argv)
    words = dashes.joined(commands, argv)
    try:
        args, late = parser.parse_known_args(words)
        _place(parser, args, late)
    except UsageError as error:
        raise dashes.advised(error, program, commands, words) from None
    if not hasattr(args, "command"):
        parser.print_help()
    else:
        texts.fill(args, args.command.arguments)
    return args


def _refuse_half_characters(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    """Bytes that are no text cannot be written into any journal or status file."""
    for word in argv:
        if any("\ud800" <= c <= "\udfff" for c in word):
            parser.error(f"this argument is not UTF-8 text: {word!r}")


def _place(parser: argparse.ArgumentParser, args: Args, late: list[str]) -> None:
    """argparse takes an argument that may be left out for missing once a flag stands before it."""
    front = late[: late.index("--")] if "--" in late else late
    words = [word for word in late if word != "--"]
    known: Sequence[Argument] = getattr(getattr(args, "command", None), "arguments", ())
    free = [a.names[0] for a in known if a.options.get("nargs") == "?"]
    free = [name for name in free if not getattr(args, name)]
    if any(word.startswith("-") for word in front) or len(words) > len(free):
        parser.error(f"unrecognized arguments: {' '.join(late)}")
    for name, word in zip(free, words, strict=False):
        setattr(args, name, word)


def _parser(program: str, commands: Sequence[Command]) -> argparse.ArgumentParser:
    parser = _Parser(prog=program, description="Run written protocols around coding agents.")
    parser.add_argument("--version", action="version", version=f"{program} {__version__}")
    verbs = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    groups: dict[str, Any] = {}
    for command in commands:
        first, _, second = command.name.partition(" ")
        if second and first not in groups:
            groups[first] = _group(verbs, first, commands)
        home = groups[first] if second else verbs
        _add(home, second or first, command)
    return parser


def _group(verbs: Any, first: str, commands: Sequence[Command]) -> Any:
    """A first word with several second ones; alone it means the one that needs no argument."""
    inside = [c for c in commands if c.name.partition(" ")[0] == first]
    names = ", ".join(c.name.partition(" ")[2] for c in inside)
    group = verbs.add_parser(first, help=names, description=f"{first} {names}")
    alone = next((c for c in inside if not c.arguments and c.name.endswith(" list")), None)
    if alone is not None:
        group.add_argument("--json", action="store_true", help="print one JSON object")
        group.set_defaults(command=alone)
    return group.add_subparsers(metavar="WHAT", parser_class=_Parser, required=alone is None)


def _add(home: Any, name: str, command: Command) -> None:
    parser = home.add_parser(name, help=command.help, description=command.help)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    for argument in command.arguments:
        parser.add_argument(*argument.names, **argument.options)
    parser.set_defaults(command=command)
