"""A reply to "go on?": a plain yes, a plain no, a stop, or words that ask for changes.

Only a reply that is nothing but a yes is one. A yes with anything behind it asks for changes, and
so does a language whose words are not known here: the safe side is to ask again.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from porch.claims.questions.answer_reader import read_answer
from porch.claims.questions.letter_forms import drop_invisible, lone_letter
from porch.claims.questions.option_labels import fold_label
from porch.claims.questions.question import Choice, Language, Question, QuestionAnswer
from porch.claims.questions.word_lists import FREE_LABELS, NO, STOP, YES

Verdict = Literal["confirmed", "changes", "declined", "stopped", "unanswered"]
_LABELS: dict[Language, tuple[str, str, str]] = {
    "en": ("Confirm", "Request changes", "Stop"),
    "zh": ("确认", "要求修改", "停止"),
}
_WORDS: Mapping[Verdict, Mapping[Language, tuple[str, ...]]] = {
    "confirmed": YES,
    "declined": NO,
    "stopped": STOP,
}
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
    if not isinstance(answer, QuestionAnswer):
        is_slip = answer.code == "unanswered" or bool(lone_letter(said))
        return Consent("unanswered") if is_slip else Consent("changes", said)
    return consent_of(answer)


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
    return Consent(known) if known is not None else Consent("changes", words)


def _find_word(said: str) -> Verdict | None:
    folded = fold_label(said)
    for verdict, lists in _WORDS.items():
        if any(folded in words for words in lists.values()):
            return verdict
    return None
