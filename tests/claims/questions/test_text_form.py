"""Questions as text, as a person reads them."""
# ruff: noqa: RUF001 - punctuation of other languages

import pytest

from porch.claims.questions.question import QuestionAnswer
from porch.claims.questions.text_form import describe_answer, render_round
from tests.claims.questions.rounds import CLOSED, FREE, MULTI_FREE, OPEN, make_round


@pytest.mark.req("C-003")
def test_one_closed_question_has_letters_and_no_number() -> None:
    round_ = make_round(CLOSED)
    assert render_round(round_, round_.ids) == (
        "Which store?\n   A) Redis\n   B) Memory\n   C) File\n\nAnswer with a letter."
    )


@pytest.mark.req("C-011")
def test_one_free_question_ends_with_a_place_for_text() -> None:
    round_ = make_round(FREE)
    assert render_round(round_, round_.ids) == (
        "How long?\n   A) One day\n   B) A week\n   C) Other (type your answer)\n\n"
        "Answer with a letter, or write your own answer."
    )


@pytest.mark.req("C-014", "C-015", "C-020", "C-022")
def test_several_questions_have_numbers_and_ask_for_answers_by_label() -> None:
    round_ = make_round(CLOSED, FREE)
    assert render_round(round_, round_.ids) == (
        "Q1 Which store?\n   A) Redis\n   B) Memory\n   C) File\n\n"
        "Q2 How long?\n   A) One day\n   B) A week\n   C) Other (type your answer)\n\n"
        "Answer each question by its label:\nq1: <answer>\nq2: <answer>\n"
        "An answer can have several lines; a line of six hyphens (------) ends it."
    )


@pytest.mark.req("C-016", "C-023")
def test_context_example_descriptions_and_what_is_recommended_are_shown() -> None:
    text = """{text: Which?, context: "Sessions live\\nfor a day.", example: "A, B", multi: true,
      options: [{label: Redis, description: needs a server, recommended: true}, Memory]}"""
    round_ = make_round(text)
    assert render_round(round_, round_.ids).splitlines() == [
        "Which?",
        "   Sessions live",
        "   for a day.",
        "   A) Redis (Recommended) - needs a server",
        "   B) Memory",
        "   Several are possible, for example: A, B",
        "   For example: A, B",
        "",
        "Answer with a letter.",
    ]


def test_c8_what_is_asked_again_has_its_number_and_says_why() -> None:
    round_ = make_round(CLOSED, FREE, OPEN)
    again = render_round(round_, ["q2"], {"q2": "there is no option E"})
    assert again.splitlines()[:2] == ["Not possible: there is no option E", "Q2 How long?"]
    assert again.endswith("Answer with a letter, or write your own answer.")
    assert render_round(round_, ["q4"]) == "Q4 Anything else?\n\nWrite your answer."


def test_the_words_around_the_questions_are_those_of_the_language() -> None:
    round_ = make_round(CLOSED, FREE, more="language: zh")
    text = render_round(round_, round_.ids)
    assert "   C) 其他（可填写）" in text
    assert "请按标签回答每个问题：\nq1: <答案>\nq2: <答案>" in text


def test_an_answer_is_told_with_letter_label_text_and_note() -> None:
    (question,) = make_round(MULTI_FREE).questions
    told = describe_answer(question, QuestionAnswer((1, 2), "green"))
    assert told == "q5: A) Red, B) Blue, green"
    assert describe_answer(question, QuestionAnswer((1,), note="why")) == "q5: A) Red (why)"
