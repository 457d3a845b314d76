"""A table of commands becomes a command line: arguments in, one view out, one error boundary."""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from porch import __version__
from porch.errors import EXIT_BUG, EXIT_INPUT, EXIT_INTERRUPTED, OutsideError, PorchError
from porch.views.text import printable

Args = argparse.Namespace


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command, as argparse takes it."""

    names: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class View:
    """What a command shows: text for people, the same as data for programs, and an exit code."""

    text: str = ""
    data: Any = None
    code: int = 0


@dataclass(frozen=True, slots=True)
class Command:
    """A verb of the command line; `name` may have two words."""

    name: str
    help: str
    run: Callable[[Args], View]
    arguments: tuple[Argument, ...] = ()


def arg(*names: str, **options: Any) -> Argument:
    return Argument(names, options)


class _Parser(argparse.ArgumentParser):
    """argparse, but errors look like all our errors, and half a flag is no flag."""

    def __init__(self, **options: Any):
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> Any:
        said = printable(message)
        sys.stderr.write(f"error[usage]: {said}\n  fix: see `{self.prog} --help`\n")
        raise SystemExit(EXIT_INPUT)


def main(program: str, commands: Sequence[Command], argv: Sequence[str]) -> int:
    """Read arguments, call one verb, show one view."""
    parser = _parser(program, commands)
    try:
        _refuse_half_characters(parser, argv)
        args, late = parser.parse_known_args(list(argv))
        _place(parser, args, late)
    except SystemExit as left:
        return int(left.code or 0)
    if not hasattr(args, "command"):
        parser.print_help()
        return EXIT_INPUT
    return _bounded(args)


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


def _bounded(args: Args) -> int:
    """The one place where exceptions become exit codes."""
    try:
        view: View = args.command.run(args)
        _show(view, args.json)
        return view.code
    except PorchError as error:
        return _complain(error, args.json)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        outside = OutsideError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))
        return _complain(outside, args.json)
    except Exception as error:  # noqa: BLE001 - the boundary: anything else is our own bug
        return _our_bug(error)


def _show(view: View, as_json: bool) -> None:
    if as_json and view.data is not None:
        print(json.dumps(view.data, ensure_ascii=False, indent=2))
    elif view.text and not as_json:
        # Whatever an agent or a file wrote ends up in some view.
        print(printable(view.text), end="" if view.text.endswith("\n") else "\n")
    sys.stdout.flush()


def _complain(error: PorchError, as_json: bool) -> int:
    if as_json:
        findings = [finding.as_json() for finding in error.findings]
        print(json.dumps({"error": {"exit": error.exit_code, "findings": findings}}, indent=2))
    sys.stderr.write(f"{printable(str(error))}\n")
    return error.exit_code


def _our_bug(error: Exception) -> int:
    """A report ready to paste; it names no file contents and no environment."""
    import tempfile

    text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile(
        "w", prefix="porch-report-", suffix=".txt", delete=False
    ) as file:
        file.write(f"porch {__version__}, Python {sys.version}\n{sys.argv[1:2]}\n\n{text}")
    sys.stderr.write(
        f"error[bug]: {type(error).__name__}: {error}\n"
        f"  this is a defect of porch; nothing that was acknowledged is lost\n"
        f"  fix: please report {file.name}\n"
    )
    return EXIT_BUG
