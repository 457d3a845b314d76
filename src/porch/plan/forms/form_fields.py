"""What a gate asks in its file, as data; so that one writer and one reader serve every gate."""

from collections.abc import Mapping
from typing import Any, assert_never

from msgspec import Struct

# More than a person types; beyond it a log was pasted into the wrong file.
MAX_BYTES = 256 * 1024
DONE = "done"
DONE_HELP = "set to true and save when you are finished"
# What stands there while somebody has not decided what to write.
NOTHING = frozenset(("", "~", "null"))

TRUE = frozenset(("true", "yes", "on", "1", "y"))
FALSE = frozenset(("false", "no", "off", "0", "n"))


class FlagKind(Struct, frozen=True):
    """True or false; a required one has no value until a person writes one."""

    required: bool = False


class TextKind(Struct, frozen=True):
    """Whatever a person types, taken as typed."""


class ChoiceKind(Struct, frozen=True):
    """One of some words; each stands for what it means, so that old words go on working."""

    words: Mapping[str, str]
    optional: bool = False


class FormPart(Struct, frozen=True):
    """One key of a map, with fields of its own."""

    name: str
    fields: tuple["FormField", ...]
    help: str = ""


class FormParts(Struct, frozen=True):
    """A map of a fixed set of keys."""

    parts: tuple[FormPart, ...]


class FormQuestion(Struct, frozen=True):
    """One question in a feedback form, and the answer that a person gave."""

    question: str
    answer: str = ""


class QuestionList(Struct, frozen=True):
    """A list of questions, each with room for its answer."""

    questions: tuple[FormQuestion, ...]


FieldKind = FlagKind | TextKind | ChoiceKind | FormParts | QuestionList


class FormField(Struct, frozen=True):
    """`value` is what the file says until a person changes it; maps and lists carry their own."""

    name: str
    kind: FieldKind
    help: str = ""
    value: bool | str = ""

    def given(self) -> Any:
        """The value as a reading returns it."""
        match self.kind:
            case FlagKind(required):
                return None if required and self.value == "" else bool(self.value)
            case TextKind() | ChoiceKind():
                return str(self.value)
            case FormParts(parts):
                return {part.name: field_values(part.fields) for part in parts}
            case QuestionList(questions):
                return [{"question": each.question, "answer": each.answer} for each in questions]
            case _:
                assert_never(self.kind)


THOUGHTS = FormField("thoughts", TextKind(), "anything else you want to say")


class GateForm(Struct, frozen=True):
    """The fields of one gate; every form also has `thoughts` and, at its end, `done`."""

    own: tuple[FormField, ...] = ()
    thoughts: FormField = THOUGHTS

    @property
    def fields(self) -> tuple[FormField, ...]:
        return (*self.own, self.thoughts)

    def given(self) -> dict[str, Any]:
        return field_values(self.fields)


def field_values(fields: tuple[FormField, ...]) -> dict[str, Any]:
    return {field.name: field.given() for field in fields}
