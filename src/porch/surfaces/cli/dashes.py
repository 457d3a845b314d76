"""Texts that begin with a dash: a list, a rule, a diff. argparse takes them all for flags."""

from collections.abc import Iterator, Sequence

from porch.errors import UsageError
from porch.surfaces.cli.verbs import Argument, Command

_ALWAYS = frozenset(("--", "--json", "--help", "-h"))


def joined(commands: Sequence[Command], argv: Sequence[str]) -> list[str]:
    """`--flag -text` as `--flag=-text`, unless the text is itself a flag of that command."""
    command = _meant(commands, argv)
    if command is None:
        return list(argv)
    start = len(command.name.split())
    return [*argv[:start], *_joined(command, argv[start:])]


def _joined(command: Command, words: Sequence[str]) -> Iterator[str]:
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
        raise UsageError(f"argument {flag}: expected one argument", fix="-- alone is no value")


def advised(
    error: UsageError, program: str, commands: Sequence[Command], words: Sequence[str]
) -> UsageError:
    """The same complaint; if a dash may be the cause, its fix says how to write that."""
    command, finding = _meant(commands, words), error.findings[0]
    if command is None:
        return error
    fix = finding.fix
    if "expected one argument" in finding.message:
        fix += "; a text that looks like a flag is given as `--flag=TEXT`"
    elif _has_loose_dash(command, words):
        places = " ".join(a.names[0].upper() for a in command.arguments if not _is_option(a))
        fix += "; what begins with a dash and is no flag goes behind `--`, after all flags: "
        fix += f"`{program} {command.name} -- {places}`"
    return UsageError(finding.message, fix)


def _has_loose_dash(command: Command, words: Sequence[str]) -> bool:
    takes_words = any(not _is_option(a) for a in command.arguments)
    loose = [w for w in words if len(w) > 1 and w[0] == "-" and not _is_flag(command, w)]
    return takes_words and bool(loose) and "--" not in words


def _meant(commands: Sequence[Command], argv: Sequence[str]) -> Command | None:
    names = (" ".join(argv[:2]), " ".join(argv[:1]))
    return next((command for name in names for command in commands if command.name == name), None)


def _is_flag(command: Command, word: str) -> bool:
    known = {name for a in command.arguments if _is_option(a) for name in a.names}
    return word in _ALWAYS or word.partition("=")[0] in known


def _has_value(argument: Argument) -> bool:
    is_one = "nargs" not in argument.options
    return _is_option(argument) and is_one and argument.options.get("action") in (None, "append")


def _is_option(argument: Argument) -> bool:
    return argument.names[0].startswith("-")
