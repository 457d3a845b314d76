"""The arguments of a tool call become the words of a command line; none of them can be a flag."""

from collections.abc import Iterator, Mapping
from typing import Any

from porch.cli.mcp.offered_tools import (
    DIRECTORY,
    OfferedTool,
    is_list,
    is_option,
    is_required,
    is_switch,
)
from porch.cli.verbs import Argument
from porch.errors import UsageError


def make_words(tool: OfferedTool, given: Mapping[str, Any]) -> list[str]:
    """What one would type after the name of the program; the answer is always JSON."""
    said = {name: value for name, value in given.items() if value is not None}
    _refuse_unknown(tool, said)
    options = [each for each in tool.arguments if is_option(each) and each.dest in said]
    flags = [word for each in options for word in _option_words(each, said[each.dest])]
    texts = list(_positional_words(tool, said))
    # Behind the two dashes nothing is a flag, whatever it looks like.
    return [*tool.command.name.split(), *flags, "--json", *(("--", *texts) if texts else ())]


def _refuse_unknown(tool: OfferedTool, said: Mapping[str, Any]) -> None:
    known = [each.dest for each in tool.arguments]
    strange = [name for name in said if name not in (*known, DIRECTORY)]
    if strange:
        raise _call_error(
            f"{tool.name} has no argument {strange[0]!r}",
            f"its arguments are: {', '.join((*known, DIRECTORY))}",
        )
    missing = [a.dest for a in tool.arguments if is_required(a) and a.dest not in said]
    if missing:
        raise _call_error(f"{tool.name} needs the argument {missing[0]!r}", "give it")


def _option_words(argument: Argument, value: Any) -> list[str]:
    flag = argument.names[0]
    if is_switch(argument):
        if not isinstance(value, bool):
            raise _call_error(f"{argument.dest!r} must be true or false", "give one of the two")
        return [flag] if value else []
    return [f"{flag}={text}" for text in _read_texts(argument, value)]


def _positional_words(tool: OfferedTool, said: Mapping[str, Any]) -> Iterator[str]:
    """A word is known by its place, so none can be given behind one that is left out."""
    left_out = ""
    for argument in (each for each in tool.arguments if not is_option(each)):
        texts = _read_texts(argument, said[argument.dest]) if argument.dest in said else []
        if not any(texts):
            left_out = left_out or argument.dest
        elif left_out:
            raise _call_error(f"{argument.dest!r} was given without {left_out!r}", "give both")
        elif "--" in texts:
            # A parser drops it, and would take the next word for this one.
            raise _call_error(f"{argument.dest!r} cannot be --", "-- alone is not a value")
        else:
            yield from texts


def _read_texts(argument: Argument, value: Any) -> list[str]:
    if not is_list(argument):
        return [_read_text(argument, value)]
    if not isinstance(value, list):
        raise _call_error(f"{argument.dest!r} must be a list", "give a list of texts")
    return [_read_text(argument, each) for each in value]


def _read_text(argument: Argument, value: Any) -> str:
    """Numbers are what agents give for names like 0001 or 2 as well."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _call_error(f"{argument.dest!r} must be a text or a number", "give a text")
    text = str(value)
    if "\0" in text:
        raise _call_error(f"{argument.dest!r} contains a zero byte", "leave it out")
    return text


def _call_error(message: str, fix: str) -> UsageError:
    return UsageError(message, fix=fix, code="tool-arguments")
