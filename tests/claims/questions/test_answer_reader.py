"""One answer: letters, labels, numbers and texts, by the decisions that say what they mean."""
# ruff: noqa: RUF001 - the wide forms are what people type

from typing import Any

import pytest

from porch.claims.questions.answer_reader import read_answer
from porch.claims.questions.question import AnswerProblem
from tests.claims.questions.rounds import CLOSED, FREE, MULTI, MULTI_FREE, OPEN, make_round

NUMBERS = "{id: q1, text: How many?, options: ['3', '5']}"
SINGLES = "{id: q1, text: Which language?, options: [Python, R]}"


def read(question: str, text: str) -> Any:
    """The options, the text or the code of the problem; with a note both."""
    answer = read_answer(make_round(question).questions[0], text)
    if isinstance(answer, AnswerProblem):
        return answer.code
    told: Any = list(answer.options) if answer.text is None else answer.text
    told = (list(answer.options), answer.text) if answer.options and answer.text else told
    return (told, answer.note) if answer.note else told


@pytest.mark.req("C-004")
@pytest.mark.parametrize(
    "text", ["maybe", "Redi", "Rediss", "A plan", "Redis or Memory", "R", "e.g. x"]
)
def test_c4_a_closed_question_takes_its_options_and_nothing_near_them(text: str) -> None:
    assert read(CLOSED, text) in ("not_an_option", "letter_out_of_range")


@pytest.mark.parametrize(
    "text", ["E", "e", "Ｅ", "E)", "(E)", "**E**", "E.", "E)  because", "E\nwhy"]
)
def test_c4_a_letter_that_is_no_option_is_a_slip_also_where_text_is_allowed(text: str) -> None:
    assert read(FREE, text) == read(CLOSED, text) == "letter_out_of_range"


@pytest.mark.parametrize("text", ["text: E", "TEXT：E", '"E"', "'E'", "“E”", "「E」", "«E»"])
def test_c4_a_letter_can_be_written_as_a_text(text: str) -> None:
    assert read(FREE, text) == "E"


@pytest.mark.parametrize("text", ['"A"', "'a'", "**A**", "`A`", "text: A"])
def test_c4_a_closed_question_has_no_texts_to_escape_to(text: str) -> None:
    assert read(CLOSED, text) == ("not_an_option" if text == "text: A" else [1])


@pytest.mark.parametrize(
    "text",
    ["A", "a", "Ａ", "ａ", "A)", "A.", "(A)", "（A）", "[A]", "A、", " A \n", "- A", "* **A**"],
)
def test_c5_a_lone_letter_is_always_a_letter(text: str) -> None:
    assert read(FREE, text) == read(CLOSED, text) == [1]
    assert read(SINGLES, "R") == "letter_out_of_range"


@pytest.mark.parametrize(
    "mark", [")", "）", ".", ",", ", ", ":", "：", "、", "\n", "\r\n", " - ", " — "]
)
def test_c5_words_behind_a_letter_and_a_delimiter_are_a_note(mark: str) -> None:
    blank = "" if mark.endswith((" ", "\n")) else " "
    assert read(FREE, f"A{mark}{blank}because") == ([1], "because")
    assert read(CLOSED, f"b{mark}{blank}because") == ([2], "because")


@pytest.mark.parametrize(
    "text", ["A plan for it", "e.g. x", "I, for one, wait", "a.b.c", "C++ is fine"]
)
def test_c5_without_a_delimiter_it_is_text_or_no_answer(text: str) -> None:
    assert read(FREE, text) == text
    assert read(CLOSED, text) in ("not_an_option", "letter_out_of_range")


def test_c5_a_letter_and_its_own_label_say_the_same_and_another_label_disagrees() -> None:
    assert read(CLOSED, "A) Redis") == read(CLOSED, "**A)** Redis") == [1]
    assert read(CLOSED, "A) Memory") == read(CLOSED, "A, file.") == "letter_and_label_disagree"
    assert read(FREE, "A) Other (type your answer)") == "letter_and_label_disagree"


