"""One answer in words: an option by its letter or its label, a text where one is allowed, or a no.

Nothing is mapped to what is nearest. What is not clearly one of the options is asked again.
"""

from porch.claims.questions.letter_forms import (
    LetterWithRest,
    bare_letter,
    escaped_text,
    letter_with_rest,
    lone_letter,
    lone_number,
    quoted_text,
    split_list,
    strip_emphasis,
)
from porch.claims.questions.option_labels import (
    fold_label,
    is_free_label,
    number_of_label,
    text_behind_label,
)
from porch.claims.questions.question import LETTERS, AnswerProblem, Question, QuestionAnswer
from porch.text.printable import make_printable

Outcome = QuestionAnswer | AnswerProblem
_SHOWN = 60
_MOST_DIGITS = 3


def read_answer(question: Question, text: str) -> Outcome:
    """What this text says to this question."""
    said = text.strip()
    if not make_printable(said).strip():
        return problem_of(question, "unanswered", "it has no answer yet")
    if not question.options:
        return QuestionAnswer(text=escaped_text(said) or said)
    if question.free and (meant := _read_escaped(question, said)) is not None:
        return meant
    inner = strip_emphasis(said)
    return _read_plain(question, inner if question.free else quoted_text(inner) or inner)


def problem_of(question: Question, code: str, message: str) -> AnswerProblem:
    return AnswerProblem(question.id, code, message)


def _read_escaped(question: Question, said: str) -> QuestionAnswer | None:
    """A text that says of itself that it is one: `text: E`, or a letter in quotes."""
    if escaped := escaped_text(said):
        return QuestionAnswer(text=escaped)
    inner = quoted_text(said)
    is_option = bool(number_of_label(question, inner)) and not lone_letter(inner)
    is_place = is_free_label(question, inner)
    return QuestionAnswer(text=inner) if inner and not is_option and not is_place else None


def _read_plain(question: Question, said: str) -> Outcome:
    single = _read_option(question, said)
    if single is not None:
        return single
    if question.multi and (several := _read_list(question, split_list(said))) is not None:
        return several
    if (found := letter_with_rest(said)) is not None:
        with_rest = _read_letter_with_rest(question, found)
        if with_rest is not None:
            return with_rest
    return _read_text(question, said) if question.free else refuse_option(question, said)


def _read_text(question: Question, said: str) -> QuestionAnswer:
    """The words behind the letter or the label of the place for a text, or all of them."""
    found = bare_letter(said)
    if found is not None and found.is_marked and found.letter == question.free_letter:
        said = found.rest
    return QuestionAnswer(text=text_behind_label(question, said))


def _read_option(question: Question, said: str) -> Outcome | None:
    """A lone letter, a label, or in a closed question a number; nothing if it is none of these."""
    if letter := lone_letter(said):
        return _choose_letter(question, letter)
    if number := number_of_label(question, said):
        return QuestionAnswer((number,))
    if is_free_label(question, said):
        return ask_for_text(question)
    bare = bare_letter(said)
    if bare and (number_of_label(question, bare.rest) or is_free_label(question, bare.rest)):
        return _read_letter_with_rest(question, bare._replace(is_marked=True))
    digits = lone_number(said)
    if digits and not question.free and not _has_numeric_label(question):
        return _choose_number(question, digits)
    return None


def _choose_letter(question: Question, letter: str) -> Outcome:
    if letter not in question.letters:
        return _letter_out_of_range(question, letter)
    if letter == question.free_letter:
        return ask_for_text(question)
    return QuestionAnswer((LETTERS.index(letter) + 1,))


def _choose_number(question: Question, digits: str) -> Outcome:
    number = int(digits) if len(digits) <= _MOST_DIGITS else 0
    if 1 <= number <= len(question.options):
        return QuestionAnswer((number,))
    told = f"there is no option {_shorten(digits)}; the options are 1 to {len(question.options)}"
    return problem_of(question, "number_out_of_range", told)


def _has_numeric_label(question: Question) -> bool:
    return any(lone_number(each.label) for each in question.options)


