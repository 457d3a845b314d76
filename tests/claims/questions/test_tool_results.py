"""What question tools give back: labels, texts, nothing at all, and things nobody asked for."""

import json
from typing import Any

import pytest

from porch.claims.questions.question import QuestionAnswer, QuestionRound
from porch.claims.questions.tool_calls import question_text, split_calls
from porch.claims.questions.tool_results import read_tool_result
from porch.claims.questions.transports import NAMES, TRANSPORTS, TransportName
from tests.claims.questions.rounds import (
    CLOSED,
    FREE,
    MULTI,
    MULTI_FREE,
    OPEN,
    codes,
    make_round,
    said,
)

TOOLS = tuple(name for name in NAMES if name != "text")
BOTH = make_round(CLOSED, FREE)
MANY = make_round(
    *(f"{{text: '{n}?', options: [yes, no]}}" for n in range(5)), more="max_questions: 5"
)


def pack(round_: QuestionRound, name: TransportName, values: dict[str, Any]) -> str:
    """What the tool would say if a person had chosen or typed these values."""
    results = []
    for call in split_calls(round_, round_.ids, TRANSPORTS[name]):
        given = [values.get(each.id) for each in call]
        results.append(json.dumps(_pack_call(round_, name, call, given)))
    return "\n".join(results)


def _pack_call(round_: QuestionRound, name: TransportName, call: Any, given: list[Any]) -> Any:
    pairs = list(zip(call, given, strict=True))
    match name:
        case "claude":
            answers: Any = {question_text(round_, q): _joined(v) for q, v in pairs if v}
            return {"behavior": "allow", "updatedInput": {"questions": [], "answers": answers}}
        case "gemini":
            return {"answers": {str(at): _joined(v) for at, v in enumerate(given) if v}}
        case "opencode":
            return {"answers": [_listed(v) for v in given]}
        case "codex":
            return {"answers": {q.id: {"answers": _listed(v)} for q, v in pairs if v}}
        case _:
            return {"action": "accept", "content": _form_content(pairs)}


