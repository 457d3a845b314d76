"""Replies to a confirmation: a yes only where nothing but a yes was said."""
# ruff: noqa: RUF001 - the wide forms are what people type

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.claims.questions.answer_reader import read_answer
from porch.claims.questions.consent import (
    Consent,
    Verdict,
    consent_of,
    make_consent_question,
    read_consent,
)
from porch.claims.questions.option_labels import fold_label
from porch.claims.questions.question import Language, QuestionAnswer
from porch.claims.questions.text_form import option_lines
from porch.claims.questions.word_lists import NO, STOP, YES
from tests.claims.questions.rounds import make_round


@pytest.mark.parametrize(
    "text", ["y", "Yes", "YES!", "ok.", "**yes**", '"yes"', "A", "A)", "ａ", "Confirm"]
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a10_a_plain_yes_confirms(text: str, language: Language) -> None:
    assert read_consent(text, language) == Consent("confirmed")


@pytest.mark.parametrize("text", ["是", "好的。", "确认", "繼續", "可以！", "Ｙ", "A) Confirm"])
def test_a10_a_yes_of_another_language_confirms_in_any_round(text: str) -> None:
    assert read_consent(text) == Consent("confirmed")


@pytest.mark.parametrize(
    "text",
    [
        "yes, but rename it",
        "ok then do B first",
        "A) but rename it",
        "oui, mais renomme",
        "ja, aber anders",
        "重命名",
        "please rename",
    ],
)
def test_a10_anything_more_than_a_yes_asks_for_changes_with_all_its_words(text: str) -> None:
    read = read_consent(text)
    assert read.verdict == "changes"
    assert read.feedback in text
    assert read.feedback


@pytest.mark.parametrize(
    "text",
    [
        *(
            "ja",
            "Ja!",
            "oui",
            "ДА",
            "да.",
            "はい",
            "はい。",
            "sí",
            "SÍ!",
            "sim",
            "tak",
            "ano",
            "evet",
        ),
        *(
            "好",
            "是",
            "同意。",
            "네",
            "نعم",
            "👍",
            "👍🏽",
            "👍\ufe0f",
            "**Ja**",
            "d'accord",
            "D’accord.",
        ),
    ],
)
def test_e13_a_yes_of_other_languages_confirms_if_it_is_the_whole_reply(text: str) -> None:
    assert read_consent(text) == Consent("confirmed")


@pytest.mark.parametrize(
    "text",
    [
        *("nein", "Nein.", "non", "НЕТ", "いいえ", "não", "nie", "nej", "不", "否", "아니요", "👎"),
    ],
)
def test_e13_a_no_of_other_languages_declines(text: str) -> None:
    assert read_consent(text) == Consent("declined")


@pytest.mark.parametrize(
    "text",
    [
        *("jaa", "yess", "oui oui", "da?", "ja?", "yes?no", "yes no", "ja nein", "1", "12", "A, B"),
        *("👍👎", "👀", "好吧", "...", "hm", "maybe", "nu", "ouais", "ok go ahead"),
    ],
)
def test_e13_what_says_neither_yes_nor_what_to_do_is_asked_again(text: str) -> None:
    assert read_consent(text) == Consent("unanswered")


@pytest.mark.parametrize("text", ["yes?", "Yes??", "ok？", '"yes?"', "Confirm?", "确认？", "y ?"])
def test_a10_who_asks_back_has_not_said_yes(text: str) -> None:
    assert read_consent(text) == Consent("unanswered")
    assert consent_of(QuestionAnswer(text=text)).verdict != "confirmed"


@pytest.mark.parametrize(
    "text", ["n", "No", "no.", "nope", "否", "不行", "B", "Request changes", "要求修改"]
)
def test_a10_a_bare_no_or_changes_that_are_not_named_decline(text: str) -> None:
    assert read_consent(text) == Consent("declined")


@pytest.mark.parametrize("text", ["stop", "STOP!", "C", "停止", "abort", "取消"])
def test_a10_a_stop_stops(text: str) -> None:
    assert read_consent(text) == Consent("stopped")
    assert read_consent("C) for today") == Consent("stopped", "for today")


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "\u200d", "E", "z)", "D"])
def test_a10_silence_and_a_letter_that_is_no_option_are_asked_again(text: str) -> None:
    assert read_consent(text) == Consent("unanswered")


def test_a10_the_place_for_a_text_takes_changes() -> None:
    assert read_consent("D) rename it") == Consent("changes", "rename it")
    assert read_consent("B) rename it") == Consent("changes", "rename it")
    assert read_consent("text: yes") == Consent("confirmed")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_c14_a_confirmation_is_three_choices_and_a_text(language: Language) -> None:
    question = make_consent_question("q1", "Go on?", language)
    lines = list(option_lines(make_round("{text: a, free: true}"), question))
    assert [line[:2] for line in lines] == ["A)", "B)", "C)", "D)"]
    verdicts: tuple[Verdict, ...] = ("confirmed", "declined", "stopped")
    for letter, verdict in zip("ABC", verdicts, strict=True):
        answer = read_answer(question, letter)
        assert isinstance(answer, QuestionAnswer)
        assert consent_of(answer) == read_consent(letter, language) == Consent(verdict)


def test_c14_an_answer_of_a_tool_counts_by_the_same_rules() -> None:
    assert consent_of(QuestionAnswer((1,))) == Consent("confirmed")
    assert consent_of(QuestionAnswer((1,), note="but rename")) == Consent("changes", "but rename")
    assert consent_of(QuestionAnswer(text="no")) == Consent("declined")
    assert consent_of(QuestionAnswer(text="rename it")) == Consent("changes", "rename it")
    assert consent_of(QuestionAnswer(text="rename")) == Consent("unanswered")
    assert consent_of(QuestionAnswer()) == Consent("unanswered")


def test_c7_every_word_of_the_lists_is_its_own_normal_form_and_in_one_list_only() -> None:
    listed = [word for words in (YES, NO, STOP) for each in words.values() for word in each]
    assert len(listed) == len(set(listed))
    assert [fold_label(word) for word in listed] == listed


def squash(text: str) -> str:
    return "".join(
        each for each in unicodedata.normalize("NFKC", text) if each.isalnum()
    ).casefold()


PIECES = [
    "yes",
    "y",
    "A",
    "ok",
    "no",
    "B",
    ")",
    ".",
    ",",
    " ",
    "\n",
    "**",
    '"',
    "but",
    "text:",
    "是",
]


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=4))
def test_a10_only_a_reply_that_says_nothing_but_yes_confirms(text: str) -> None:
    if read_consent(text).verdict == "confirmed":
        words = {squash(word) for each in YES.values() for word in each} | {"a"}
        assert squash(text).removeprefix("text") in {*words, "aconfirm"}
