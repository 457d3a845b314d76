"""Where an answer is looked for, and which conversations whoever is asked can have."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from porch.agents.events import Answered
from porch.agents.port import Outcome
from porch.agents.scripted import adapter as scripted
from porch.machine import facts as f
from porch.run.agents import current_turns
from porch.run.agents.roster import Roster
from porch.run.settings import Settings
from porch.show.records.timeline import UNCONTINUED
from porch.tree.answers import answer_sources
from tests.tree.conftest import REVIEW, SCAFFOLD, TO_TESTS, Bench


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


def note_of(bench: Bench, request: Any, number: int = 1) -> str:
    """What people are told with the start of a turn."""
    path = bench.turn(request, number) / "note"
    return path.read_text() if path.exists() else ""


def test_an_agent_that_cannot_carry_a_conversation_goes_on_only_in_its_place(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: elsewhere it begins anew, is told the last words, and the run says so."""
    monkeypatch.setattr(scripted, "can_carry", lambda _: False)
    requests, facts = {}, {}
    for state in (*TO_TESTS, "impl", "review"):
        requests[state] = bench.wanted(state)
        facts[state] = bench.do(state)
    why = "scripted does not find the one before, which was held in another directory"
    lost = f"{UNCONTINUED}{why}"
    assert lost in bench.told
    for state, note in (("scaffold", ""), ("write_tests", lost), ("impl", ""), ("review", lost)):
        assert note_of(bench, requests[state]) == note
        said = getattr(facts[state], "notes", ())
        assert [each for each in said if each.startswith(UNCONTINUED)] == [note] * bool(note)
    tests, impl, review = (requests[state] for state in ("write_tests", "impl", "review"))
    planner = bench.rig.state.memory[("", "")]["thread.planner"]["session"]
    assert asked_in(bench, impl)["fork"] == planner, "in the planner's own worktree"
    assert asked_in(bench, tests)["fork"] == "", "in the worktree of tests"
    assert "> My answer is InitWork." in bench.prompt(tests)
    assert review.resume
    assert asked_in(bench, review)["resume"] is None
    assert "> My answer is TestsReady." in bench.prompt(review)


def employ(bench: Bench, script: str, *words: str) -> None:
    """From now on a command of one's own works, which has all conversations so far."""
    path = bench.base / "mine.sh"
    path.write_text(f"{script}\n")
    told = json.dumps({"exit": REVIEW["exit"], "payload": REVIEW["payload"]})
    (bench.base / "answer.json").write_text(told)
    settings = Settings(agents={"mine": {"command": ["sh", str(path), *words]}})
    bench.world = replace(bench.world, roster=Roster(settings, "mine"))
    for each in (Path(bench.world.directory) / "conversations").iterdir():
        each.write_text(json.dumps({**json.loads(each.read_text()), "holder": "mine"}))


def test_a_conversation_that_is_refused_is_begun_anew_with_its_last_words(bench: Bench) -> None:
    """E3: the command line no longer has it. Nobody is asked, and no attempt is charged."""
    bench.until(*TO_TESTS, "impl")
    asked = bench.wanted("review")
    lost = '{"type": "failed", "kind": "bad_request", "text": "no such conversation"}'
    employ(
        bench,
        f"[ $1 = {asked.resume} ] && echo '{lost}' && exit 1\n"
        f"cp {bench.base / 'answer.json'} $2; echo done",
        "{session}",
        "{exit_file}",
    )
    fact = bench.do("review")
    assert isinstance(fact, f.ExitAccepted)
    assert fact.notes == (f"{UNCONTINUED}no such conversation",)
    assert (note_of(bench, asked), note_of(bench, asked, 2)) == ("", fact.notes[0])
    assert fact.notes[0] in bench.told
    assert "## What was said before" not in bench.prompt(asked)
    assert "> My answer is TestsReady." in bench.prompt(asked, 2)
    assert fact.session not in ("", asked.resume)


def test_a_command_that_refuses_everything_is_asked_once_more_and_fails(bench: Bench) -> None:
    bench.until(*TO_TESTS, "impl")
    asked = bench.wanted("review")
    employ(bench, 'echo \'{"type": "failed", "kind": "bad_request", "text": "no"}\'', "{session}")
    fact = bench.attempt("review")
    assert isinstance(fact, f.EffectFailed)
    assert (fact.why, fact.detail, fact.hopeless) == ("bad_request", "no", True)
    assert bench.turn(asked, 2).exists()
    assert not bench.turn(asked, 3).exists()


def test_a_command_that_keeps_no_conversations_says_so(bench: Bench) -> None:
    """E3: without `{session}` it is asked anew each time."""
    bench.until(*TO_TESTS, "impl")
    asked = bench.wanted("review")
    employ(bench, f"cp {bench.base / 'answer.json'} $1; echo done", "{exit_file}")
    fact = bench.do("review")
    assert isinstance(fact, f.ExitAccepted)
    assert note_of(bench, asked) == f"{UNCONTINUED}mine keeps no conversations"
    shown = current_turns.measure_turn(bench.world.directory, asked.id, "")
    assert shown["notes"] == [note_of(bench, asked)]
    assert current_turns.describe_current_turn(shown).endswith("; " + note_of(bench, asked))


def test_a_command_that_prints_only_its_last_words_is_not_reminded(bench: Bench) -> None:
    """E2: it was stopped after the silence that a protocol allows, five times over."""
    bench.until(*TO_TESTS, "impl")
    asked = bench.wanted("review")
    bench.setting(idle=0.3)
    employ(bench, f"sleep 1.5; cp {bench.base / 'answer.json'} $1; echo done", "{exit_file}")
    assert isinstance(bench.do("review"), f.ExitAccepted)
    assert not bench.turn(asked, 2).exists()


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
    assert note_of(bench, asked).endswith("was held with another agent than scripted")
