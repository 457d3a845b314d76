"""Turns, nudges, refusals and restarts of one typed question."""

import asyncio
import json
import re

import pytest
from msgspec.structs import replace

from porch.agents.scripted import adapter as scripted
from porch.machine import facts as f
from porch.machine.state import PastAnswer
from porch.tree import questions
from porch.tree.answers import answer_sources
from porch.tree.prompts import question_prompt
from tests.tree.conftest import IMPL, SCAFFOLD, TO_TESTS, Bench


@pytest.mark.req("V-094", "V-095")
def test_a_silent_agent_gets_the_reminder_in_its_conversation(bench: Bench) -> None:
    """D42: the clock of silence."""
    bench.setting(idle=0.3)
    asked = bench.wanted("scaffold")
    fact = bench.do("scaffold", {"hang": True, "reminder": SCAFFOLD})
    assert isinstance(fact, f.ExitAccepted)
    assert bench.prompt(asked, 2).strip() == "REMINDER: Emit a decision to complete this phase"
    request = json.loads((bench.turn(asked, 2) / "request.json").read_text())
    assert request["resume"] == fact.session


@pytest.mark.req("V-094")
def test_the_clock_of_silence_stands_still_while_a_tool_runs(bench: Bench) -> None:
    """D42."""
    bench.setting(idle=0.3)
    asked = bench.wanted("scaffold")
    fact = bench.do("scaffold", {**SCAFFOLD, "run": ["sleep", "1"]})
    assert isinstance(fact, f.ExitAccepted)
    assert not bench.turn(asked, 2).exists()


def test_after_three_reminders_the_work_is_started_again(bench: Bench) -> None:
    asked = bench.wanted("scaffold")
    fact = bench.do("scaffold", {"say": "well", "signal": None})
    assert isinstance(fact, f.EffectFailed)
    assert (fact.why, fact.detail) == ("crashed", "no exit after 3 reminders")
    assert bench.turn(asked, 4).exists()
    assert not bench.turn(asked, 5).exists()


def test_a_rate_limit_waits_and_a_crash_does_not(bench: Bench) -> None:
    """D43: infrastructure is no attempt."""
    bench.script("scaffold", {"fail": "rate_limit", "usage": {"usd": 0.5, "tokens": 7}})
    limited = bench.perform(bench.wanted("scaffold"))
    assert (limited.why, limited.wait_s > 0) == ("rate_limit", True)
    assert (limited.usd, limited.tokens) == (0.5, 7)
    bench.script("scaffold", {"crash": 1})
    crashed = bench.perform(bench.wanted("scaffold"))
    assert (crashed.why, crashed.wait_s) == ("crashed", 0)


def test_the_third_refusal_is_a_failure_with_its_reasons_and_its_cost(bench: Bench) -> None:
    entry = {**SCAFFOLD, "exit": "Approved", "usage": {"usd": 0.1, "tokens": 1}}
    second, third = ({**entry, "exit": exit_} for exit_ in ("Reject", "Stuck"))
    fact = bench.do("scaffold", {**entry, "refused": {**second, "refused": third}})
    assert isinstance(fact, f.EffectFailed)
    assert (fact.why, fact.hopeless) == ("refused", False)
    assert "'Stuck' is not an exit of scaffold" in fact.detail
    assert fact.usd == pytest.approx(0.3)
    assert any("refused: 'Approved'" in line for line in bench.told)


@pytest.mark.parametrize(
    "text, told",
    [
        ('{"exit": "InitWork", ', "the exit file cannot be read"),
        ('["InitWork"]', "the answer names no exit; allowed: InitWork, ClarificationNeeded"),
    ],
)
def test_an_exit_file_that_makes_no_sense_is_refused(bench: Bench, text: str, told: str) -> None:
    asked = bench.wanted("scaffold")
    file = answer_sources.exit_file_path(bench.world, asked)
    by_file = {"write": {file: text}, "signal": None}
    bench.script("scaffold", {**by_file, "refused": SCAFFOLD})
    assert isinstance(bench.perform(asked), f.ExitAccepted)
    assert told in bench.prompt(asked, 2)


def test_a_pipe_in_the_place_of_the_exit_file_holds_nobody_up(bench: Bench) -> None:
    asked = bench.wanted("scaffold")
    pipe = ["mkfifo", answer_sources.exit_file_path(bench.world, asked)]
    bench.script("scaffold", {"run": pipe, "signal": None, "refused": SCAFFOLD})
    assert isinstance(bench.perform(asked), f.ExitAccepted)
    assert "the exit file cannot be read" in bench.prompt(asked, 2)


def test_an_exit_file_may_be_flat(bench: Bench) -> None:
    """The form that command lines with one schema give."""
    asked = bench.wanted("scaffold")
    flat = {"exit": "InitWork", "question": None, **SCAFFOLD["payload"]}
    written = {
        **SCAFFOLD["write"],
        answer_sources.exit_file_path(bench.world, asked): json.dumps(flat),
    }
    fact = bench.do("scaffold", {"write": written, "signal": None})
    assert isinstance(fact, f.ExitAccepted)
    assert fact.payload["interfaceFile"] == "api.txt"


