"""Files of questions: what they say, what is wrong with them, and what could be better."""
# ruff: noqa: RUF001 - labels of other languages

import pytest

from porch.claims.questions.question import Choice
from porch.claims.questions.question_file import read_questions
from porch.claims.questions.text_form import render_round
from porch.errors import DefinitionError
from porch.text.formats import read_yaml
from tests.claims.questions.rounds import CLOSED, FREE, MULTI, OPEN, make_round


def wrong(*questions: str, more: str = "") -> set[str]:
    with pytest.raises(DefinitionError) as error:
        make_round(*questions, more=more)
    return {each.code for each in error.value.findings}


def advice(*questions: str) -> list[str]:
    listed = "\n".join(f"  - {each}" for each in questions)
    tree = read_yaml(f"questions:\n{listed}\n", "q.yaml")
    return [each.code for each in read_questions(tree, "q.yaml").warnings]


def test_a_question_has_all_that_its_file_says() -> None:
    text = """{id: Q2, text: Which?, header: Store, context: Sessions., example: A,
      options: [{label: Redis, description: fast, recommended: true}, 42], multi: true}"""
    (question,) = make_round(text).questions
    assert question.options == (Choice("Redis", "fast", True), Choice("42"))
    assert (question.id, question.header, question.context) == ("q2", "Store", "Sessions.")
    assert (question.example, question.multi, question.free) == ("A", True, False)


def test_c15_what_a_worker_needs_is_a_file_of_questions() -> None:
    inner = '{"questions": [{"text": "a", "options": ["Redis", "Memory"]}]}'
    plain = read_questions(read_yaml(inner, "q.yaml"), "q.yaml")
    assert read_questions(read_yaml(f'{{"needs_input": {inner}}}', "q.yaml"), "q.yaml") == plain
    for odd in ("{needs_input: [a]}", f'{{"needs_input": {inner}, "language": "en"}}'):
        with pytest.raises(DefinitionError):
            read_questions(read_yaml(odd, "q.yaml"), "q.yaml")


def test_questions_without_ids_are_numbered() -> None:
    assert make_round("{text: a, free: true}", "{text: b, free: true}").ids == ("q1", "q2")


@pytest.mark.parametrize(
    "questions, protocol",
    [
        ((CLOSED,), "ask-single-question-closed"),
        ((FREE,), "ask-single-question-free"),
        ((CLOSED, MULTI), "ask-multi-question-closed"),
        ((CLOSED, FREE), "ask-multi-question-free"),
    ],
)
def test_the_protocol_follows_from_the_questions(questions: tuple[str, ...], protocol: str) -> None:
    assert make_round(*questions).protocol == protocol
    assert make_round(*questions, more=f"protocol: {protocol}").protocol == protocol


@pytest.mark.req("C-002")
def test_a_protocol_for_one_question_refuses_two() -> None:
    assert wrong(CLOSED, MULTI, more="protocol: ask-single-question-closed") == {
        "too-many-questions"
    }
    assert wrong(CLOSED, FREE, more="protocol: ask-multi-question-closed") == {"not-closed"}
    assert wrong(CLOSED, more="protocol: ask-me") == {"unknown-question-protocol"}


@pytest.mark.req("C-013")
def test_c9_four_questions_at_once_unless_the_file_sets_another_cap() -> None:
    five = [f"{{text: '{n}?', options: [a1, b1]}}" for n in range(5)]
    assert wrong(*five) == {"too-many-questions"}
    assert len(make_round(*five, more="max_questions: 5").questions) == 5
    assert wrong(*five[:3], more="max_questions: 2") == {"too-many-questions"}
    assert wrong(*five, more="max_questions: 21") == {"too-many-questions"}
    assert wrong(*five[:2], more="max_questions: 0") == {"wrong-type"}


def test_c9_options_end_with_the_letters() -> None:
    labels = ", ".join(f"o{n}" for n in range(26))
    assert len(make_round(f"{{text: a, options: [{labels}]}}").questions[0].letters) == 26
    assert wrong(f"{{text: a, options: [{labels}, o26]}}") == {"too-many-options"}
    assert wrong(f"{{text: a, options: [{labels}], free: true}}") == {"too-many-options"}


@pytest.mark.req("C-006", "C-021")
def test_c9_two_or_three_options_are_best() -> None:
    assert advice("{text: a, options: [one], free: true}") == ["option-count"]
    assert advice("{text: a, options: [o1, o2, o3, o4, o5, o6], free: true}") == ["option-count"]
    assert advice("{text: a, options: [o1, o2, o3, o4], free: true}") == ["option-count"]
    assert advice("{text: a, options: [o1, o2, o3, o4]}", FREE, OPEN) == []
    assert advice("{text: a, options: [o1]}") == ["option-count"]


