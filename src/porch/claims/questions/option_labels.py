"""The label of an option as it is known again: exact, but for case, width, quotes and dots."""
# ruff: noqa: RUF001 - the wide forms are what people type

import unicodedata
from collections.abc import Sequence

from porch.claims.questions.question import Question
from porch.claims.questions.word_lists import RECOMMENDED
from porch.text.late_pattern import late_pattern

QUOTES = "\"'`“”‘’„«»‹›「」『』＂＇"
_AROUND = f"{QUOTES}*_ \t\r\n\u3000"
_BEHIND = f"{_AROUND}.,;:!?。，；：！？、…"
_MARKS = tuple(unicodedata.normalize("NFKC", mark).casefold() for mark in RECOMMENDED.values())
# `(type your answer)` at the end of a label.
_HINT = late_pattern(r"\s*[(（][^()（）]*[)）]$")
# Behind a label that ends with a word, a blank is not enough: `Other people say so`.
_BEHIND_LABEL = late_pattern(r"\s*([:：]|\s[-–—]\s|\n)\s*|\s+|[,，、]\s*")
# Nothing longer is the label of an option; what people write is looked at no further.
LONGEST = 200
_SPARE = 60


def fold_label(text: str) -> str:
    """Its normal form. No beginnings and nothing that is only near: those are different labels."""
    if len(text) > LONGEST + _SPARE:
        return ""
    plain = _fold_characters(text)
    kept = _drop_marks(plain)
    return kept or plain.strip()


def _fold_characters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def _drop_marks(text: str) -> str:
    text = text.lstrip(_AROUND).rstrip(_BEHIND)
    for mark in _MARKS:
        if text.endswith(mark):
            return text.removesuffix(mark).rstrip(_BEHIND)
    return text


def number_of_label(question: Question, text: str) -> int:
    """The option that has exactly this label; 0 if none has."""
    wanted = fold_label(text)
    if not wanted:
        return 0
    found = (n for n, each in enumerate(question.options, 1) if fold_label(each.label) == wanted)
    return next(found, 0)


def is_free_label(question: Question, text: str) -> bool:
    """Whether these are the words on the place for a text, and not a text for it."""
    wanted = fold_label(text)
    return bool(wanted) and question.free and fold_label(question.free_label) == wanted


def text_behind_label(question: Question, text: str) -> str:
    """The text without the words on the place for it: `Other: two weeks` says two weeks."""
    for label in (question.free_label, _HINT.sub("", question.free_label)):
        behind = _BEHIND_LABEL.match(text, len(label))
        is_word = label[-1:].isascii() and label[-1:].isalnum()
        is_label = bool(label) and fold_label(text[: len(label)]) == fold_label(label)
        if is_label and behind and (behind[1] or not is_word):
            return text[behind.end() :].strip()
    return text


def equal_labels(labels: Sequence[str]) -> list[str]:
    """The labels that nobody could tell from an earlier one."""
    seen: set[str] = set()
    doubled = []
    for label in labels:
        folded = fold_label(label)
        if folded in seen:
            doubled.append(label)
        seen.add(folded)
    return doubled
