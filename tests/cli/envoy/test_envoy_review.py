"""`envoy review` as agents type it: one envelope, an exit code, and nothing left running."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from porch.cli.dispatch import run_words as run_command
from porch.cli.porch import fast
from tests import commands
from tests.plan.courts import (
    PASS,
    Court,
    asking,
    failing,
    repository,
    wait_for,
)
from tests.real_agents import MODELS, Room
from tests.repositories import at_home
from tests.standin.steps import say
from tests.standin.vendors import Vendors
from tests.trust import trust_settings

Told = dict[str, Any]
Envoy = Callable[..., Told]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def court(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Court]:
    at_home(tmp_path / "home", monkeypatch)
    made = Court(repository(tmp_path / "shop"))
    monkeypatch.chdir(made.root)
    made.begin()
    yield made
    made.clear()


@pytest.fixture
def envoy(court: Court, capsys: pytest.CaptureFixture[str]) -> Envoy:
    """Types a command in this process; what it answers, or what it complains about."""

    def type_(*words: str, code: int = 0) -> Told:
        capsys.readouterr()
        left = run_command("envoy", list(words))
        told: Told = json.loads(capsys.readouterr().out)
        assert left == code, told
        assert told["status"] == ("success" if code in (0, 3) else "error")
        return told

    return type_


@pytest.fixture
def porch(court: Court, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def type_(*words: str) -> str:
        capsys.readouterr()
        answered = fast.answer_from_pictures(list(words))
        left = run_command("porch", list(words)) if answered is None else answered
        out, err = capsys.readouterr()
        assert left in (0, 3), out + err
        return out

    return type_


@pytest.fixture
def start(court: Court) -> Iterator[Start]:
    """Starts the real command, and sees that it is gone in the end."""
    started: list[subprocess.Popen[str]] = []

    def run(*words: str) -> subprocess.Popen[str]:
        started.append(commands.start("envoy", words, court.root, os.environ))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=90)


@pytest.mark.req("E-031")
def test_an_answer_is_an_envelope_and_its_exit_code_says_whether_there_is_one(
    court: Court, envoy: Envoy
) -> None:
    court.reviewer("ann", failing("name it"), PASS)
    data = envoy("review", "1", "--by", "ann", "--agent", "planner")["data"]
    assert (data["verdict"], data["suggested_changes"]) == ("failed", "name it")
    data = envoy("review", "1", "--by", "ann")["data"]
    assert (data["verdict"], data["thoughts"]) == ("passed", "I read all of it")
    court.reviewer("eve", "Looks fine.")
    told = envoy("review", "1", "--by", "eve", code=1)
    assert told["error"]["type"] == "review_error"
    assert told["error"]["suggestion"]
    assert (told["data"]["verdict"], told["data"]["rounds_left"]) == ("error", 5)
    # It was reviewed before, and nothing was said against that.
    assert court.fields()["status"] == "reviewed"


def test_the_log_does_not_take_the_number_of_a_record_for_that_of_an_attempt(
    court: Court, envoy: Envoy, porch: Callable[..., str]
) -> None:
    court.reviewer("ann", PASS)
    envoy("review", "1", "--by", "ann")
    told = porch("log", "plan/feat/x")
    assert "review 1: review by ann: APPROVE" in told


@pytest.mark.parametrize(
    "words, type_",
    [
        ((), "missing_argument"),
        (("1", "--full"), "missing_argument"),
        (("1", "--max-rounds", "0"), "usage"),
        (("1", "--wait", "-1"), "usage"),
        (("1", "--by", "nobody-knows"), "unknown_agent"),
        (("../1",), "invalid_number"),
    ],
)
def test_wrong_words_are_refused_before_anybody_is_paid(
    court: Court, envoy: Envoy, words: tuple[str, ...], type_: str
) -> None:
    assert envoy("review", *words, code=2)["error"]["type"] == type_
    assert court.facts("ReviewEnded") == []


@pytest.mark.req("E-031")
def test_the_names_that_protocols_use_mean_the_same_command(court: Court, envoy: Envoy) -> None:
    court.reviewer("gemini", PASS)
    court.reviewer("codex", failing())
    court.configure('[review]\nagents = ["ann"]\n')

    def who(*words: str) -> list[str]:
        return [each["name"] for each in envoy(*words)["data"]["reviewers"]]

    assert who("gemini", "review", "1") == ["ann"]
    assert who("codex", "review", "1") == ["ann"]
    assert who("oracle", "review", "1", "--provider", "openai") == ["ann"]
    assert who("oracle", "review", "1", "--provider", "gemini") == ["ann"]
    assert who("oracle", "review", "1") == ["ann"]
    assert who("gemini", "review", "--full", "--by", "ann,gemini") == ["ann", "gemini"]
    assert who("review", "1") == ["ann"]


def test_n3_where_the_settings_name_nobody_the_command_says_who_reviews(
    court: Court, envoy: Envoy
) -> None:
    court.reviewer("gemini", PASS)
    court.configure('[panel]\nmodels = ["ann"]\n')
    data = envoy("gemini", "review", "1")["data"]
    assert ([each["name"] for each in data["reviewers"]], data["notes"]) == (["gemini"], [])


def test_n3_a_provider_is_a_name_too_and_decides_where_the_settings_name_nobody(
    court: Court, envoy: Envoy
) -> None:
    court.reviewer("gemini", PASS)
    court.reviewer("codex", PASS)
    court.configure('[panel]\nmodels = ["ann"]\n')
    for provider, name in (("openai", "codex"), ("gemini", "gemini"), ("ann", "ann")):
        data = envoy("oracle", "review", "1", "--provider", provider)["data"]
        assert [each["name"] for each in data["reviewers"]] == [name]


def test_n3_an_agent_adds_reviewers_to_those_of_the_settings_and_leaves_none_out(
    court: Court, envoy: Envoy, monkeypatch: pytest.MonkeyPatch
) -> None:
    court.reviewer("bob", PASS)
    court.configure('[review]\nagents = ["ann"]\n')
    monkeypatch.setenv("GEMINI_CLI", "1")
    error = envoy("review", "1", "--by", "bob", code=2)["error"]
    assert error["type"] == "not_a_person"
    assert "ann must review" in error["message"]
    assert court.facts("ReviewEnded") == []
    data = envoy("review", "1", "--by", "bob,ann")["data"]
    assert [each["name"] for each in data["reviewers"]] == ["bob", "ann"]
    monkeypatch.delenv("GEMINI_CLI")
    data = envoy("review", "1", "--by", "bob")["data"]
    assert [each["name"] for each in data["reviewers"]] == ["bob"]


def test_n3_without_the_agent_of_its_name_the_settings_decide(court: Court, envoy: Envoy) -> None:
    court.missing("gemini")
    court.configure('[panel]\nmodels = ["ann"]\n')
    data = envoy("gemini", "review", "1")["data"]
    assert [each["name"] for each in data["reviewers"]] == ["ann"]
    assert "gemini" in data["notes"][0]


@pytest.mark.parametrize("key", ["[review]\nagents", "[panel]\nmodels"])
def test_n3_of_the_settings_those_who_are_installed_review_and_the_others_are_named(
    court: Court, envoy: Envoy, key: str
) -> None:
    court.missing("bob")
    court.missing("gemini")
    court.configure(f'{key} = ["bob", "ann"]\n')
    data = envoy("gemini", "review", "1")["data"]
    assert [each["name"] for each in data["reviewers"]] == ["ann"]
    assert "bob; reviewed by ann" in data["notes"][0]
    begun = [fact for fact in court.facts("PlanMoved") if fact["action"] == "review-begun"]
    assert begun[0]["payload"]["text"] == data["notes"][0]


@pytest.mark.parametrize("words", [("review",), ("gemini", "review"), ("review", "--by", "bob")])
def test_n3_only_if_nobody_can_be_asked_it_is_an_outside_failure(
    court: Court, envoy: Envoy, words: tuple[str, ...]
) -> None:
    court.missing("bob")
    court.configure('[review]\nagents = ["bob"]\n')
    error = envoy(*words, "1", code=6)["error"]
    assert (error["type"], "bob" in error["message"]) == ("agent_missing", True)
    assert court.facts("ReviewEnded") == []


@pytest.mark.req("E-032")
def test_rounds_end_at_a_person(court: Court, envoy: Envoy, porch: Callable[..., str]) -> None:
    court.reviewer("ann", failing())
    words = ("review", "1", "--by", "ann", "--max-rounds", "2")
    assert [envoy(*words)["data"]["rounds_left"] for _ in range(2)] == [1, 0]
    error = envoy(*words, code=1)["error"]
    assert error["type"] == "no_rounds_left"
    asked = porch("pending")
    assert "rounds:1" in asked
    assert "porch answer plan/feat/x rounds:1 retry" in error["suggestion"]
    porch("answer", "plan/feat/x", "rounds:1", "retry")
    assert "rounds:1" not in porch("pending")
    assert envoy(*words)["data"]["rounds_left"] == 1


def test_the_time_that_the_caller_gives_bounds_a_reviewer_that_hangs(
    court: Court, envoy: Envoy
) -> None:
    """E6"""
    court.reviewer("ann", {"say": PASS, "sleep": 60})
    began = time.monotonic()
    told = envoy("review", "1", "--by", "ann", "--wait", "2", code=1)
    assert time.monotonic() - began < 25
    assert "timeout" in told["error"]["message"]
    assert told["data"]["rounds_left"] == 5
    assert len(court.shown()) == 1


def test_a_question_is_pending_until_a_person_answers(
    court: Court, envoy: Envoy, porch: Callable[..., str]
) -> None:
    court.reviewer("ann", asking("Which login?"), asking("Since when?", "Why?"), PASS)
    words = ("review", "1", "--by", "ann", "--wait", "0")
    data = envoy(*words, code=3)["data"]
    assert (data["state"], data["verdict"]) == ("pending", None)
    assert os.path.isfile(data["file"])
    assert "Which login?" in porch("pending")
    porch("answer", "plan/feat/x", "clarifying:1", "the second")
    envoy(*words, code=3)
    form = {"questions": [{"question": q, "answer": "as in May"} for q in ("Since when?", "Why?")]}
    envoy("gate", "answer", "clarifying", "1", "--form", json.dumps(form))
    data = envoy(*words)["data"]
    assert [each["answer"] for each in data["answered_questions"]] == ["as in May"] * 2
    assert "Answer: as in May" in court.shown()[2]


def test_whoever_waits_is_woken_by_the_file(court: Court, start: Start) -> None:
    court.reviewer("ann", asking("Which login?"), PASS)
    waiting = start("review", "1", "--by", "ann", "--wait", "60")
    path = court.home / "user_feedback" / "1_review_questions.yaml"
    wait_for(path.exists)
    form = yaml.safe_load(path.read_text())
    form["questions"][0]["answer"] = "the second"
    draft = path.with_suffix(".new")
    draft.write_text(yaml.safe_dump({**form, "done": True, "thoughts": "ask me"}))
    draft.rename(path)
    out, err = waiting.communicate(timeout=90)
    assert waiting.returncode == 0, out + err
    data = json.loads(out)["data"]
    assert (data["verdict"], data["user_thoughts"]) == ("passed", "ask me")


def test_one_prompt_is_reviewed_once_at_a_time(court: Court, envoy: Envoy, start: Start) -> None:
    go = court.bench / "go"
    home = court.reviewer("ann", {"say": PASS, "after": [str(go)]})
    first = start("review", "1", "--by", "ann")
    wait_for((home / "begun-0").exists)
    assert envoy("review", "1", "--by", "ann", code=4)["error"]["type"] == "review_busy"
    # Whoever plans goes on meanwhile: the lock of the plan is not held for a whole review.
    assert envoy("plan", "next")["data"]["count"] == 0
    go.touch()
    out, err = first.communicate(timeout=90)
    assert (first.returncode, len(court.shown())) == (0, 1), out + err


def _under_way(court: Court, start: Start) -> tuple[subprocess.Popen[str], str]:
    """A review whose first reviewer has used money, started something, and will never end."""
    hanging = {"usage": {"usd": 0.4, "tokens": 9}, "orphan": {"seconds": 600}, "hang": True}
    script = court.script(hanging, {"raw": PASS})
    process = start("review", "1", "--by", "scripted", "--script", script)

    def has_used() -> bool:
        found = (court.run_dir / "turns").glob("*/transcript.jsonl")
        return any('"usage"' in path.read_text() for path in found)

    wait_for(has_used)
    wait_for(lambda: len(court.processes()) >= 2)
    return process, script


def test_a_review_that_was_killed_is_cleared_up_and_counted_by_the_next(
    court: Court, envoy: Envoy, start: Start
) -> None:
    process, script = _under_way(court, start)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=90)
    orphans = court.processes()
    assert len(orphans) >= 2
    # The round is given back, so its number is that of the one that was killed.
    court.script({"raw": PASS})
    data = envoy("review", "1", "--by", "scripted", "--script", script)["data"]
    assert (data["verdict"], data["round"]) == ("passed", 1)
    assert court.processes() == []
    (lost,) = court.facts("EffectInterrupted")
    assert (lost["usd"], lost["tokens"]) == (0.4, 9)


def test_what_a_killed_review_cost_counts_against_the_budget(
    court: Court, envoy: Envoy, start: Start
) -> None:
    court.configure("[budget]\nmax_usd = 0.3\n")
    process, script = _under_way(court, start)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=90)
    told = envoy("review", "1", "--by", "scripted", "--script", script, code=1)
    assert told["error"]["type"] == "budget_reached"
    assert court.processes() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_stops_a_review_leaves_nothing_running(
    court: Court, envoy: Envoy, start: Start, number: signal.Signals
) -> None:
    process, script = _under_way(court, start)
    process.send_signal(number)
    out, err = process.communicate(timeout=90)
    assert (process.returncode, out) == (130, ""), err
    assert "Traceback" not in err
    assert court.processes() == []
    court.script({"raw": PASS})
    data = envoy("review", "1", "--by", "scripted", "--script", script)["data"]
    assert (data["verdict"], data["round"]) == ("passed", 1)
    (lost,) = court.facts("EffectInterrupted")
    assert lost["usd"] == 0.4


def test_a_budget_is_asked_about_and_allowed_by_a_person(
    court: Court, envoy: Envoy, porch: Callable[..., str]
) -> None:
    script = court.script({"raw": failing(), "usage": {"usd": 0.2, "tokens": 1}})
    court.configure("[budget]\nmax_usd = 0.1\n")
    words = ("review", "1", "--by", "scripted", "--script", script)
    envoy(*words)
    error = envoy(*words, code=1)["error"]
    assert error["type"] == "budget_reached"
    assert "run.max_usd" in porch("pending")
    porch("retry", "plan/feat/x")
    assert envoy(*words)["data"]["round"] == 2


def test_on_main_there_is_no_plan_to_review(court: Court, envoy: Envoy) -> None:
    court.git("switch", "-q", "main")
    assert envoy("review", "1", code=1)["error"]["type"] == "direct_mode"
    court.git("switch", "-qc", "feat/other")
    assert envoy("review", "--full", code=1)["error"]["type"] == "no_plan"


def test_a_variant_is_named_as_everywhere(court: Court, envoy: Envoy) -> None:
    envoy("plan", "write-prompt", "2", "A", "--description", "first way")
    for words in (("2", "a"), ("2_A",), ("2A",)):
        error = envoy("review", *words, code=1)["error"]
        assert (error["type"], "prompt 2_A" in error["message"]) == ("invalid_status", True)


@pytest.fixture
def gemini_room(cli: Callable[[str], str], clean_room: Room) -> Room:
    """Looked for before the test has a home of its own, in which nothing is installed."""
    cli("gemini")
    return clean_room


@pytest.mark.req("E-031")
def test_the_real_gemini_reviews_without_changing_anything(
    gemini_room: Room, court: Court, vendor: Vendors
) -> None:
    court.configure(f'[agents.gemini]\nmodel = "{MODELS["gemini"]}"\n')
    trust_settings(court.root, gemini_room.environ)
    vendor.default = lambda _request: say(f"I read the diff.\n\n```json\n{PASS}\n```")
    words = ("gemini", "review", "1")
    done = commands.run("envoy", words, court.root, gemini_room.environ, timeout_s=240)
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads(done.stdout)["data"]
    assert (data["verdict"], data["thoughts"]) == ("passed", "I read all of it")
    assert data["reviewers"][0]["tokens"] > 0
    asked = [request for request in vendor.requests if "You review one prompt" in request.prompt]
    assert asked
    assert "+cache = None" in asked[0].prompt
    assert court.git("status", "--porcelain", at=court.work) == ""
    assert court.fields()["status"] == "reviewed"
    assert gemini_room.left() == []
