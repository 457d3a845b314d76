"""What a file of steps says, before and after it is merged with those that it extends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from porch.dialects.steps.keys import Key, Numbers, written
from porch.errors import Place
from porch.model.parameters import Parameter

# define: by a file that extends nothing; insert and replace: by one that does.
Operation = Literal["define", "insert", "replace"]


@dataclass(frozen=True, slots=True)
class Output:
    """One way a protocol can end, as its author writes it; `check` is what proves the claim."""

    value: str
    description: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text as one file wrote it; `is_base` says that this file extends nothing."""

    origin: str
    key: Key
    text: str
    place: Place
    is_base: bool = True

    def __str__(self) -> str:
        return f"{self.origin}:{self.key}"


@dataclass(frozen=True, slots=True)
class Named:
    """An id that was given to a step, and where."""

    id: str
    numbers: Numbers
    place: Place


@dataclass(frozen=True, slots=True)
class Change:
    """What files do to one step: the texts that were it, the last one counting, and what follows.

    `dangling` are texts that were appended when there was nothing yet to append to.
    """

    sets: tuple[Piece, ...] = ()
    appends: tuple[Piece, ...] = ()
    dangling: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """One file, or several that were merged into one; None means that it says nothing."""

    name: str = ""
    description: str = ""
    inputs: tuple[Parameter, ...] | None = None
    outputs: tuple[Output, ...] | None = None
    changes: Mapping[Numbers, Change] = field(default_factory=dict)
    named: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class StepFile:
    """A file that was read, and the name of the one that it extends."""

    level: Level
    place: Place
    extends: str = ""
    extends_place: Place | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the merged protocol: its printed number, its source number, all its pieces."""

    number: int
    numbers: Numbers
    pieces: tuple[Piece, ...]
    replaces: tuple[Piece, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        return written(self.numbers)

    @property
    def origin(self) -> str:
        return self.pieces[0].origin

    @property
    def operation(self) -> Operation:
        if self.replaces:
            return "replace"
        return "define" if self.pieces[0].is_base else "insert"

    @property
    def text(self) -> str:
        """As written; what is appended begins on a line of its own."""
        whole = self.pieces[0].text
        for piece in self.pieces[1:]:
            whole = f"{whole.rstrip()}\n{piece.text}"
        return whole.strip()


@dataclass(frozen=True, slots=True)
class Steps:
    """A protocol of steps, whole: what `envoy protocol` prints and an agent follows."""

    name: str
    description: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Output, ...]
    steps: tuple[Step, ...]
    origins: tuple[str, ...] = ()  # the files it is made of, the base first

    def at(self, numbers: Numbers | None) -> Step | None:
        return next((step for step in self.steps if step.numbers == numbers), None)

    def called(self, id_: str) -> Step | None:
        return next((step for step in self.steps if id_ in step.ids), None)
