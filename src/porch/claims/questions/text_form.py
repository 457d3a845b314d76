"""A round of questions as text: for terminals, chats, and tools that cannot carry a question."""

from collections.abc import Iterator, Mapping, Sequence

from porch.claims.questions.question import Question, QuestionAnswer, QuestionRound
from porch.claims.questions.word_lists import RECOMMENDED, WORDS

_MARGIN = "   "


def render_round(
    round_: QuestionRound, open_: Sequence[str], refusals: Mapping[str, str] | None = None
) -> str:
    """The open questions with their own numbers, why some are asked again, and how to answer."""
    told = refusals or {}
    blocks = [render_question(round_, each, told.get(each.id, "")) for each in round_.only(open_)]
    return "\n\n".join([*blocks, render_guide(round_, open_)])


def render_question(round_: QuestionRound, question: Question, refusal: str = "") -> str:
    """One question with its options; several of a round have their numbers in front."""
    return "\n".join(_question_lines(round_, question, refusal))


def _question_lines(round_: QuestionRound, question: Question, refusal: str) -> Iterator[str]:
    words = WORDS[round_.language]
    if refusal:
        yield words["refused"].format(refusal)
    yield f"{question.name} {question.text}" if len(round_.questions) > 1 else question.text
    if question.context:
        yield from (f"{_MARGIN}{line}" for line in question.context.splitlines())
    yield from (f"{_MARGIN}{line}" for line in option_lines(round_, question))
    if question.multi:
        yield _MARGIN + words["several"].format("A, B")
    if question.example:
        yield _MARGIN + words["example"].format(question.example)


def option_lines(round_: QuestionRound, question: Question) -> Iterator[str]:
    """`A) Redis`; a place for text has the last letter."""
    for letter, each in zip(question.letters, question.options, strict=False):
        mark = f" {RECOMMENDED[round_.language]}" if each.is_recommended else ""
        more = f" - {each.description}" if each.description else ""
        yield f"{letter}) {each.label}{mark}{more}"
    if question.has_free_letter:
        yield f"{question.free_letter}) {question.free_label}"


def render_guide(round_: QuestionRound, open_: Sequence[str]) -> str:
    """How to answer: by label if several questions stand there, else simply."""
    words, asked = WORDS[round_.language], round_.only(open_)
    if len(round_.questions) == 1 or len(asked) == 1:
        return words[_guide_key(asked[0])]
    lines = [words["labels"], *(f"{each.id}: {words['answer']}" for each in asked)]
    return "\n".join([*lines, words["long"]])


def _guide_key(question: Question) -> str:
    if not question.options:
        return "text"
    return "letter_or_text" if question.free else "letter"


def describe_answer(question: Question, answer: QuestionAnswer) -> str:
    """What was understood, in words that would be understood the same way again."""
    labels = [f"{question.letter_of(n)}) {question.options[n - 1].label}" for n in answer.options]
    parts = [*labels, *([answer.text] if answer.text is not None else [])]
    note = f" ({answer.note})" if answer.note else ""
    return f"{question.id}: {', '.join(parts)}{note}"
