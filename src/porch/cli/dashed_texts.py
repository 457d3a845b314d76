"""Texts that begin with a dash: a list, a rule, a diff. argparse takes them all for flags."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from porch.cli.verbs import Argument, CliCommand

if TYPE_CHECKING:  # a complaint is loaded once there is one
    from porch.errors import UsageError

_ALWAYS = frozenset(("--", "--json", "--help", "-h"))


def join_dashed_texts(commands: Sequence[CliCommand], argv: Sequence[str]) -> list[str]:
    """`--flag -text` as `--flag=-text`, unless the text is itself a flag of that command."""
    command = _find_command(commands, argv)
    if command is None:
        return list(argv)
    start = len(command.name.split())
    return [*argv[:start], *_join_words(command, argv[start:])]


def _join_words(command: CliCommand, words: Sequence[str]) -> Iterator[str]:
    valued = {name for a in command.arguments if _has_value(a) for name in a.names}
    end = words.index("--") if "--" in words else len(words)
    front = iter(words[:end])
    for word in front:
        _refuse_end(word, valued)
        value = next(front, None) if word in valued else None
        if value is None:
            yield word
        elif value.startswith("-") and not _is_flag(command, value):
            yield f"{word}={value}"
        else:
            yield from (word, value)
    yield from words[end:]


def _refuse_end(word: str, valued: set[str]) -> None:
    """argparse takes `--flag=--` and forgets the value."""
    flag, _, value = word.partition("=")
    if value == "--" and flag in valued:
        from porch.errors import UsageError

        raise UsageError(f"argument {flag}: expected one argument", fix="-- alone is not a value")


def advise_dash(
    error: "UsageError", program: str, commands: Sequence[CliCommand], words: Sequence[str]
) -> "UsageError":
    """The same complaint; if a dash may be the cause, its fix says how to write that."""
    command, finding = _find_command(commands, words), error.findings[0]
    if command is None:
        return error
    fix = finding.fix
    if "expected one argument" in finding.message:
        fix += "; if the text looks like an option, write `--flag=TEXT`"
    elif _has_loose_dash(command, words):
        places = " ".join(a.names[0].upper() for a in command.arguments if not _is_option(a))
        fix += "; if a value begins with a dash, put it after `--` and after all options: "
        fix += f"`{program} {command.name} -- {places}`"
    return type(error)(finding.message, fix)


def _has_loose_dash(command: CliCommand, words: Sequence[str]) -> bool:
    takes_words = any(not _is_option(a) for a in command.arguments)
    loose = [w for w in words if len(w) > 1 and w[0] == "-" and not _is_flag(command, w)]
    return takes_words and bool(loose) and "--" not in words


def _find_command(commands: Sequence[CliCommand], argv: Sequence[str]) -> CliCommand | None:
    names = (" ".join(argv[:2]), " ".join(argv[:1]))
    return next((command for name in names for command in commands if command.name == name), None)


def _is_flag(command: CliCommand, word: str) -> bool:
    known = {name for a in command.arguments if _is_option(a) for name in a.names}
    return word in _ALWAYS or word.partition("=")[0] in known


def _has_value(argument: Argument) -> bool:
    is_one = "nargs" not in argument.options
    return _is_option(argument) and is_one and argument.options.get("action") in (None, "append")


def _is_option(argument: Argument) -> bool:
    return argument.names[0].startswith("-")
