"""Replies in words, by the decisions that say how they are read."""
# ruff: noqa: RUF001 - the wide forms are what people type

import pytest

from porch.claims.questions.reply_reader import read_reply
from tests.claims.questions.rounds import CLOSED, FREE, MULTI, OPEN, codes, make_round, said

TWO = make_round(CLOSED, FREE)
THREE = make_round(CLOSED, FREE, OPEN)


@pytest.mark.req("C-017", "C-024")
@pytest.mark.parametrize(
    "label",
    [
        *("q1: B", "Q1: B", "q1 : B", "q1. B", "q1) B", "q1、B", "q1：B", "ｑ１：Ｂ", "Ｑ１）Ｂ"),
        *("**q1:** B", "**Q1**: B", "__q1__: B", '"q1": B', "'q1': B", "`q1`: B", "“q1”：B"),
        *(
            "> q1: B",
            "  q1: B",
            "- q1: B",
            "## Q1: B",
            "* **Q1:** B",
            "q01: B",
            "q 1: B",
            "\ufeffq1: B",
        ),
        *("q1: **B**", "q1: (B)", "q1: b.", "q1:\nB", "q1: B\r\n\r\n", "q1:B"),
    ],
)
def test_c1_a_label_is_known_in_every_spelling(label: str) -> None:
    read = read_reply(TWO, TWO.ids, f"{label}\nq2: A")
    assert (said(read), codes(read)) == ({"q1": [2], "q2": [1]}, {})


@pytest.mark.parametrize(
    "line", ["q1 B", "q: B", "1: B", "qq1: B", "q1.5 B", "Q1 2024: B", "aq1: B"]
)
def test_c1_what_is_no_label_belongs_to_the_answer_before_it(line: str) -> None:
    read = read_reply(TWO, TWO.ids, f"q2: mine\n{line}\nq1: A")
    assert said(read) == {"q2": f"mine\n{line}", "q1": [1]}


def test_c1_a_reply_that_is_quoted_as_a_whole_is_read_without_its_marks() -> None:
    read = read_reply(TWO, TWO.ids, "> **Q1:** A) Redis\n>\n> **Q2:** two\n>  weeks\n> > x\nbye")
    assert said(read) == {"q1": [1], "q2": "two\n weeks\n> x\nbye"}
    plain = read_reply(TWO, TWO.ids, "q1: A\nq2: see\n> quoted")
    assert said(plain)["q2"] == "see\n> quoted"


def test_c1_a_number_that_was_not_asked_is_told_and_its_words_are_kept() -> None:
    read = read_reply(TWO, TWO.ids, "q1: A\nq2: B\nq7: keep this")
    assert codes(read) == {"q7": "unknown_question"}
    assert said(read) == {"q1": [1], "q2": [2]}
    assert read.notes == ("text for q7, which was not asked: keep this",)
    assert read_reply(TWO, TWO.ids, "q1: A\nq2: B\nq7:").notes == ()


@pytest.mark.parametrize("fence", ["```", "~~~~", "```text"])
def test_c1_inside_a_fence_nothing_is_a_label(fence: str) -> None:
    end = fence.removesuffix("text")
    block = f"{fence}\nq1: C\n------\n{end[:-1]}\n{end}"
    read = read_reply(TWO, TWO.ids, f"q2: see\n{block}\nq1: A")
    assert said(read) == {"q2": f"see\n{block}", "q1": [1]}


def test_c1_a_fence_that_begins_behind_its_label_is_a_fence() -> None:
    read = read_reply(TWO, TWO.ids, "q2: ```\nq1: C\n```\nq1: B")
    assert said(read) == {"q2": "```\nq1: C\n```", "q1": [2]}


def test_c1_a_fence_that_never_ends_hides_what_is_behind_it_and_that_is_asked_again() -> None:
    read = read_reply(TWO, TWO.ids, "q2: ```\nsome\nq1: A")
    assert codes(read) == {"q1": "unanswered"}


@pytest.mark.req("C-018")
def test_c2_six_hyphens_end_an_answer_of_several_lines() -> None:
    read = read_reply(
        THREE, THREE.ids, "q2: one\n\ntwo\n------\n\nq4: x\n--------\nq1: A\n------\n"
    )
    assert said(read) == {"q2": "one\n\ntwo", "q4": "x", "q1": [1]}


@pytest.mark.parametrize("rule", ["---", "-----", "------ x", "- - - - - -", "------\nmore"])
def test_c2_hyphens_that_end_nothing_are_text(rule: str) -> None:
    read = read_reply(TWO, TWO.ids, f"q2: one\n{rule}\ntwo\nq1: A")
    assert said(read) == {"q2": f"one\n{rule}\ntwo", "q1": [1]}


