"""A form that somebody types behind `porch answer`: as YAML, or as words that mean one thing."""

import json
from pathlib import Path
from typing import Any

import pytest

from porch.errors import PorchError
from porch.plan.gates.form_answers import pose_question
from porch.plan.session.plan_session import hold_plan
from porch.store.where import ProjectPaths
from tests.plan.gatehouse import (
    NAMES,
    answered,
    approach,
    ask,
    block,
    file,
    ready,
    say,
)
from tests.plan.yards import refused, write

CHOICES = [
    "variants: {A: {decision: main, reason: short}, B: {decision: discard}}",
    "{variants: {A: {decision: main, reason: short}, B: {decision: rejected}}}",
    "{\n variants: {A: {decision: MAIN, reason: short}, B: {decision: rejected}},\n}\n",
    "variants:\n  A:\n    decision: main\n    reason: short\n  B:\n    decision: discard\n",
    "done: false\nvariants: {A: {decision: main, reason: short}, B: {decision: discard}}",
    "variants: {A: {decision: main, reason: short}, B: {decision: discard}}\ndone: true\n",
]


@pytest.mark.parametrize("text", CHOICES)
def test_a_form_is_yaml_of_either_style_and_handed_over_is_finished(
    where: ProjectPaths, text: str
) -> None:
    ready(where, "variants")
    ask(where, "variants")
    say(where, "variants:2", text)
    told = answered(where, "variants")
    assert (told["variant_solution"], told["reason"]) == ("main", "short")
    assert answered(where, "variants", "2_B")["variant_solution"] == "discard"


@pytest.mark.parametrize("gate", ["findings", "logging"])
def test_plain_words_are_thoughts_where_nothing_else_is_asked(
    where: ProjectPaths, gate: str
) -> None:
    ready(where, gate)
    ask(where, gate)
    say(where, NAMES[gate], "Go on")
    told = answered(where, gate)
    assert (told["thoughts"], told["channel"]) == ("Go on", "cli")


def test_plain_words_answer_the_only_question_of_a_reviewer(where: ProjectPaths) -> None:
    write(where, "1")
    with hold_plan(where) as desk:
        pose_question(desk, "clarifying", "1", {"reason": "Why?", "questions": ["Why?"]})
    say(where, "clarifying:1", "Speed")
    with hold_plan(where) as desk:
        form = desk.recalled("clarifying.answer", "1")["form"]
    assert form["questions"] == [{"question": "Why?", "answer": "Speed"}]


@pytest.mark.parametrize("gate", ["plan", "testing", "variants"])
def test_plain_words_that_could_mean_anything_are_no_answer(where: ProjectPaths, gate: str) -> None:
    ready(where, gate)
    ask(where, gate)
    with refused("bad-form"):
        say(where, NAMES[gate], "fine")
    ask(where, gate)


@pytest.mark.parametrize(
    "gate, example",
    [
        ("testing", {"test_passed": False, "user_required_changes": "Crash: see log"}),
        ("plan", {"user_required_plan_changes": "Crash: see log"}),
        (
            "variants",
            {
                "variants": {"A": {"decision": "main"}, "B": {"decision": "discard"}},
                "thoughts": "Crash: see log",
            },
        ),
    ],
)
def test_k9_plain_words_are_refused_with_an_example_about_this_very_question(
    where: ProjectPaths, gate: str, example: dict[str, Any]
) -> None:
    ready(where, gate)
    ask(where, gate)
    with pytest.raises(PorchError) as caught:
        say(where, NAMES[gate], "Crash: see log")
    (found,) = caught.value.findings
    shown = found.fix.split("for example: ")[1].split("\n")[0]
    assert json.loads(shown) == example
    say(where, NAMES[gate], shown)
    assert answered(where, gate)["state"] == "answered"


def test_k9_words_with_a_colon_are_words_where_words_are_an_answer(where: ProjectPaths) -> None:
    ready(where, "logging")
    ask(where, "logging")
    said = "It fails here: line 3\nNote: only at night"
    say(where, "logging:1", said)
    assert answered(where, "logging")["thoughts"] == said


@pytest.mark.parametrize(
    "text, missing",
    [
        ("questions: []", ["Why?", "How many of them?"]),
        ("questions: [{question: Why?, answer: so}]", ["How many of them?"]),
        ("questions: [{question: Why?, answer: so}, {question: Else?, answer: no}]", ["How many"]),
        ("thoughts: I do not know", ["Why?", "How many of them?"]),
    ],
)
def test_k9_questions_that_were_not_answered_are_listed(
    where: ProjectPaths, text: str, missing: list[str]
) -> None:
    write(where, "1")
    asked = ["Why?", "How many  of\nthem?"]
    with hold_plan(where) as desk:
        pose_question(desk, "clarifying", "1", {"reason": "", "questions": asked})
    with pytest.raises(PorchError) as caught:
        say(where, "clarifying:1", text)
    told = str(caught.value)
    assert "every question needs an answer; none is given to: " in told
    assert all(each in told for each in missing)
    rows = json.dumps([{"question": each, "answer": "yes"} for each in asked])
    say(where, "clarifying:1", f"{{questions: {rows}}}")