def _form_content(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for question, value in pairs:
        labels = [each.label for each in question.options]
        letters = ["ABCDEF"[labels.index(v)] if v in labels else "OTHER" for v in _listed(value)]
        texts = [v for v in _listed(value) if v not in labels]
        if value and not question.options:
            content[question.id] = value
        elif value:
            content[question.id] = letters if question.multi else letters[0]
            content |= {f"{question.id}_text": texts[0]} if texts else {}
    return content


def _joined(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


@pytest.mark.parametrize("name", TOOLS)
def test_c13_what_was_chosen_or_typed_comes_back_through_every_tool(name: TransportName) -> None:
    read = read_tool_result(
        BOTH, BOTH.ids, name, pack(BOTH, name, {"q1": "Memory", "q2": "A month"})
    )
    assert (said(read), codes(read)) == ({"q1": [2], "q2": "A month"}, {})


@pytest.mark.parametrize("name", [name for name in TOOLS if name != "codex"])
def test_c13_several_choices_come_back_through_every_tool_that_has_them(
    name: TransportName,
) -> None:
    round_ = make_round(MULTI, FREE)
    text = pack(round_, name, {"q3": ["Windows", "Linux"], "q2": "One day"})
    assert said(read_tool_result(round_, round_.ids, name, text)) == {"q3": [1, 3], "q2": [1]}


@pytest.mark.parametrize("name", TOOLS)
def test_c9_the_results_of_several_calls_stand_on_a_line_each(name: TransportName) -> None:
    values = {id_: "yes" if n % 2 else "no" for n, id_ in enumerate(MANY.ids)}
    text = pack(MANY, name, values)
    read = read_tool_result(MANY, MANY.ids, name, text)
    assert said(read) == {id_: [1 if v == "yes" else 2] for id_, v in values.items()}
    front = text.splitlines()[0]
    assert read_tool_result(MANY, MANY.ids, name, front).answers.items() <= read.answers.items()


@pytest.mark.parametrize("name", TOOLS)
def test_c10_what_is_not_among_the_options_of_a_closed_question_is_refused(
    name: TransportName,
) -> None:
    round_ = make_round(CLOSED)
    for typed in ("Valkey", "Redi", "A, B", "yes", "1"):
        read = read_tool_result(round_, round_.ids, name, pack(round_, name, {"q1": typed}))
        assert (said(read), codes(read)) == ({}, {"q1": "not_an_option"})


@pytest.mark.parametrize("name", TOOLS)
def test_c10_nothing_is_no_answer(name: TransportName) -> None:
    empty = ["", "{}", "[]", "null", '""', "0", '{"answers": {}}', '{"answers": []}', "[[], []]"]
    empty += ['{"answers": {"q1": null}}', '{"answers": {"0": ""}}', '{"action": "accept"}']
    empty += ['{"answers": [["", null], [[]]]}', '{"answers": "dismissed"}', '{"answers": null}']
    for text in (*empty, pack(BOTH, name, {})):
        read = read_tool_result(BOTH, BOTH.ids, name, text)
        assert (said(read), codes(read)) == ({}, {"q1": "unanswered", "q2": "unanswered"}), text


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("text", ["The user dismissed it.", "{", "[" * 100_000, "nan,", "{}\n{"])
def test_c10_a_result_that_cannot_be_read_is_no_answer(name: TransportName, text: str) -> None:
    read = read_tool_result(BOTH, BOTH.ids, name, text)
    assert set(codes(read).values()) == {"unreadable_result"}
    assert said(read) == {}


@pytest.mark.parametrize("action, code", [("decline", "declined"), ("cancel", "dismissed")])
def test_c10_a_declined_form_is_told_apart_from_a_closed_one(action: str, code: str) -> None:
    text = json.dumps({"result": {"action": action, "content": {"q1": "A", "q2": "A"}}})
    read = read_tool_result(BOTH, BOTH.ids, "mcp", text)
    assert (said(read), set(codes(read).values())) == ({}, {code})


def test_c10_a_form_with_values_that_were_not_offered_is_refused() -> None:
    def form(**content: Any) -> Any:
        text = json.dumps({"action": "accept", "content": content})
        read = read_tool_result(BOTH, BOTH.ids, "mcp", text)
        return said(read) | codes(read)

    assert form(q1="D", q2="A") == {"q1": "not_an_option", "q2": [1]}
    assert form(q1="OTHER", q1_text="x", q2="OTHER") == {"q1": "not_an_option", "q2": "needs_text"}
    assert form(q1=["A", "B"], q2=["A", "B"]) == {"q1": "several_choices", "q2": "several_choices"}
    assert form(q1="A", q1_text="x", q2="B", q2_text="why") == {"q1": [1], "q2": ([2], "why")}
    assert form(q1=1, q2_text="only this") == {"q1": "not_an_option", "q2": "only this"}
    assert form(q1={"a": 1}, q2=[]) == {"q1": "unanswered", "q2": "unanswered"}
    assert read_tool_result(BOTH, BOTH.ids, "mcp", '{"action": ["x"]}').answers == {}


def test_c10_the_words_of_a_place_for_text_are_no_text() -> None:
    text = json.dumps(
        {"answers": {"Which store?": "Redis", "How long?": "Other (type your answer)"}}
    )
    read = read_tool_result(BOTH, BOTH.ids, "claude", text)
    assert codes(read) == {"q2": "needs_text"}


def test_c13_claude_is_read_by_the_text_also_of_a_question_that_was_asked_again() -> None:
    text = json.dumps(
        {"answers": {"Not possible: no\nWhich store?": "File", "How long?": "A week"}}
    )
    assert said(read_tool_result(BOTH, BOTH.ids, "claude", text)) == {"q1": [3], "q2": [2]}
    listed = json.dumps({"answers": {"Which store?": ["File"], "Nobody asked?": "x"}})
    assert said(read_tool_result(BOTH, BOTH.ids, "claude", listed)) == {"q1": [3]}


def test_c13_notes_of_codex_stand_beside_the_choice_or_are_the_text() -> None:
    def codex(*values: str, question: str = FREE) -> Any:
        round_ = make_round(question)
        text = json.dumps({"answers": {round_.ids[0]: {"answers": list(values)}}})
        read = read_tool_result(round_, round_.ids, "codex", text)
        return [*said(read).values(), *codes(read).values()]

    assert codex("A week", "user_note: not sure") == [([2], "not sure")]
    assert codex("user_note: a month") == ["a month"]
    assert codex("Other (type your answer)", "user_note: a month") == ["a month"]
    assert codex("user_note: ") == ["unanswered"]
    assert codex("user_note: a month", question=CLOSED) == ["not_an_option"]
    assert codex("One day", "A week") == ["several_choices"]
    assert codex("One day", "my own") == ["several_choices"]


def test_c11_options_and_a_text_come_back_together() -> None:
    round_ = make_round(MULTI_FREE)
    read = read_tool_result(round_, round_.ids, "opencode", '[["Red", "green"]]')
    assert read.answers == {"q5": QuestionAnswer((1,), "green")}
    text = '{"action": "accept", "content": {"q5": ["A", "OTHER"], "q5_text": "green"}}'
    assert read_tool_result(round_, round_.ids, "mcp", text).answers == read.answers


def test_a_label_with_a_comma_is_one_label() -> None:
    text = "{text: a, options: ['Red, dark', Blue], multi: true}"
    round_ = make_round(text)
    read = read_tool_result(round_, round_.ids, "claude", '{"answers": {"a": "Red, dark"}}')
    assert said(read) == {"q1": [1]}


def test_a_question_without_options_is_answered_by_every_text() -> None:
    round_ = make_round(OPEN)
    assert said(read_tool_result(round_, ["q4"], "gemini", '{"answers": {"0": "x"}}')) == {
        "q4": "x"
    }
    form = '{"action": "accept", "content": {"q4": "x"}}'
    assert said(read_tool_result(round_, ["q4"], "mcp", form)) == {"q4": "x"}
    empty = '{"action": "accept", "content": {"q4": " "}}'
    assert codes(read_tool_result(round_, ["q4"], "mcp", empty)) == {"q4": "needs_text"}


def test_half_characters_of_json_become_question_marks() -> None:
    read = read_tool_result(BOTH, ["q2"], "codex", '{"answers": {"q2": {"answers": ["\\ud800x"]}}}')
    assert said(read) == {"q2": "?x"}
