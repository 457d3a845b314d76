"""What a command is made of: how it is run, its arguments, and what it shows.

No dataclasses and no structs: the help of a command would pay for loading them.
"""

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Args = argparse.Namespace
RunVerb = Callable[[Args], Any]


class Argument(NamedTuple):
    """One argument of a command, as argparse takes it."""

    names: tuple[str, ...]
    options: dict[str, Any]
    instead_of: "FileForText | None" = None

    @property
    def dest(self) -> str:
        return self.names[-1].lstrip("-").replace("-", "_")


class FileForText(NamedTuple):
    """The text that the file of an argument stands for."""

    text: Argument
    is_needed: bool
    default: str | None


class View(NamedTuple):
    """What a command shows: text for people, the same as data for programs, and an exit code.

    Prose is broken to the width of a terminal; pictures and what is meant to be copied is not.
    What is painted holds colours of ours, and was made printable before it was painted.
    """

    text: str = ""
    data: Any = None
    code: int = 0
    is_prose: bool = False
    is_painted: bool = False


def keep_as_is(run: RunVerb) -> RunVerb:
    """The shape of a command that makes its view itself."""
    return run


class Verb(NamedTuple):
    """What the module of a command says about it; words and help stand in its row.

    `shape` is put around `run` last, so that also a refusal has the shape that callers read.
    """

    run: RunVerb
    arguments: tuple[Argument, ...] = ()
    shape: Callable[[RunVerb], Callable[[Args], View]] = keep_as_is


Verbs = Mapping[str, Verb]


class CliCommand(NamedTuple):
    """A verb together with its row; `name` may have two words."""

    name: str
    help: str
    run: Callable[[Args], View]
    arguments: tuple[Argument, ...] = ()


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