def test_what_an_agent_said_after_its_runner_died_is_taken_up(bench: Bench) -> None:
    """MODEL.md section 5: paid for, so not asked again; and not paid twice."""
    asked = bench.wanted("scaffold")
    bench.script("scaffold", {**SCAFFOLD, "usage": {"usd": 1, "tokens": 2}})
    first = bench.perform(asked)
    again = replace(asked, id=asked.id[:-1] + "1", attempt=1)
    bench.script("scaffold", {"crash": 1})
    second = bench.perform(again)
    assert isinstance(second, f.ExitAccepted)
    assert (second.payload, second.usd) == (first.payload, 0)
    assert not bench.turn(again).exists()


def test_what_was_refused_is_not_taken_up_again(bench: Bench) -> None:
    asked = bench.wanted("scaffold")
    bench.script("scaffold", {**SCAFFOLD, "exit": "Approved"})
    assert isinstance(bench.perform(asked), f.EffectFailed)
    bench.script("scaffold", SCAFFOLD)
    again = replace(asked, id=asked.id[:-1] + "1", attempt=1)
    assert isinstance(bench.perform(again), f.ExitAccepted)
    # The agent was asked anew, and not told once more what was wrong before.
    assert bench.turn(again, 1).exists()
    assert not bench.turn(again, 2).exists()


def test_half_done_work_of_a_stopped_question_is_kept_under_a_ref(bench: Bench) -> None:
    """D16: nothing that an agent wrote is lost."""
    bench.until(*TO_TESTS)
    asked = bench.wanted("impl")
    bench.script("impl", {**IMPL, "run": ["sleep", "60"]})
    sign = bench.root / bench.main / "src" / "sum.txt"
    fact = asyncio.run(bench.stopped(questions.run_question(bench.world, asked), sign))
    assert isinstance(fact, f.EffectStopped)
    ref = "refs/porch/salvage/porch/v3_sum@impl-1"
    assert bench.git("show", f"{ref}:src/sum.txt") == "one\ntwo\nthree"


def test_stopping_a_reader_keeps_nothing_because_nothing_is_its_own(bench: Bench) -> None:
    bench.until(*TO_TESTS, "impl")
    asked = bench.wanted("review")
    bench.script("review", {"write": {"seen.txt": "x"}, "run": ["sleep", "60"]})
    sign = bench.root / f"{bench.main}--read" / "seen.txt"
    assert isinstance(
        asyncio.run(bench.stopped(questions.run_question(bench.world, asked), sign)),
        f.EffectStopped,
    )
    assert bench.git("for-each-ref", "refs/porch/salvage") == ""


@pytest.mark.req("V-005")
def test_an_agent_that_cannot_fork_is_told_the_last_words_instead(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D29: the digest."""
    monkeypatch.setattr(scripted, "FORKS", False)
    bench.do("scaffold", {**SCAFFOLD, "say": "Sums are two files."})
    bench.do("contract")
    asked = bench.wanted("write_tests")
    bench.do("write_tests")
    prompt = bench.prompt(asked)
    assert "What was said before" in prompt
    assert "> Sums are two files." in prompt
    assert json.loads((bench.turn(asked) / "request.json").read_text())["fork"] == ""
    note = (bench.turn(asked) / "note").read_text()
    assert note == "a new conversation: scripted cannot begin one from another"


def test_a_long_diff_is_cut_and_says_how_to_see_the_rest(bench: Bench) -> None:
    """D25: a huge paste is no review."""
    bench.until(*TO_TESTS)
    bench.do("impl", {**IMPL, "write": {"src/sum.txt": "a line of text\n" * 4000}})
    asked = bench.wanted("review")
    bench.do("review")
    prompt = bench.prompt(asked)
    assert len(prompt) < 60_000
    assert re.search(
        r"\[porch: \d+ of \d+ lines of the diff of src/sum.txt are not shown; see them: git diff ",
        prompt,
    )


def test_every_exit_has_its_schema_in_the_prompt_and_in_the_request(bench: Bench) -> None:
    """Without the fields that the engine fills."""
    asked = bench.wanted("scaffold")
    bench.do("scaffold")
    prompt = bench.prompt(asked)
    assert "End with exactly one of these exits: InitWork, ClarificationNeeded" in prompt
    assert '"contractSuite"' in prompt
    assert "scaffoldCommit" not in prompt
    schema = json.loads((bench.turn(asked) / "request.json").read_text())["schema"]
    assert "interfaceFile" in schema["properties"]


def test_what_a_person_has_answered_stands_in_the_first_prompt_of_a_conversation(
    bench: Bench,
) -> None:
    """X14: in a tree each instance has its own answers, and those of the root."""
    answers = {
        "person#1": PastAnswer(3, "", "ada", "Which port?", "5432, as always"),
        "other/person#1": PastAnswer(4, "other", "ada", "Which name?", "Nobody else's business"),
    }
    bench.rig.state = replace(bench.rig.state, past_answers=answers)
    asked = bench.wanted("scaffold")
    bench.do("scaffold")
    prompt = bench.prompt(asked)
    assert "What a person has answered in this run" in prompt
    assert "asked: Which port?" in prompt
    assert "answered: 5432, as always" in prompt
    assert "Which name?" not in prompt


def test_a_file_that_is_not_where_it_was_said_to_be_is_told_as_that(bench: Bench) -> None:
    request = bench.wanted("scaffold")
    assert question_prompt._read_target_file(bench.world, request, "README.md") == "Sums.\n"
    assert (
        question_prompt._read_target_file(bench.world, request, "gone.txt")
        == "(gone.txt cannot be read)"
    )
