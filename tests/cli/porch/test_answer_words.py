"""What the words behind `porch answer` mean: a text, or one of the possible answers."""

import shlex
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.arguments import read_command_arguments
from porch.cli.decision_words import ARGUMENTS, read_decision
from porch.cli.verbs import CliCommand, View
from porch.run.verbs.read_run import read_run
from porch.store import where as places
from porch.text.printable import make_printable

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

ASKS: dict[str, Any] = {
    "work": [{"signal": "BLOCKED", "reason": "Is the server running or stopped?"}, {}]
}
FAIL = {"id": "build", "checks": {"unit": {"command": "false", "max_retries": 0}}}
GATED: dict[str, Any] = {"id": "write", "gate": {"name": "ready", "next": None}}
CASES = [({"id": "work"}, ASKS), (FAIL, {}), (GATED, {})]


@pytest.fixture
def blocked(desk: "Desk") -> "Desk":
    """An agent has asked a person whether the server is running or stopped."""
    desk.begin({"id": "work"}, agents=ASKS, code=3)
    return desk


def answer_of(desk: "Desk") -> tuple[str, str]:
    wish = desk.facts("WishTaken")[-1]["wish"]
    return wish["exit"], wish.get("text", "")


@pytest.mark.parametrize(
    "words",
    [
        ("stopped",),
        ("stopped", "since Monday"),
        ("stopped", "since", "Monday"),
        ("answered",),
        ("retry",),
        ("approved",),
        ("STOPPED",),
        ("\N{ZERO WIDTH SPACE}stopped",),
        ("--", "--option", "stopped"),
    ],
)
def test_every_word_behind_a_question_is_its_answer(
    blocked: "Desk", words: tuple[str, ...]
) -> None:
    """X13"""
    blocked.porch("answer", "1", "blocked:work", *words)
    said = " ".join(word for word in words if word != "--")
    assert answer_of(blocked) == ("answered", said)
    assert "is complete" in blocked.porch("resume", "1").out
    assert f"> {make_printable(said)}\n" in blocked.prompts()[1]


@pytest.mark.parametrize("reason", [(), ("it is down for good",)])
def test_a_run_is_ended_at_a_question_by_its_option(
    blocked: "Desk", reason: tuple[str, ...]
) -> None:
    blocked.porch("answer", "1", "blocked:work", *reason, "--option", "stopped")
    assert answer_of(blocked) == ("stopped", " ".join(reason))
    assert "abandoned" in blocked.porch("status").out


@pytest.mark.parametrize(
    "words, told",
    [
        (("blocked:work", "--option", "stoped"), "did you mean 'stopped'? possible: answered"),
        (("blocked:work", "--option", ""), "the option is empty"),
        (("blocked:work", "--option", "skip", "why"), "possible: answered, stopped"),
        (("blocked:work",), "the answer is empty"),
        (("", "running"), "the question is empty"),
        ((" ", "running"), "waiting now: blocked:work"),
        (("blocked-work", "running"), "did you mean 'blocked:work'?"),
        (("Blocked:work", "running"), "waiting now: blocked:work"),
    ],
)
def test_what_names_nothing_that_is_possible_decides_nothing(
    blocked: "Desk", words: tuple[str, ...], told: str
) -> None:
    said = blocked.porch("answer", "1", *words, code=2).err
    assert told in said
    assert blocked.facts("WishTaken") == []
    assert blocked.facts("WishRefused") == []


@pytest.mark.parametrize(
    "invisible", ["", " \n", "\N{ZERO WIDTH SPACE}", "\N{RIGHT-TO-LEFT MARK}\N{NO-BREAK SPACE}"]
)
def test_an_answer_that_nobody_can_see_says_nothing(blocked: "Desk", invisible: str) -> None:
    assert "needs a reason" in blocked.porch("answer", "1", "blocked:work", invisible, code=1).err
    assert blocked.facts("WishTaken") == []


@pytest.mark.parametrize(
    "words",
    [
        ("approved", "but fix the title"),
        ("approved", "but", "fix", "the", "title"),
        ("waived", "the", "title", "is", "wrong"),
    ],
)
def test_an_approval_with_words_behind_it_is_asked_back(
    desk: "Desk", words: tuple[str, ...]
) -> None:
    desk.begin(GATED, code=3)
    said = desk.porch("answer", "1", "ready", *words, code=2).err
    assert "error[unclear-answer]" in said
    assert desk.status()["gates"]["ready"]["status"] == "pending"


@pytest.mark.parametrize(
    "word", ["sure", "Approved", "approve", "ja", "\N{WHITE HEAVY CHECK MARK}"]
)
def test_words_that_are_no_answer_to_a_gate_leave_it_open(desk: "Desk", word: str) -> None:
    desk.begin(GATED, code=3)
    said = desk.porch("answer", "1", "ready", word, code=1).err
    assert "a text is not a possible answer to ready" in said
    assert desk.status()["gates"]["ready"]["status"] == "pending"


@pytest.mark.parametrize("phase, agents", CASES[1:2])
def test_an_answer_that_a_question_does_not_have_is_answered_with_those_it_has(
    desk: "Desk", phase: dict[str, Any], agents: dict[str, Any]
) -> None:
    desk.begin(phase, agents=agents, code=3)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    said = desk.porch("approve", "1", code=1).err
    assert "'approved' is not a possible answer to" in said
    for option in asked["options"]:
        assert f"`{option['command']}`" in said


@pytest.mark.parametrize("phase, agents", CASES, ids=["question", "failure", "gate"])
def test_the_commands_that_pending_prints_give_the_answers_that_it_names(
    desk: "Desk", phase: dict[str, Any], agents: dict[str, Any]
) -> None:
    desk.begin(phase, agents=agents, code=3)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    found = read_run(places.find_project(str(desk.root)), "0001-x")
    for option in asked["options"]:
        argv = shlex.split(option["command"])[1:]
        command = CliCommand(argv[0], "", lambda _: View(), ARGUMENTS[argv[0]])
        args = read_command_arguments("porch", command, argv)
        name, request = read_decision(argv[0], args, found)
        assert (name, request.exit) == (asked["name"], option["answer"])
