"""What a file of steps says, before and after it is merged with those that it extends."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from porch.dialects.steps.step_numbers import StepKey, StepNumbers, format_numbers
from porch.errors import Place
from porch.model.parameters import Parameter
from porch.model.protocol import CheckSubject

# define: by a file that extends nothing; insert and replace: by one that does.
Operation = Literal["define", "insert", "replace"]


class DeclaredOutput(Struct, frozen=True):
    """One way a protocol can end, as its author writes it; `check` is what proves the claim."""

    value: str
    description: str = ""
    check: str = ""
    about: CheckSubject = "outside"


class StepText(Struct, frozen=True):
    """A text as one file wrote it; `is_base` says that this file extends nothing."""

    origin: str
    key: StepKey
    text: str
    place: Place
    is_base: bool = True

    def __str__(self) -> str:
        return f"{self.origin}:{self.key}"


class NamedStep(Struct, frozen=True):
    """An id that was given to a step, and where."""

    id: str
    numbers: StepNumbers
    place: Place


class StepChange(Struct, frozen=True):
    """What files do to one step: the texts that were it, the last one counting, and what follows.

    `dangling` are texts that were appended when there was nothing yet to append to.
    """

    sets: tuple[StepText, ...] = ()
    appends: tuple[StepText, ...] = ()
    dangling: tuple[StepText, ...] = ()


class StepLevel(Struct, frozen=True):
    """One file, or several that were merged into one; None means that it says nothing."""

    name: str = ""
    description: str = ""
    inputs: tuple[Parameter, ...] | None = None
    outputs: tuple[DeclaredOutput, ...] | None = None
    changes: Mapping[StepNumbers, StepChange] = field(default_factory=dict)
    named: tuple[NamedStep, ...] = ()


class StepFile(Struct, frozen=True):
    """A file that was read, and the name of the one that it extends."""

    level: StepLevel
    place: Place
    extends: str = ""
    extends_place: Place | None = None


class MergedStep(Struct, frozen=True):
    """A step of the merged protocol: its printed number, its source number, all its pieces."""

    number: int
    numbers: StepNumbers
    pieces: tuple[StepText, ...]
    replaces: tuple[StepText, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        return format_numbers(self.numbers)

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


class StepProtocol(Struct, frozen=True):
    """A protocol of steps, whole: what `envoy protocol` prints and an agent follows."""

    name: str
    description: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[DeclaredOutput, ...]
    steps: tuple[MergedStep, ...]
    origins: tuple[str, ...] = ()  # the files it is made of, the base first

    def at(self, numbers: StepNumbers | None) -> MergedStep | None:
        return next((step for step in self.steps if step.numbers == numbers), None)

    def called(self, id_: str) -> MergedStep | None:
        return next((step for step in self.steps if id_ in step.ids), None)
