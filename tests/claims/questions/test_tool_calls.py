"""One question object in the shapes of all question tools."""

from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from porch.claims.questions.tool_calls import render_calls, split_calls, unfit_reason
from porch.claims.questions.transports import NAMES, TRANSPORTS, TransportName
from tests.claims.questions.rounds import CLOSED, FREE, MULTI, MULTI_FREE, OPEN, make_round

BOTH = make_round(CLOSED, FREE)
MANY = make_round(
    *(f"{{text: '{n}?', options: [yes, no]}}" for n in range(5)), more="max_questions: 5"
)


def calls_of(*asked: Any) -> list[Any]:
    return list(render_calls(*asked))


def first(name: TransportName, at: int = 0, *questions: str) -> Any:
    round_ = make_round(*questions) if questions else BOTH
    return calls_of(round_, round_.ids, name)[0]["questions"][at]


@pytest.mark.req("C-005", "C-010")
def test_c10_claude_gets_the_options_and_no_place_for_text_beside_its_own() -> None:
    assert calls_of(BOTH, BOTH.ids, "claude") == [
        {
            "questions": [
                {
                    "question": "Which store?",
                    "header": "Q1",
                    "options": [
                        {"label": "Redis", "description": ""},
                        {"label": "Memory", "description": ""},
                        {"label": "File", "description": ""},
                    ],
                    "multiSelect": False,
                },
                {
                    "question": "How long?",
                    "header": "Q2",
                    "options": [
                        {"label": "One day", "description": ""},
                        {"label": "A week", "description": ""},
                    ],
                    "multiSelect": False,
                },
            ]
        }
    ]


@pytest.mark.req("C-012")
def test_opencode_gets_its_own_word_for_several() -> None:
    told = first("opencode", 0, MULTI)
    assert (told["multiple"], "multiSelect" in told) == (True, False)
    assert first("opencode", 0, OPEN)["options"] == []


@pytest.mark.req("C-019")
def test_gemini_gets_types() -> None:
    assert first("gemini")["type"] == "choice"
    assert first("gemini", 0, OPEN) == {
        "question": "Anything else?",
        "header": "Q4",
        "type": "text",
    }


@pytest.mark.req("C-025")
def test_codex_gets_ids() -> None:
    told = first("codex", 1)
    assert (told["id"], [each["label"] for each in told["options"]]) == (
        "q2",
        ["One day", "A week"],
    )


def test_c13_mcp_gets_a_form_with_letters_and_a_place_for_text() -> None:
    (call,) = calls_of(make_round(FREE), ["q2"], "mcp")
    assert call["method"] == "elicitation/create"
    assert call["params"]["mode"] == "form"
    assert call["params"]["message"].startswith("How long?\n   A) One day")
    assert call["params"]["requestedSchema"] == {
        "type": "object",
        "properties": {
            "q2": {
                "type": "string",
                "title": "Q2",
                "oneOf": [
                    {"const": "A", "title": "One day"},
                    {"const": "B", "title": "A week"},
                    {"const": "OTHER", "title": "Other (type your answer)"},
                ],
            },
            "q2_text": {"type": "string", "title": "Q2: Other (type your answer)"},
        },
        "required": ["q2"],
    }


def test_c13_the_form_of_mcp_is_a_schema_that_takes_every_legal_answer() -> None:
    round_ = make_round(CLOSED, MULTI, MULTI_FREE, OPEN)
    schema = calls_of(round_, round_.ids, "mcp")[0]["params"]["requestedSchema"]
    Draft202012Validator.check_schema(schema)
    content = {"q1": "C", "q3": ["A", "B"], "q5": ["OTHER"], "q5_text": "x", "q4": "words"}
    assert Draft202012Validator(schema).is_valid(content)
    assert not Draft202012Validator(schema).is_valid({**content, "q1": "D"})


@pytest.mark.parametrize(
    "name, sizes",
    [("claude", [4, 1]), ("codex", [3, 2]), ("gemini", [4, 1]), ("opencode", [5]), ("mcp", [5])],
)
def test_c9_five_questions_go_out_in_as_many_calls_as_the_tool_needs(
    name: TransportName, sizes: list[int]
) -> None:
    calls = split_calls(MANY, MANY.ids, TRANSPORTS[name])
    assert [len(call) for call in calls] == sizes
    assert [each.id for call in calls for each in call] == list(MANY.ids)
    assert len(calls_of(MANY, MANY.ids, name)) == len(sizes)


@pytest.mark.parametrize(
    "name, most", [("claude", 12), ("gemini", 16), ("opencode", 30), ("codex", 12)]
)
def test_c13_headers_are_cut_to_what_the_tool_shows(name: TransportName, most: int) -> None:
    long = "{text: a, header: A header that is much too long for all of them, options: [Yes, No]}"
    assert len(first(name, 0, long)["header"]) == most


def test_context_example_and_what_is_recommended_reach_every_tool() -> None:
    text = """{text: Which?, context: Sessions., example: Redis,
      options: [{label: Redis, description: fast, recommended: true}, Memory]}"""
    round_ = make_round(text)
    for name in ("claude", "codex", "gemini", "opencode"):
        told = calls_of(round_, round_.ids, name)[0]["questions"][0]
        assert told["question"] == "Which?\nSessions.\nFor example: Redis"
        assert told["options"][0] == {"label": "Redis (Recommended)", "description": "fast"}


def test_c10_a_refused_question_is_asked_again_with_the_reason() -> None:
    again = calls_of(BOTH, ["q1"], "claude", {"q1": "'Valkey' is not one of the options"})
    (question,) = again[0]["questions"]
    assert question["question"] == (
        "Not possible: 'Valkey' is not one of the options\nWhich store?"
    )
    (form,) = calls_of(BOTH, ["q1"], "mcp", {"q1": "no"})
    assert form["params"]["message"].startswith("Not possible: no\nQ1 Which store?")


@pytest.mark.parametrize(
    "question, unfit",
    [
        (CLOSED, set()),
        (MULTI, {"codex"}),
        (OPEN, {"claude", "codex"}),
        ("{text: a, options: [a1, b1, c1, d1, e1]}", {"claude", "gemini"}),
        ("{text: a, options: [a1]}", {"claude", "gemini"}),
        ("{text: a, options: [a1], free: true}", {"claude", "gemini"}),
    ],
)
def test_c9_what_a_tool_cannot_carry_is_known_before_it_is_asked(
    question: str, unfit: set[str]
) -> None:
    (asked,) = make_round(question).questions
    assert {name for name in NAMES if unfit_reason(asked, TRANSPORTS[name])} == unfit


def test_every_transport_has_its_row() -> None:
    assert set(get_args(TransportName)) == set(NAMES) == set(TRANSPORTS)
