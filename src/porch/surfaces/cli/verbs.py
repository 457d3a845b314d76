"""What a table of commands is made of: verbs, their arguments, and what they show."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Args = argparse.Namespace


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command, as argparse takes it."""

    names: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    instead_of: "Instead | None" = None

    @property
    def dest(self) -> str:
        return self.names[-1].lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Instead:
    """The text that the file of an argument stands for."""

    text: Argument
    is_needed: bool
    default: str | None


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


def text(
    name: str, file: str = "", *, required: bool = False, default: str | None = None, **options: Any
) -> tuple[Argument, Argument]:
    """A text, and the file to take it from: systems refuse arguments of more than 128 KB."""
    said = Argument((name,), {"default": None, **options})
    told = {"metavar": "PATH", "help": "the same from a file, - for stdin"}
    return said, Argument((file or f"{name}-file",), told, Instead(said, required, default))
