"""Words of a command line become arguments, or a complaint that says what to type instead."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from porch import __version__
from porch.cli import dashed_texts
from porch.cli.help_page import terminal_width
from porch.cli.plain_argparse import argparse
from porch.cli.verbs import Args, Argument, CliCommand, FileForText
from porch.text.printable import make_printable

if TYPE_CHECKING:  # a complaint is loaded once there is one
    from porch.cli.rows import CommandRow
    from porch.errors import UsageError


class _Help(argparse.HelpFormatter):
    """As wide as the terminal; argparse would load half of shutil to ask that, for every option."""

    def __init__(self, prog: str):
        super().__init__(prog, width=terminal_width() - 2)


class _CommandParser(argparse.ArgumentParser):
    """argparse, but errors look like all our errors, and half a flag is no flag."""

    def __init__(self, **options: Any):
        super().__init__(**options, allow_abbrev=False, formatter_class=_Help)

    def error(self, message: str) -> Any:
        _refuse_usage(self.prog, message)


def read_arguments(program: str, commands: Sequence[CliCommand], argv: Sequence[str]) -> Args:
    """The arguments of one command; none is among them if none was named, and help is shown."""
    parser = _make_parser(program, commands)
    _refuse_half_characters(program, argv)
    words = dashed_texts.join_dashed_texts(commands, argv)
    try:
        _refuse_more_than_help(parser.prog, words)
        args, late = parser.parse_known_args(words)
        _place_late_words(program, args, late)
    except _usage_error() as error:
        raise _advise_words(error, program, commands, words) from None
    if not hasattr(args, "command"):
        parser.print_help()
    else:
        fill_texts(args, args.command.arguments)
    return args


def read_command_arguments(program: str, command: CliCommand, argv: Sequence[str]) -> Args:
    """The same for words that name this command, with a parser of nothing else."""
    _refuse_half_characters(program, argv)
    names = command.name.split()
    parser = _CommandParser(prog=f"{program} {command.name}", description=command.help)
    _add_arguments(parser, command)
    words = dashed_texts.join_dashed_texts((command,), argv)
    # The first word of a group alone means its list.
    front = len(names) if list(argv[: len(names)]) == names else 1
    try:
        _refuse_more_than_help(parser.prog, words)
        args, late = parser.parse_known_args(words[front:])
        _place_late_words(program, args, late)
    except SystemExit:
        raise  # help was given; the words for complaints are not loaded for it
    except _usage_error() as error:
        raise _advise_words(error, program, (command,), words) from None
    fill_texts(args, command.arguments)
    return args


def _advise_words(
    error: "UsageError", program: str, commands: Sequence[CliCommand], words: Sequence[str]
) -> "UsageError":
    """The same complaint, with the line to type as far as it is known."""
    import shlex

    finding = error.findings[0]
    _, is_missing, names = finding.message.partition("the following arguments are required: ")
    if not is_missing:
        return dashed_texts.advise_dash(error, program, commands, words)
    blanks = [f'{name} "..."' if name[0] == "-" else name.upper() for name in names.split(", ")]
    line = make_printable(f"{program} {shlex.join(words)} {' '.join(blanks)}")
    return type(error)(finding.message, fix=f"`{line}`; {finding.fix}")


def _refuse_more_than_help(program: str, words: Sequence[str]) -> None:
    """`-hello` is a text, not help; which of the two argparse thinks depends on its version."""
    end = words.index("--") if "--" in words else len(words)
    for word in words[:end]:
        if word.startswith("-h") and len(word) > 2:
            _refuse_usage(program, f"argument -h/--help: ignored explicit argument '{word[2:]}'")


def unknown_words_error(
    program: str, rows: Sequence["CommandRow"], argv: Sequence[str]
) -> "UsageError":
    """What to say to words that name no command: what there is, and what may have been meant."""
    group = argv[0] if any(row.words.startswith(f"{argv[0]} ") for row in rows) else ""
    import shlex

    if group and len(argv) == 1:
        what, fix = "the following arguments are required: WHAT", ""
    else:
        word = argv[1] if group else argv[0]
        known = _list_known_words(rows, group)
        listed = ", ".join(map(repr, known))
        metavar = "WHAT" if group else "COMMAND"
        what = f"argument {metavar}: invalid choice: {word!r}"
        meant = _guess_meant_word(rows, group, word)
        rest = make_printable(shlex.join(argv[2 if group else 1 :]))
        fix = f"did you mean `{f'{program} {meant} {rest}'.rstrip()}`? " if meant else ""
        what += "" if meant else f" (choose from {listed})"
    page = f"{program} {group}".rstrip()
    return _usage_error()(make_printable(what), fix=f"{fix}see `{page} --help`")


def _list_known_words(rows: Sequence["CommandRow"], group: str) -> list[str]:
    """First words, or the second words of a group."""
    pairs = [row.words.partition(" ") for row in rows]
    return list(
        dict.fromkeys(
            second if group else first for first, _, second in pairs if group in ("", first)
        )
    )


def _guess_meant_word(rows: Sequence["CommandRow"], group: str, word: str) -> str:
    """Empty if nothing is near. Also for whoever left out the first word of a group."""
    from difflib import get_close_matches

    front = f"{group} " if group else ""
    names = {known: f"{front}{known}" for known in _list_known_words(rows, group)}
    if not group:
        names = {**{row.words.partition(" ")[2]: row.words for row in rows}, **names}
    near = get_close_matches(word, names, 1)
    return names[near[0]] if near else ""


def _usage_error() -> "type[UsageError]":
    from porch.errors import UsageError

    return UsageError


def _refuse_usage(program: str, message: str, fix: str = "") -> NoReturn:
    raise _usage_error()(make_printable(message), fix=f"{fix}see `{program} --help`")


def _guess_meant_option(known: Sequence[Argument], words: Sequence[str]) -> str:
    from difflib import get_close_matches

    options = [name for a in known for name in a.names if name.startswith("--")]
    typed = (word.partition("=")[0] for word in words if word.startswith("--"))
    near = [found for word in typed for found in get_close_matches(word, options, 1)]
    # What only people may say is not offered: agents read this, too.
    offered = [name for name in near if name != "--as-person"]
    return f"did you mean {offered[0]}? " if offered else ""


def _refuse_half_characters(program: str, argv: Sequence[str]) -> None:
    """Bytes that are no text cannot be written into any journal or status file."""
    for word in argv:
        if any("\ud800" <= c <= "\udfff" for c in word):
            _refuse_usage(program, f"this argument is not UTF-8 text: {word!r}")


def _place_late_words(program: str, args: Args, late: list[str]) -> None:
    """argparse takes an argument that may be left out for missing once a flag stands before it."""
    front = late[: late.index("--")] if "--" in late else late
    words = [word for word in late if word != "--"]
    known: Sequence[Argument] = getattr(getattr(args, "command", None), "arguments", ())
    free = [a.names[0] for a in known if a.options.get("nargs") == "?"]
    free = [name for name in free if not getattr(args, name)]
    many = [a.names[0] for a in known if a.options.get("nargs") == "*"]
    if any(word.startswith("-") for word in front) or (len(words) > len(free) and not many):
        near = _guess_meant_option(known, front)
        command: CliCommand | None = getattr(args, "command", None)
        page = f"{program} {command.name}" if command else program
        _refuse_usage(page, f"unrecognized arguments: {' '.join(late)}", near)
    for name, word in zip(free, words, strict=False):
        setattr(args, name, word)
    for name in many:
        setattr(args, name, [*getattr(args, name), *words[len(free) :]])


def _make_parser(program: str, commands: Sequence[CliCommand]) -> argparse.ArgumentParser:
    parser = _CommandParser(prog=program, description="Run written protocols around coding agents.")
    parser.add_argument("--version", action="version", version=f"{program} {__version__}")
    verbs = parser.add_subparsers(metavar="COMMAND", parser_class=_CommandParser)
    groups: dict[str, Any] = {}
    for command in commands:
        first, _, second = command.name.partition(" ")
        if second and first not in groups:
            groups[first] = _add_group(verbs, first, commands)
        home = groups[first] if second else verbs
        _add_command(home, second or first, command)
    return parser


def _add_group(verbs: Any, first: str, commands: Sequence[CliCommand]) -> Any:
    """A first word with several second ones; alone it means the one that needs no argument."""
    inside = [c for c in commands if c.name.partition(" ")[0] == first]
    names = ", ".join(c.name.partition(" ")[2] for c in inside)
    group = verbs.add_parser(first, help=names, description=f"{first} {names}")
    alone = next((c for c in inside if not c.arguments and c.name.endswith(" list")), None)
    if alone is not None:
        group.add_argument("--json", action="store_true", help="print one JSON object")
        group.set_defaults(command=alone)
    return group.add_subparsers(metavar="WHAT", parser_class=_CommandParser, required=alone is None)


def _add_command(home: Any, name: str, command: CliCommand) -> None:
    parser = home.add_parser(name, help=command.help, description=command.help)
    _add_arguments(parser, command)


def _add_arguments(parser: argparse.ArgumentParser, command: CliCommand) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    for argument in command.arguments:
        parser.add_argument(*argument.names, **argument.options)
    parser.set_defaults(command=command)


def fill_texts(args: Args, arguments: Sequence[Argument]) -> None:
    """Every text that has a file beside it is one of the two, or what it is by default."""
    files = [(a, a.instead_of) for a in arguments if a.instead_of is not None]
    places = [getattr(args, each) for file, of in files for each in (file.dest, of.text.dest)]
    if places.count("-") > 1:
        from porch.errors import UsageError

        raise UsageError(
            "only one text can come from standard input", fix="use a file for the others"
        )
    for file, instead in files:
        setattr(args, instead.text.dest, _choose_text(args, file, instead))


def _choose_text(args: Args, file: Argument, instead: FileForText) -> str | None:
    said: str | None = getattr(args, instead.text.dest)
    path: str | None = getattr(args, file.dest)
    names = (instead.text.names[0], file.names[0])
    if said is not None and path is not None:
        from porch.errors import UsageError

        raise UsageError(
            f"{' and '.join(names)} cannot be used together", fix="use only one of them"
        )
    if path is not None:
        return read_text_file(path, names[1])
    if said == "-":
        return read_text_file(said, names[0])
    if said is None and instead.is_needed:
        from porch.errors import UsageError

        fix = f"give the text, or the path of its file with {names[1]} (- for stdin)"
        raise UsageError(f"one of {' and '.join(names)} is required", fix)
    return instead.default if said is None else said


def read_text_file(path: str, flag: str) -> str:
    """The text that an option names by the path of its file; - is standard input."""
    try:
        return _decode_text(_read_bytes(path))
    except (OSError, ValueError) as error:
        from porch.errors import UsageError

        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{flag}: '{path}' cannot be read as text: {why}",
            fix="use a UTF-8 text file, or - for stdin",
            code="unreadable",
        ) from error


def _decode_text(found: bytes) -> str:
    """No argument can hold a zero, so nothing behind this is prepared for one."""
    if b"\0" in found:
        raise ValueError("it contains a zero byte")
    return found.decode()


def _read_bytes(path: str) -> bytes:
    if path != "-":
        with open(path, "rb") as file:
            return file.read()
    try:
        read: bytes = sys.stdin.buffer.read()
    except OSError as error:
        raise OSError("standard input is closed") from error
    return read
