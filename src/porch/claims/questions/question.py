"""What a person is asked, whichever way the question goes out; and what came back of it."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Language = Literal["en", "zh"]


class Choice(Struct, frozen=True):
    """One option of a question; that it is recommended is only shown, and never chosen for anybody.

    Options are known by their number, which counts from 1: option 1 is the letter A.
    """

    label: str
    description: str = ""
    is_recommended: bool = False


class Question(Struct, frozen=True, kw_only=True):
    """One question, closed or free; a free one can be answered with a text, too.

    `free_label` names the place for the text, which has the letter after the last option.
    """

    id: str
    text: str
    options: tuple[Choice, ...] = ()
    free: bool = False
    multi: bool = False
    context: str = ""
    example: str = ""
    header: str = ""
    free_label: str = ""

    @property
    def name(self) -> str:
        """As people see it: Q1."""
        return self.id.upper()

    @property
    def letters(self) -> str:
        """Of the options, and of the place for a text where there is one beside options."""
        return LETTERS[: len(self.options) + self.has_free_letter]

    @property
    def has_free_letter(self) -> bool:
        return self.free and bool(self.options)

    @property
    def free_letter(self) -> str:
        return self.letters[-1] if self.has_free_letter else ""

    def letter_of(self, number: int) -> str:
        return LETTERS[number - 1]


class QuestionRound(Struct, frozen=True):
    """The questions that are asked together; their ids stay when some of them are asked again."""

    questions: tuple[Question, ...]
    language: Language = "en"

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(each.id for each in self.questions)

    @property
    def protocol(self) -> str:
        """Which of the four protocols this is; one question that takes text makes it free."""
        count = "single" if len(self.questions) == 1 else "multi"
        kind = "free" if any(each.free for each in self.questions) else "closed"
        return f"ask-{count}-question-{kind}"

    def find(self, id_: str) -> Question | None:
        return next((each for each in self.questions if each.id == id_), None)

    def only(self, ids: Sequence[str]) -> tuple[Question, ...]:
        return tuple(each for each in self.questions if each.id in ids)


class QuestionAnswer(Struct, frozen=True):
    """What somebody chose, by the numbers of options from 1, or wrote; a note stands beside."""

    options: tuple[int, ...] = ()
    text: str | None = None
    note: str | None = None


class AnswerProblem(Struct, frozen=True):
    """Why a question has no answer yet, or which words belong to none of the questions."""

    question: str
    code: str
    message: str


class ReplyReading(Struct, frozen=True):
    """Everything that was read in a reply; every question that was open is in one of the two."""

    answers: Mapping[str, QuestionAnswer] = field(default_factory=dict)
    problems: tuple[AnswerProblem, ...] = ()
    notes: tuple[str, ...] = ()