@pytest.mark.parametrize("text", ["A, B", "A) B", "A, Memory, because", "A, b, c", "A\nC"])
def test_c5_two_options_are_not_one_with_a_note(text: str) -> None:
    assert read(CLOSED, text) in ("several_choices", "letter_and_label_disagree")


def test_c6_the_free_letter_needs_a_text_and_then_only_the_text_counts() -> None:
    assert read(FREE, "C") == read(FREE, "other (type your answer)") == "needs_text"
    assert read(FREE, "C) Other (type your answer)") == "needs_text"
    assert read(FREE, '"Other (type your answer)"') == "needs_text"
    assert read(FREE, "C) two weeks") == read(FREE, "C: two weeks") == "two weeks"
    assert read(FREE, "two weeks") == "two weeks"


def test_c6_digits_are_text_where_text_is_allowed_and_else_the_number_of_an_option() -> None:
    assert read(FREE, "3") == "3"
    assert read(CLOSED, "3") == read(CLOSED, "３") == read(CLOSED, "3)") == [3]
    assert (
        read(CLOSED, "0") == read(CLOSED, "4") == read(CLOSED, "9" * 5000) == "number_out_of_range"
    )


def test_c6_where_a_label_is_a_number_digits_are_labels() -> None:
    assert read(NUMBERS, "3") == [1]
    assert read(NUMBERS, "1") == "not_an_option"


@pytest.mark.parametrize(
    "text",
    [
        *("redis", "REDIS", "Ｒｅｄｉｓ", '"Redis"', "'redis'.", "Redis!", "Redis。", "**Redis**"),
        *("Redis (Recommended)", "Redis（推荐）", "  Redis  ", "「Redis」", "Redis (recommended)."),
    ],
)
def test_c7_labels_are_exact_but_for_case_width_quotes_and_marks(text: str) -> None:
    assert read(CLOSED, text) == [1]


def test_c7_labels_of_every_language_are_read_in_the_same_way() -> None:
    other = "{id: q1, text: 用哪个, options: [内存, Größe, ÉTÉ], free: 自由输入}"
    assert read(other, "内存。") == [1]
    assert read(other, "GRÖSSE") == [2]
    assert read(other, "été") == [3]
    assert read(other, "自由输入") == "needs_text"
    assert read(other, "D）我自己的") == "我自己的"


def test_c7_the_words_of_an_option_do_not_make_it_a_place_for_text() -> None:
    plain = "{id: q1, text: Which?, options: [Redis, Other]}"
    assert read(plain, "other") == [2]
    assert read(plain, "something else") == "not_an_option"


CHINESE = "{id: q1, text: 用哪个, options: [内存, 文件], free: 其他（可填写）}"


@pytest.mark.parametrize(
    "text", ["A 内存", "A内存", "a  内存。", "**A** 内存", "Ａ　内存", "A Redis"]
)
def test_e13_a_letter_with_its_own_label_behind_it_is_that_option(text: str) -> None:
    question = CLOSED if "Redis" in text else CHINESE
    assert (
        read(question, text) == read(question.replace(", free", ", multi: true, free"), text) == [1]
    )


@pytest.mark.parametrize("text", ["A 文件", "B内存", "C 内存", "C) 文件", "A 其他（可填写）"])
def test_e13_a_letter_and_the_label_of_another_option_are_refused(text: str) -> None:
    assert read(CHINESE, text) == "letter_and_label_disagree"


