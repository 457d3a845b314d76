"""A reply to "go on?": a plain yes, a plain no, a stop, or words that ask for changes.

Only a reply that is nothing but a word of a list is a yes, a no or a stop. Words that say what to
do ask for changes. What does neither, as a single word of no list, is not read, but asked again: it
may be a yes of a language that is not known here, a typing error, or nothing at all.
"""

from collections.abc import Mapping
from typing import Literal
from unicodedata import east_asian_width

from msgspec import Struct

from porch.claims.questions.answer_reader import read_answer
from porch.claims.questions.letter_forms import drop_invisible, lone_letter
from porch.claims.questions.option_labels import fold_label
from porch.claims.questions.question import Choice, Language, Question, QuestionAnswer
from porch.claims.questions.word_lists import FREE_LABELS, NO, STOP, YES
from porch.text.late_pattern import late_pattern

Verdict = Literal["confirmed", "changes", "declined", "stopped", "unanswered"]
_LABELS: dict[Language, tuple[str, str, str]] = {
    "en": ("Confirm", "Request changes", "Stop"),
    "zh": ("确认", "要求修改", "停止"),
}
_WORDS: Mapping[Verdict, Mapping[str, tuple[str, ...]]] = {
    "confirmed": YES,
    "declined": NO,
    "stopped": STOP,
}
_WORD = late_pattern(r"\w+")
_KNOWN = frozenset(
    part
    for lists in _WORDS.values()
    for words in lists.values()
    for word in words
    for part in _WORD.findall(word)
)
# Where blanks part no words, what is longer can be a whole sentence.
_SHORT = 2
_ASKS = ("?", "\uff1f")
_MARKS = "\"'`*_ \u201d\u2019!."
_CHOICES: tuple[Verdict, ...] = ("confirmed", "declined", "stopped")


class Consent(Struct, frozen=True):
    """What a person said to a confirmation; `feedback` is what they want changed, in their words.

    `declined` is a bare no, or changes that are not named: nothing is done until they are.
    `unanswered` is silence, or a letter that is no option: it is asked again.
    """

    verdict: Verdict
    feedback: str = ""


def make_consent_question(id_: str, text: str, language: Language = "en") -> Question:
    """Confirm, request changes, stop, or text: the question of every confirmation by a person."""
    return Question(
        id=id_,
        text=text,
        options=tuple(map(Choice, _LABELS[language])),
        free=True,
        free_label=FREE_LABELS[language],
    )


def read_consent(text: str, language: Language = "en") -> Consent:
    """What this reply means; never a yes unless it is one and nothing else."""
    said = drop_invisible(text).strip()
    meant = _read_said(said, language)
    # Who asks back has not said yes.
    is_asked = meant.verdict == "confirmed" and said.rstrip(_MARKS).endswith(_ASKS)
    return Consent("unanswered") if is_asked else meant


def _read_said(said: str, language: Language) -> Consent:
    known = _find_word(said)
    if known is not None:
        return Consent(known)
    question = make_consent_question("q1", "", language)
    answer = read_answer(question, said)
    if isinstance(answer, QuestionAnswer):
        return consent_of(answer)
    is_slip = answer.code == "unanswered" or bool(lone_letter(said))
    return Consent("unanswered") if is_slip else _read_changes(said)


def consent_of(answer: QuestionAnswer) -> Consent:
    """The same for an answer that a tool or a form brought to that question."""
    words = "\n".join(each for each in (answer.note, answer.text) if each)
    if words:
        return _read_words(answer, words)
    return Consent(_CHOICES[answer.options[0] - 1]) if answer.options else Consent("unanswered")


def _read_words(answer: QuestionAnswer, words: str) -> Consent:
    """Words behind a stop do not undo it; behind anything else they are what shall change."""
    if answer.options == (3,):
        return Consent("stopped", words)
    known = None if answer.options else _find_word(words)
    if known == "confirmed" and words.rstrip(_MARKS).endswith(_ASKS):
        return Consent("unanswered")
    if known is not None:
        return Consent(known)
    return Consent("changes", words) if answer.options else _read_changes(words)


def _read_changes(words: str) -> Consent:
    """Words that say nothing to do are no changes: one of no list, or yes and no in a row."""
    parts = _WORD.findall(fold_label(words) or words)
    is_empty = all(part in _KNOWN or len(part) == 1 or part.isdigit() for part in parts)
    is_wide = any(east_asian_width(each) in "WF" for part in parts for each in part)
    is_single = len(parts) == 1 and (len(parts[0]) <= _SHORT or not is_wide)
    return Consent("unanswered") if is_empty or is_single else Consent("changes", words)


def _find_word(said: str) -> Verdict | None:
    folded = fold_label(said)
    for verdict, lists in _WORDS.items():
        if any(folded in words for words in lists.values()):
            return verdict
    return None