def test_c2_a_terminator_behind_a_bare_answer_is_no_part_of_it() -> None:
    only = make_round(OPEN)
    assert said(read_reply(only, only.ids, "line\nline\n－－－－－－")) == {"q4": "line\nline"}


def test_c3_of_one_question_the_whole_reply_is_the_answer() -> None:
    only = make_round(FREE)
    assert said(read_reply(only, only.ids, "two\nweeks")) == {"q2": "two\nweeks"}
    assert said(read_reply(only, only.ids, "q2: B")) == {"q2": [2]}


@pytest.mark.parametrize(
    "reply", ["B, A", "b a", "B，A", "B、A", "B; A,", "B\nA", "(B) **A**", "B), A)"]
)
def test_c3_as_many_letters_as_questions_are_read_in_order_and_said_back(reply: str) -> None:
    read = read_reply(TWO, TWO.ids, reply)
    assert said(read) == {"q1": [2], "q2": [1]}
    assert read.notes == ("read in order: q1: B, q2: A",)


@pytest.mark.parametrize(
    "reply", ["A", "A, B, A", "Redis, One day", "A and B", "AB", "1, 2", "yes"]
)
def test_c3_anything_else_without_labels_is_asked_again(reply: str) -> None:
    read = read_reply(TWO, TWO.ids, reply)
    assert (said(read), set(codes(read).values())) == ({}, {"no_labels"})
    assert set(codes(read)) == {"q1", "q2"}


def test_c3_a_list_of_letters_is_not_guessed_where_one_question_takes_several() -> None:
    both = make_round(CLOSED, MULTI)
    assert set(codes(read_reply(both, both.ids, "A, B")).values()) == {"no_labels"}


def test_c3_a_letter_of_the_list_that_is_no_option_is_told_alone() -> None:
    read = read_reply(TWO, TWO.ids, "A, E")
    assert (said(read), codes(read)) == ({"q1": [1]}, {"q2": "letter_out_of_range"})


@pytest.mark.parametrize("reply", ["", " \r\n\t", "------", "\ufeff"])
def test_c3_an_empty_reply_answers_nothing(reply: str) -> None:
    read = read_reply(TWO, TWO.ids, reply)
    assert (said(read), codes(read)) == ({}, {"q1": "unanswered", "q2": "unanswered"})


ALL = make_round(CLOSED, FREE, MULTI, OPEN)
ALL_READ = {"q1": [2], "q2": "two weeks", "q3": [1, 3], "q4": "三天"}


@pytest.mark.parametrize(
    "reply",
    [
        "q1: B, q2: two weeks, q3: A, C; q4: 三天",
        "q1: B，q2：two weeks；q3：A、C， q4：三天",
        "q1=B\nq2 = two weeks\nQ3＝A, C\nQ4=三天",
        "问题1：B\n问题2：two weeks\n問題3：A、C\nQuestion 4: 三天",
        "Q1 B\n\nQ2 two weeks\n**Q3** A, C\n- Q4 三天",
        "1. B\n2. two weeks\n3. A, C\n4. 三天",
        "1) B, 2) two weeks, 3) A, C; 4) 三天",
        "1：B\n2、two weeks\n3: A, C\n4=三天",
        "| Question | Answer |\n|---|:--|\n| Q1 | B |\n| **q2** | two weeks |\n|3|A, C|\n|4|三天|",
        "| q1 | B |\n| q2 | two weeks |\n| q3 | A, C |\n| q4 | 三天",
        "| q1 | q2 | q3 | q4 |\n|----|----|----|----|\n| B | two weeks | A, C | 三天 |",
        "| q1 | B |\n|---|---|\n| q2 | two weeks |\n| q3 | A, C |\n| q4 | 三天 |",
        '{"q1": "B", "q2": "two weeks", "q3": ["A", "C"], "q4": "三天"}',
        '{"answers": {"1": "B", "2": "C) two weeks", "3": "A, C", "4": "三天"}}',
        '"q1": "B", "q2": two weeks, `q3`: A C, q4: 三天',
    ],
)
def test_e13_every_usual_way_to_label_answers_is_read(reply: str) -> None:
    read = read_reply(ALL, ALL.ids, reply)
    assert (said(read), codes(read), read.notes) == (ALL_READ, {}, ())


def test_e13_on_one_line_a_blank_parts_answers_only_behind_a_letter() -> None:
    assert said(read_reply(TWO, TWO.ids, "q1: B q2: A")) == {"q1": [2], "q2": [1]}
    assert said(read_reply(TWO, TWO.ids, "1. B 2. A")) == {"q1": [2], "q2": [1]}
    read = read_reply(TWO, TWO.ids, "q2: as in q1: no")
    assert (said(read), codes(read)) == ({"q2": "as in q1: no"}, {"q1": "unanswered"})