def test_e13_a_letter_that_is_no_option_does_not_get_one_by_its_label() -> None:
    assert read(CHINESE, "E 内存") == read(CLOSED, "E Redis") == "letter_out_of_range"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "C 三天",
            "C　三天",
            "C) 三天",
            "三天",
            "C) 其他（可填写）：三天",
            "C 其他（可填写） 三天",
        ),
        *("其他（可填写）：三天", "其他：三天", "C：其他\n三天", "C 其他 三天", "其他，三天"),
    ],
)
def test_e13_of_the_place_for_a_text_only_the_text_is_kept(text: str) -> None:
    assert read(CHINESE, text) == "三天"


def test_e13_a_word_is_a_label_only_before_a_colon_or_dash() -> None:
    other = "{id: q1, text: Which?, options: [Redis], free: Other}"
    assert read(other, "B Other: three days") == read(other, "Other - three days") == "three days"
    assert read(other, "Other people say so") == "Other people say so"
    assert read(other, "text: Other: x") == "Other: x"
    assert read(MULTI_FREE, "A, C green") == ([1], "green")


@pytest.mark.parametrize(
    "text", ["A, C", "C, A", "a c", "A，C", "A、C", "Linux, C", "linux; Windows", "1, 3"]
)
def test_c11_several_options_where_the_question_allows_it(text: str) -> None:
    assert read(MULTI, text) == [1, 3]


def test_c11_a_list_by_lines_with_or_without_bullets_and_repeats() -> None:
    assert read(MULTI, "- A\n- windows\n* A") == [1, 3]
    assert read(MULTI, "A") == [1]
    assert read(MULTI, "A) because") == ([1], "because")


def test_c11_a_part_that_is_no_option_is_never_dropped() -> None:
    assert read(MULTI, "A, Linus") == "not_an_option"
    assert read(MULTI, "A, E") == "letter_out_of_range"
    assert read(MULTI, "A, 9") == "number_out_of_range"
    assert read(MULTI, "plan A, B") == "not_an_option"


def test_c11_letters_with_their_labels_are_a_list_and_words_between_are_not() -> None:
    assert read(MULTI, "A) Linux, C) Windows") == read(MULTI, "A) Linux\nC) Windows") == [1, 3]
    assert read(MULTI, "A, C) Linux") == read(MULTI, "A) Windows") == "letter_and_label_disagree"
    assert read(MULTI, "A) because, B") == "several_choices"
    assert read(MULTI_FREE, "A, C) Red") == "letter_and_label_disagree"


def test_c11_options_and_a_text_where_the_question_allows_both() -> None:
    assert read(MULTI_FREE, "A, green") == read(MULTI_FREE, "A, C) green") == ([1], "green")
    assert read(MULTI_FREE, "A, C") == "needs_text"
    assert read(MULTI_FREE, "green, A") == "green, A"
    assert read(MULTI_FREE, "A, b") == [1, 2]


@pytest.mark.parametrize("question", [CLOSED, FREE, MULTI, OPEN])
@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_c12_silence_chooses_nothing(question: str, text: str) -> None:
    assert read(question, text) == "unanswered"


def test_c12_what_is_recommended_is_not_chosen_for_anybody() -> None:
    asked = "{id: q1, text: Which?, options: [{label: Redis, recommended: true}, Memory]}"
    assert read(asked, "") == "unanswered"
    assert read(asked, "recommended") == read(asked, "default") == "not_an_option"


def test_a_question_without_options_takes_every_text() -> None:
    assert read(OPEN, "A") == "A"
    assert read(OPEN, "text: A") == "A"
    assert read(OPEN, '"quoted"') == '"quoted"'


def test_quotes_inside_a_text_stay() -> None:
    assert read(FREE, '"a" or "b"') == '"a" or "b"'
    assert read(FREE, '"our own way"') == "our own way"
    assert read(FREE, '"One day"') == [1]
    assert read(FREE, '""') == '""'


def test_a_refusal_shows_a_long_answer_only_by_its_beginning() -> None:
    question = make_round(CLOSED).questions[0]
    told = read_answer(question, "word " * 100_000)
    assert isinstance(told, AnswerProblem)
    assert len(told.message) < 200
