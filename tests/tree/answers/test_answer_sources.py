"""Where an answer is looked for, and which conversations whoever is asked can have."""

import json
from pathlib import Path
from typing import Any

import pytest

from porch.agents.events import Answered
from porch.agents.port import Outcome
from porch.agents.scripted import adapter as scripted
from porch.machine import facts as f
from porch.tree.answers import answer_sources
from tests.tree.conftest import SCAFFOLD, TO_TESTS, Bench


def block(entry: dict[str, Any], info: str = "json") -> str:
    said = {"exit": entry["exit"], "payload": entry["payload"]}
    return f"```{info}\n{json.dumps(said)}\n```"


def in_words(final: str, **more: Any) -> dict[str, Any]:
    return {"write": SCAFFOLD["write"], "final": final, "signal": None, **more}


def asked_in(bench: Bench, request: Any, number: int = 1) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((bench.turn(request, number) / "request.json").read_text())
    return told


@pytest.fixture
def wordy(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The agent has no form and no file."""
    monkeypatch.setattr(scripted, "ANSWERS", ("message",))
    return bench


def test_an_agent_without_a_form_answers_at_the_end_of_its_message(wordy: Bench) -> None:
    asked = wordy.wanted("scaffold")
    fact = wordy.do("scaffold", in_words(f"It is planned.\n\n{block(SCAFFOLD)}"))
    assert isinstance(fact, f.ExitAccepted)
    assert fact.payload["interfaceFile"] == "api.txt"
    assert "as the last thing in your final message" in wordy.prompt(asked)
    assert not wordy.turn(asked, 2).exists()


def test_a_block_that_may_be_quoted_is_refused_and_asked_for_again(wordy: Bench) -> None:
    asked = wordy.wanted("scaffold")
    twice = f"{block(SCAFFOLD)}\n\n{block(SCAFFOLD)}"
    again = in_words(block(SCAFFOLD))
    assert isinstance(wordy.do("scaffold", in_words(twice, refused=again)), f.ExitAccepted)
    told = wordy.prompt(asked, 2)
    assert "the answer names no exit (it has more than one block that looks like" in told


def test_a_block_in_the_middle_is_prose(wordy: Bench) -> None:
    asked = wordy.wanted("scaffold")
    shown = f"The file says:\n\n{block(SCAFFOLD)}\n\nI am not done."
    fact = wordy.do("scaffold", in_words(shown, reminder=in_words(block(SCAFFOLD))))
    assert isinstance(fact, f.ExitAccepted)
    assert wordy.prompt(asked, 2).startswith("REMINDER")


def test_a_block_needs_the_word_of_its_question_where_there_is_one(wordy: Bench) -> None:
    wordy.setting(nonce=True)
    asked = wordy.wanted("scaffold")
    word = answer_sources.find_question_nonce(wordy.world, asked)
    good = in_words(block(SCAFFOLD, f"json {word}"))
    fact = wordy.do("scaffold", in_words(block(SCAFFOLD), refused=good))
    assert isinstance(fact, f.ExitAccepted)
    assert f"```json {word}\n" in wordy.prompt(asked)
    assert f"must begin with ```json {word}" in wordy.prompt(asked, 2)


def test_the_end_of_a_message_is_nothing_to_an_agent_with_a_form(bench: Bench) -> None:
    asked = bench.wanted("scaffold")
    fact = bench.do("scaffold", in_words(block(SCAFFOLD), reminder=SCAFFOLD))
    assert isinstance(fact, f.ExitAccepted)
    assert bench.prompt(asked, 2).startswith("REMINDER")


def test_a_file_is_nothing_to_an_agent_that_was_told_of_none(wordy: Bench) -> None:
    """Whatever its commands could write there, it was not asked to."""
    asked = wordy.wanted("scaffold")
    file = answer_sources.exit_file_path(wordy.world, asked)
    Path(file).write_text(json.dumps({k: SCAFFOLD[k] for k in ("exit", "payload")}))
    post = wordy.world.post_of(asked.role, asked.state)
    assert answer_sources.find_answer(wordy.world, asked, post, Outcome("ok", "Done.")) is None


@pytest.mark.parametrize("kind, counts", [("ok", True), ("server", False), ("timeout", False)])
def test_an_answer_in_a_turn_that_came_to_no_end_was_not_the_last_word(
    bench: Bench, kind: Any, counts: bool
) -> None:
    """codex tells its messages one by one; the stream may be lost before it goes on."""
    asked = bench.wanted("scaffold")
    post = bench.world.post_of(asked.role, asked.state)
    outcome = Outcome(kind, answer=Answered("InitWork", {}))
    assert (answer_sources.find_answer(bench.world, asked, post, outcome) is not None) is counts


def test_a_form_that_was_left_empty_is_reminded_of(bench: Bench) -> None:
    """claude ends so when its model has only prose to give."""
    asked = bench.wanted("scaffold")
    fact = bench.do("scaffold", {"fail": "schema_missing", "reminder": SCAFFOLD})
    assert isinstance(fact, f.ExitAccepted)
    assert asked_in(bench, asked, 2)["resume"] == fact.session


def test_an_agent_bound_to_its_place_goes_on_only_there(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere it begins anew, and is told the last words: of its own thread, too."""
    monkeypatch.setattr(scripted, "BOUND_TO_PLACE", True)
    requests = {}
    for state in (*TO_TESTS, "impl", "review"):
        requests[state] = bench.wanted(state)
        bench.do(state)
    tests, impl, review = (requests[state] for state in ("write_tests", "impl", "review"))
    planner = bench.rig.state.memory[("", "")]["thread.planner"]["session"]
    assert asked_in(bench, impl)["fork"] == planner, "in the planner's own worktree"
    assert asked_in(bench, tests)["fork"] == "", "in the worktree of tests"
    assert "> My answer is InitWork." in bench.prompt(tests)
    assert review.resume
    assert asked_in(bench, review)["resume"] is None
    assert "> My answer is TestsReady." in bench.prompt(review)


def test_a_conversation_of_another_agent_is_quoted_and_not_taken_up(bench: Bench) -> None:
    """A role may be given to another command line than the one that planned."""
    bench.until("scaffold", "contract")
    for path in (Path(bench.world.directory) / "conversations").iterdir():
        path.write_text(json.dumps({**json.loads(path.read_text()), "holder": "codex"}))
    asked = bench.wanted("write_tests")
    assert asked.fork_of
    assert isinstance(bench.do("write_tests"), f.ExitAccepted)
    assert asked_in(bench, asked)["fork"] == ""
    assert "## What was said before" in bench.prompt(asked)