def test_two_questions_are_not_answered_by_one_word(where: ProjectPaths) -> None:
    write(where, "1")
    with hold_plan(where) as desk:
        pose_question(desk, "clarifying", "1", {"reason": "", "questions": ["Why?", "How?"]})
    with refused("bad-form"):
        say(where, "clarifying:1", "Speed")


WRONG = [
    ("testing", "test_passed: maybe", "wrong-value"),
    ("testing", "test_passed: false", "wish-refused"),
    ("testing", "tests_passed: true", "unknown-key"),
    ("testing", "test_passed: true\ntest_passed: false", "duplicate-key"),
    ("testing", "test_passed: [", "yaml-syntax"),
    ("testing", "{test_passed: &a true}", "yaml-alias"),
    ("testing", "- a: b", "bad-form"),
    ("testing", "{test_passed: true, thoughts: {a: b}}", "wrong-type"),
    ("testing", "thoughts: fine", "wrong-value"),
    ("variants", "variants: {A: {decision: main}}", "missing-key"),
    ("variants", "variants: {A: {decision: main}, B: {decision: main}}", "wish-refused"),
    ("variants", "variants: {A: {decision: main}, B: {decision: best}}", "wrong-value"),
    ("variants", "variants: {A: {decision: main}, B: {reason: slow}}", "wish-refused"),
]


@pytest.mark.parametrize("gate, text, code", WRONG)
def test_what_is_wrong_with_a_form_is_said_and_the_question_stays_open(
    where: ProjectPaths, gate: str, text: str, code: str
) -> None:
    ready(where, gate)
    before = ask(where, gate)["decision"]
    with pytest.raises(PorchError) as caught:
        say(where, NAMES[gate], text)
    assert caught.value.findings[0].code == code, caught.value
    assert ask(where, gate)["decision"] == before


def test_all_variants_of_an_approach_cannot_be_rejected_in_words_either(
    where: ProjectPaths,
) -> None:
    approach(where, "1_A")
    approach(where, "1_B")
    ask(where, "findings")
    no = "{user_required_changes: '', rejected: true}"
    with refused("all-variants-rejected"):
        say(where, "findings", f"approach_feedback: {{web_1_A: {no}, web_1_B: {no}}}")
    with refused("missing-key"):
        say(where, "findings", f"approach_feedback: {{web_1_A: {no}}}")
    ask(where, "findings")


def test_logs_in_the_file_beside_belong_to_a_spoken_form(where: ProjectPaths) -> None:
    ready(where, "logging")
    ask(where, "logging")
    logs = file(where, "1_logging_logs.md")
    logs.write_text(logs.read_text() + "Traceback: one\n  two\n")
    say(where, "logging:1", "thoughts: line two")
    told = answered(where, "logging")
    assert (told["logs"], told["thoughts"]) == ("Traceback: one\n  two", "line two")


def test_long_logs_in_the_file_beside_come_back_whole(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAX_LOGS_TOKENS", "300000")
    ready(where, "logging")
    ask(where, "logging")
    file(where, "1_logging_logs.md").write_text("z" * 100_000)
    say(where, "logging:1", "thoughts: all of it")
    assert answered(where, "logging")["logs"] == "z" * 100_000


def test_logs_that_are_too_large_or_no_file_are_refused(
    where: ProjectPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(where, "logging")
    ask(where, "logging")
    logs = file(where, "1_logging_logs.md")
    logs.write_text("x" * 500)
    monkeypatch.setenv("MAX_LOGS_TOKENS", "100")
    with refused("logs-too-large"):
        say(where, "logging:1", "fine")
    logs.unlink()
    logs.symlink_to(tmp_path / "elsewhere")
    with refused("not-a-file"):
        say(where, "logging:1", "fine")
    logs.unlink()
    say(where, "logging:1", "fine")
    assert answered(where, "logging")["logs"] == ""


def test_what_is_not_asked_cannot_be_answered(where: ProjectPaths) -> None:
    ready(where, "testing")
    with refused("not-asked"):
        say(where, "testing:1", "test_passed: true")
    ask(where, "testing")
    with refused("not-asked"):
        say(where, "testing:2", "test_passed: true")
    assert block(where, "testing").is_pending
