"""What a gate asks in its file, as data; so that one writer and one reader serve every gate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

# More than a person types; beyond it a log was pasted into the wrong file.
MAX_BYTES = 256 * 1024
DONE = "done"
DONE_HELP = "set to true and save when you are finished"

TRUE = frozenset(("true", "yes", "on", "1", "y"))
FALSE = frozenset(("false", "no", "off", "0", "n"))


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""


@dataclass(frozen=True, slots=True)
class Text:
    """Whatever a person types, taken as typed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words; each stands for what it means, so that old words go on working."""

    words: Mapping[str, str]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One key of a map, with fields of its own."""

    name: str
    fields: tuple["Field", ...]
    help: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """A map of a fixed set of keys."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Question:
    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Questions:
    """A list of questions, each with room for its answer."""

    questions: tuple[Question, ...]


Kind = Flag | Text | Choice | Parts | Questions


@dataclass(frozen=True, slots=True)
class Field:
    """`value` is what the file says until a person changes it; maps and lists carry their own."""

    name: str
    kind: Kind
    help: str = ""
    value: bool | str = ""

    def given(self) -> Any:
        """The value as a reading returns it."""
        match self.kind:
            case Flag():
                return bool(self.value)
            case Text() | Choice():
                return str(self.value)
            case Parts(parts):
                return {part.name: values(part.fields) for part in parts}
            case Questions(questions):
                return [{"question": each.question, "answer": each.answer} for each in questions]
            case _:
                assert_never(self.kind)


THOUGHTS = Field("thoughts", Text(), "anything else that you want to say")


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of one gate; every form also has `thoughts` and, at its end, `done`."""

    own: tuple[Field, ...] = ()
    thoughts: Field = THOUGHTS

    @property
    def fields(self) -> tuple[Field, ...]:
        return (*self.own, self.thoughts)

    def given(self) -> dict[str, Any]:
        return values(self.fields)


def values(fields: tuple[Field, ...]) -> dict[str, Any]:
    return {field.name: field.given() for field in fields}