@pytest.mark.parametrize(
    "pair", ["Redis, redis", "Redis, 'Redis.'", "Ａ1, a1", "x, 'X (Recommended)'"]
)
def test_c7_options_that_cannot_be_told_apart_are_refused(pair: str) -> None:
    assert "same-option" in wrong(f"{{text: a, options: [{pair}]}}")


def test_c7_the_letter_of_another_option_is_no_label() -> None:
    assert wrong("{text: a, options: [B, A]}") == {"label-is-a-letter"}
    assert len(make_round("{text: a, options: [A, B]}").questions) == 1
    assert len(make_round("{text: a, options: [Python, R]}").questions) == 1


@pytest.mark.req("C-007", "C-008", "C-009")
@pytest.mark.parametrize(
    "label", ["其他（可填写）", "自由输入", "自定义", "Something else", "Autre"]
)
def test_c7_the_place_for_a_text_has_any_label(label: str) -> None:
    flagged = f"{{text: a, options: [Redis, Memory, {{label: {label}, free: true}}]}}"
    named = f"{{text: a, options: [Redis, Memory], free: {label}}}"
    for text in (flagged, named):
        round_ = make_round(text)
        assert f"   C) {label}" in render_round(round_, round_.ids)
        assert round_.questions[0].free_label == label
        assert advice(text) == []


@pytest.mark.parametrize("label", ["其他（可填写）", "自由输入", "自定义", "自定义答案", "Other"])
def test_c7_a_place_for_a_text_that_stands_there_gets_no_second_one(label: str) -> None:
    (question,) = make_round(
        f"{{text: a, options: [Redis, Memory, {label}], free: true}}"
    ).questions
    assert (len(question.options), question.free_label, question.letters) == (2, label, "ABC")


def test_c10_a_place_for_a_text_is_added_where_none_stands() -> None:
    (question,) = make_round("{text: a, options: [Redis, Memory], free: true}").questions
    assert (question.free_label, question.letters) == ("Other (type your answer)", "ABC")
    (other,) = make_round(
        "{text: a, options: [Redis, Memory], free: true}", more="language: zh"
    ).questions
    assert other.free_label == "其他（可填写）"


@pytest.mark.parametrize(
    "text, code",
    [
        ("{text: a}", "no-options"),
        ("{text: a, options: []}", "no-options"),
        ("{options: [Redis, Memory]}", "missing-key"),
        ("{text: '', free: true}", "missing-key"),
        ("{id: first, text: a, free: true}", "bad-question-id"),
        ("{id: q0, text: a, free: true}", "bad-question-id"),
        ("{text: a, free: [yes]}", "wrong-type"),
        ("{text: a, options: [[Redis], Memory]}", "wrong-type"),
        ("{text: a, options: [null, Memory]}", "wrong-type"),
        ("{text: a, options: [{label: ''}, Memory]}", "missing-key"),
        ("{text: a, options: [{label: Own, free: true}, Memory]}", "free-not-last"),
        ("{text: a, free: true, optoins: [Redis]}", "unknown-key"),
        ("{text: a, options: [{label: Redis, lable: x}, Memory]}", "unknown-key"),
        (f"{{text: {'x' * 4001}, free: true}}", "question-too-long"),
        (f"{{text: a, options: [{'x' * 201}, Memory]}}", "question-too-long"),
        ("just words", "wrong-type"),
    ],
)
def test_what_is_wrong_with_a_question_is_said_with_its_code(text: str, code: str) -> None:
    assert code in wrong(text)


def test_two_questions_need_two_ids_and_two_texts() -> None:
    assert wrong("{id: q1, text: a, free: true}", "{id: q1, text: b, free: true}") == {
        "same-question"
    }
    assert wrong("{text: a, free: true}", "{text: a, free: true}") == {"same-question"}


@pytest.mark.parametrize(
    "file, code",
    [
        ("- text: a\n", "wrong-type"),
        ("questions: []\n", "no-questions"),
        ("questions: {text: a}\n", "wrong-type"),
        ("questions:\n  - {text: a, free: true}\nlanguage: fr\n", "unknown-language"),
    ],
)
def test_what_is_wrong_with_the_file_is_said_with_its_code(file: str, code: str) -> None:
    with pytest.raises(DefinitionError) as error:
        read_questions(read_yaml(file, "q.yaml"), "q.yaml")
    assert code in {each.code for each in error.value.findings}
