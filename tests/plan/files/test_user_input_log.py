"""The log of what people said: every word of theirs, under a label, in an entry of its own."""

from typing import Any

import pytest

from porch.plan.files import user_input_log


def test_an_entry_is_a_rule_a_time_and_the_words() -> None:
    assert (
        user_input_log.render_entry("T1", "  Make it blue.\n\n")
        == "\n---\n**T1**\n\nMake it blue.\n"
    )


def test_an_entry_of_an_answer_says_which_in_a_comment_that_nothing_can_end() -> None:
    told = user_input_log.render_entry("T1", "Yes", "testing:1#2")
    assert told == "\n---\n**T1** <!-- testing:1#2 -->\n\nYes\n"
    assert user_input_log.render_kept_part("testing:1#2", "Yes") in told
    assert user_input_log.render_kept_part("testing:1#2", "No") not in told
    assert user_input_log.render_mark("a--b-->").count("-->") == 1


def test_answers_to_two_visits_of_a_gate_are_two_entries() -> None:
    one, two = (user_input_log.render_entry("T", "Yes", f"testing:1#{visit}") for visit in (1, 2))
    assert user_input_log.render_kept_part("testing:1#1", "Yes") not in two
    assert user_input_log.render_kept_part("testing:1#2", "Yes") not in one


CASES: list[tuple[str, str, dict[str, Any], str]] = [
    ("findings", "", {"thoughts": ""}, "[Findings Gate]\n(no words)"),
    (
        "findings",
        "",
        {
            "thoughts": "Well done.",
            "approach_feedback": {
                "backend_1_2_A": {
                    "user_required_changes": "Smaller.\nMuch.",
                    "question_answers": [
                        {"question": "Why?", "answer": "Speed"},
                        {"question": "How?", "answer": ""},
                    ],
                },
                "web_3_B": {"user_required_changes": "", "rejected": True},
                "web_4": {"user_required_changes": "  "},
            },
        },
        (
            "[Findings Gate]\nWell done.\n\n"
            "[User Required Changes for backend_1 approach 2_A]\nSmaller.\nMuch.\n\n"
            "[User Addressed Questions for backend_1 approach 2_A]\nQ: Why?\nA: Speed\n\n"
            "[Rejected web approach 3_B]\nrejected"
        ),
    ),
    (
        "plan",
        "",
        {
            "thoughts": "",
            "user_required_plan_changes": "Begin with 2.",
            "prompt_feedback": {
                "1": {"user_required_changes": ""},
                "2_A": {"user_required_changes": "Test it."},
            },
        },
        (
            "[Plan Gate]\n(no words)\n\n[User Required Plan Changes]\nBegin with 2.\n\n"
            "[User Required Changes for Prompt 2_A]\nTest it."
        ),
    ),
    (
        "testing",
        "2_A",
        {"thoughts": "Hm.", "test_passed": False, "user_required_changes": "It crashes."},
        (
            "[Testing Gate 2_A]\nHm.\ntest_passed: false\n\n"
            "[User Required Changes for 2_A]\nIt crashes."
        ),
    ),
    (
        "testing",
        "1",
        {"thoughts": "", "test_passed": True, "user_required_changes": ""},
        "[Testing Gate 1]\ntest_passed: true",
    ),
    ("logging", "1", {"thoughts": "See line 3.", "logs": "..."}, "[Logging Gate 1]\nSee line 3."),
    (
        "variants",
        "2",
        {
            "thoughts": "",
            "variants": {
                "A": {"decision": "main", "reason": ""},
                "B": {"decision": "discard", "reason": "slow"},
            },
        },
        "[Variants Gate 2]\nA: main\nB: discard - slow",
    ),
    (
        "clarifying",
        "1",
        {
            "thoughts": "",
            "questions": [{"question": "Which?", "answer": "The new one"}],
            "suggested_changes": "Rename it.",
        },
        (
            "[Review Clarifications 1]\n(no words)\n\nQ: Which?\nA: The new one\n\n"
            "[Suggested Changes]\nRename it."
        ),
    ),
    ("rounds", "1", {"thoughts": "once more"}, "[Review Rounds 1]\nonce more"),
]


@pytest.mark.parametrize("gate, item, form, told", CASES)
def test_everything_that_was_said_is_told_and_nothing_that_was_not(
    gate: str, item: str, form: dict[str, Any], told: str
) -> None:
    assert user_input_log.render_answer(gate, item, form) == told