def _letter_out_of_range(question: Question, letter: str) -> AnswerProblem:
    told = f"there is no option {letter}; the options are A to {question.letters[-1]}"
    more = f"; to answer with this text, write: text: {letter}" if question.free else ""
    return problem_of(question, "letter_out_of_range", told + more)


def ask_for_text(question: Question) -> AnswerProblem:
    letter = question.free_letter
    told = f"write your answer behind the letter, for example: {letter}) my answer"
    return problem_of(question, "needs_text", told if letter else "write your answer")


def refuse_option(question: Question, said: str) -> AnswerProblem:
    letters = ", ".join(question.letters[: len(question.options)])
    told = f"'{_shorten(said)}' is not one of the options; answer with one of: {letters}"
    return problem_of(question, "not_an_option", told)


def refuse_several(question: Question) -> AnswerProblem:
    told = "only one option can be chosen here; answer with one letter"
    if question.multi:
        told = "write only a list here, for example: A, B"
    return problem_of(question, "several_choices", told)


def _shorten(text: str) -> str:
    line = " ".join(text[: 4 * _SHOWN].split())
    return line if len(line) <= _SHOWN and len(text) <= 4 * _SHOWN else f"{line[:_SHOWN]}..."


def _read_letter_with_rest(question: Question, found: LetterWithRest) -> Outcome | None:
    """The choice with a note; in a free question words like `I, for one` are text."""
    if found.letter not in question.letters:
        is_slip = found.is_marked or not question.free
        return _letter_out_of_range(question, found.letter) if is_slip else None
    if found.letter == question.free_letter:
        if is_free_label(question, found.rest):
            return ask_for_text(question)
        if number_of_label(question, found.rest):
            return _disagree(question, len(question.letters), found.rest)
        return QuestionAnswer(text=text_behind_label(question, found.rest))
    return _with_note(question, LETTERS.index(found.letter) + 1, found.rest)


def _with_note(question: Question, number: int, rest: str) -> Outcome:
    """Words behind a letter must not name another option than the letter does."""
    named = number_of_label(question, rest)
    if named == number:
        return QuestionAnswer((number,))
    if named or is_free_label(question, rest):
        return _disagree(question, number, rest)
    if any(isinstance(_read_item(question, each), QuestionAnswer) for each in split_list(rest)):
        return refuse_several(question)
    return QuestionAnswer((number,), note=rest)


def _read_list(question: Question, parts: list[str]) -> Outcome | None:
    """`A, C`; nothing if the first part is no option: then it is no list."""
    chosen: set[int] = set()
    for at, part in enumerate(parts):
        read = _read_item(question, part)
        if read is None:
            return _end_list(question, chosen, parts[at:]) if at else None
        if isinstance(read, AnswerProblem):
            return read
        chosen.update(read.options)
    return QuestionAnswer(tuple(sorted(chosen)))


def _read_item(question: Question, part: str) -> Outcome | None:
    """One part of a list: an option, or a letter with its own label."""
    read, found = _read_option(question, part), letter_with_rest(part)
    if read is not None or found is None or found.letter not in question.letters:
        return read
    number = LETTERS.index(found.letter) + 1
    named = number_of_label(question, found.rest)
    if named and named != number:
        return _disagree(question, number, found.rest)
    return QuestionAnswer((number,)) if named else None


def _disagree(question: Question, number: int, rest: str) -> AnswerProblem:
    labels = [*(each.label for each in question.options), question.free_label]
    own, said = question.letters[number - 1], fold_label(rest)
    told = f"{own} is '{labels[number - 1]}', but the words name '{said}'"
    return problem_of(question, "letter_and_label_disagree", told)


def _end_list(question: Question, chosen: set[int], parts: list[str]) -> Outcome:
    """What stands behind the options of a list."""
    rest = ", ".join(parts)
    if not question.free:
        return refuse_option(question, parts[0])
    found = letter_with_rest(rest)
    text = found.rest if found and found.letter == question.free_letter else rest
    return QuestionAnswer(tuple(sorted(chosen)), text=_read_text(question, text).text)