@pytest.mark.parametrize(
    "text", ['see "a, q1: B"', "see `x, q1: B`", "see “a, q1: B”", 'a "b, q1: B']
)
def test_e13_what_is_quoted_holds_no_label(text: str) -> None:
    read = read_reply(TWO, TWO.ids, f"q2: {text}")
    assert (said(read), codes(read)) == ({"q2": text}, {"q1": "unanswered"})


@pytest.mark.parametrize(
    "reply",
    [
        "1. A\n2. E",
        "1. A\n3. B",
        "1. A\nand more",
        "Hello\nQ1 A",
        "1:30",
        "1.5, 2.5",
        "| q1 | A, q2: B | x |",
        '{"q1": {}, "q2": "B"}',
        "{note} q1: A",
        "| q1 | A |\n| hello | B |",
        "| q1 | A | x |\n| q2 | B | y |",
        "| q1 | q2 |\n|--|--|\n| A |",
        '{"q1": "A", "hello": "B"}',
        '{"q1": {"options": [1]}, "q2": "B"}',
        '{"q1": true, "q2": null}',
        '{"q1": "A", "q2": "B"',
        "{}",
        "[1]",
    ],
)
def test_e13_what_only_looks_like_a_form_answers_nothing(reply: str) -> None:
    read = read_reply(TWO, TWO.ids, reply)
    assert (said(read), set(codes(read).values())) == ({}, {"no_labels"})


def test_e13_a_mere_number_names_only_a_question_that_is_open() -> None:
    """Of a second round it could count what is left: then 1 is not q1."""
    assert said(read_reply(THREE, ["q2", "q4"], "2. A\n4. x")) == {"q2": [1], "q4": "x"}
    assert set(codes(read_reply(THREE, ["q2", "q4"], "1. A\n2. x"))) == {"q2", "q4"}
    assert set(codes(read_reply(THREE, ["q2", "q4"], '{"1": "A"}'))) == {"q2", "q4"}


def test_e13_a_reply_that_reads_two_ways_is_refused() -> None:
    only = make_round(FREE)
    for reply in ("Q2 A", "2. A", "2. please", "| 2 | A |\n|---|---|", '{"2": "A"}'):
        read = read_reply(only, only.ids, reply)
        assert (said(read), codes(read)) == ({}, {"q2": "several_readings"}), reply
    closed = make_round(CLOSED)
    assert said(read_reply(closed, closed.ids, "1. B")) == {"q1": [2]}
    twice = read_reply(TWO, TWO.ids, '{"q1": "A", "q1": "B", "q2": "A"}')
    assert (said(twice), codes(twice)) == ({"q2": [1]}, {"q1": "conflicting_answers"})


def test_c8_valid_answers_are_kept_and_only_the_rest_is_open() -> None:
    read = read_reply(THREE, THREE.ids, "q1: maybe\nq4: fine")
    assert said(read) == {"q4": "fine"}
    assert codes(read) == {"q1": "not_an_option", "q2": "unanswered"}


def test_c8_what_is_left_is_answered_with_its_own_number_or_bare_if_it_is_alone() -> None:
    assert said(read_reply(THREE, ["q2"], "q2: A")) == {"q2": [1]}
    assert said(read_reply(THREE, ["q2"], "A")) == {"q2": [1]}
    assert codes(read_reply(THREE, ["q2"], "q1: A")) == {"q2": "unanswered"}


def test_c8_an_answer_that_is_given_anew_counts_instead_of_the_old_one() -> None:
    assert said(read_reply(THREE, ["q2"], "q1: C\nq2: A")) == {"q1": [3], "q2": [1]}


def test_c8_equal_answers_are_one_and_different_ones_are_none() -> None:
    assert said(read_reply(TWO, TWO.ids, "q1: A\nq2: B\nq1: Redis")) == {"q1": [1], "q2": [2]}
    read = read_reply(TWO, TWO.ids, "q1: A\nq2: B\nq1: C\nq1: A")
    assert (said(read), codes(read)) == ({"q2": [2]}, {"q1": "conflicting_answers"})


def test_c8_text_in_front_of_the_answers_is_kept_and_told() -> None:
    read = read_reply(TWO, TWO.ids, "Hello!\n\nq1: A\nq2: B")
    assert said(read) == {"q1": [1], "q2": [2]}
    assert read.notes == ("text outside of any answer: Hello!",)
