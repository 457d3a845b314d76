"""What a command is made of: how it is run, its arguments, and what it shows.

No dataclasses, structs or named tuples: the help of a command would pay for making them.
"""

from collections.abc import Callable, Mapping
from typing import Any

from porch.cli.plain_argparse import argparse

Args = argparse.Namespace
RunVerb = Callable[[Args], Any]


class Argument:
    """One argument of a command, as argparse takes it."""

    __slots__ = ("instead_of", "names", "options")

    def __init__(
        self,
        names: tuple[str, ...],
        options: dict[str, Any],
        instead_of: "FileForText | None" = None,
    ):
        self.names = names
        self.options = options
        self.instead_of = instead_of

    @property
    def dest(self) -> str:
        return self.names[-1].lstrip("-").replace("-", "_")


class FileForText:
    """The text that the file of an argument stands for."""

    __slots__ = ("default", "is_needed", "text")

    def __init__(self, text: Argument, is_needed: bool, default: str | None):
        self.text = text
        self.is_needed = is_needed
        self.default = default


class View:
    """What a command shows: text for people, the same as data for programs, and an exit code.

    Prose is broken to the width of a terminal; pictures and what is meant to be copied is not.
    What is painted holds colours of ours, and was made printable before it was painted.
    """

    __slots__ = ("code", "data", "is_painted", "is_prose", "text")

    def __init__(
        self,
        text: str = "",
        data: Any = None,
        code: int = 0,
        is_prose: bool = False,
        is_painted: bool = False,
    ):
        self.text = text
        self.data = data
        self.code = code
        self.is_prose = is_prose
        self.is_painted = is_painted

    def __eq__(self, other: object) -> bool:
        """Whoever watches is shown only what is new."""
        return isinstance(other, View) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )


def keep_as_is(run: RunVerb) -> RunVerb:
    """The shape of a command that makes its view itself."""
    return run


class Verb:
    """What the module of a command says about it; words and help stand in its row.

    `shape` is put around `run` last, so that also a refusal has the shape that callers read.
    """

    __slots__ = ("arguments", "run", "shape")

    def __init__(
        self,
        run: RunVerb,
        arguments: tuple[Argument, ...] = (),
        shape: Callable[[RunVerb], Callable[[Args], View]] = keep_as_is,
    ):
        self.run = run
        self.arguments = arguments
        self.shape = shape


Verbs = Mapping[str, Verb]


class CliCommand:
    """A verb together with its row; `name` may have two words."""

    __slots__ = ("arguments", "help", "name", "run")

    def __init__(
        self,
        name: str,
        help: str,
        run: Callable[[Args], View],
        arguments: tuple[Argument, ...] = (),
    ):
        self.name = name
        self.help = help
        self.run = run
        self.arguments = arguments


def make_argument(*names: str, **options: Any) -> Argument:
    return Argument(names, options)


# Not in the help: agents read that, and this is a person's word.
PERSON = make_argument("--as-person", action="store_true", help=argparse.SUPPRESS)


def make_text_arguments(
    name: str, file: str = "", *, required: bool = False, default: str | None = None, **options: Any
) -> tuple[Argument, Argument]:
    """A text, and the file to take it from: systems refuse arguments of more than 128 KB."""
    said = Argument((name,), {"default": None, **options})
    told = {"metavar": "PATH", "help": "read it from a file; - is stdin"}
    return said, Argument((file or f"{name}-file",), told, FileForText(said, required, default))


def refuse_empty_values(args: Args, *names: str) -> None:
    """Left out is one thing, given as nothing another: a variable of the caller was empty."""
    for name in names:
        if getattr(args, name, None) == "":
            from porch.errors import UsageError

            raise UsageError(
                f"the {name.replace('_', ' ')} is empty", fix="give one, or leave it out"
            )
