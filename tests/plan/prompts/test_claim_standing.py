"""A prompt belongs to the session that claimed it, and an interrupted one is gone on with."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompt
from porch.plan.claims import prompt_claims
from porch.plan.prompts import claim_owner, prompt_queue
from porch.plan.prompts.claim_standing import judge_claim
from porch.store.where import ProjectPaths
from tests.plan.yards import Branch, facts, fields, mark, record, refused, start, write

ONE = PromptId(1)
SESSION = "CLAUDE_CODE_SESSION_ID"
Session = Callable[[str], None]


@pytest.fixture
def session(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """From now on commands are called by an agent in this session."""
    return lambda name: monkeypatch.setenv(SESSION, name)


@pytest.fixture
def dead() -> dict[str, Any]:
    """What a claim says of a process that is gone."""
    return {**claim_owner.describe_caller(), "born": "1"}


# -- one session -----------------------------------------------------------------------------------


def test_n1_the_second_of_two_sessions_is_refused_and_the_first_goes_on(
    where: ProjectPaths, session: Session
) -> None:
    write(where, "1")
    session("a")
    start(where, "1")
    session("b")
    with refused("already-in-progress"):
        start(where, "1")
    session("a")
    told = start(where, "1")
    assert (told.resumed, facts(where)[-1].get("forced", [])) == (True, [])
    assert fields(where, "1")["owner"]["session"] == "claude:a"


def test_n1_an_agent_takes_no_prompt_from_a_worker_that_is_there(
    where: ProjectPaths, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(where, "1")
    session("a")
    start(where, "1")
    session("b")
    monkeypatch.setenv("CLAUDECODE", "1")
    with refused("already-in-progress") as caught:
        start(where, "1", take_over=True)
    assert "--take-over" not in str(caught.value)
    monkeypatch.delenv("CLAUDECODE")
    assert start(where, "1", take_over=True).resumed
    assert facts(where)[-1]["forced"] == ["already-in-progress"]


_AGENT = """
import subprocess, sys
for line in sys.stdin:
    done = subprocess.run(sys.argv[1:] + line.split(), capture_output=True, text=True)
    print(done.stdout.replace("\\n", " "), flush=True)
"""


@pytest.fixture
def agents(shop: Path, tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Two that live on and call every command through a launcher that does not."""
    (tmp_path / "uv").symlink_to(sys.executable)
    run = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    envoy = "from porch.cli.dispatch import run_words; import sys; "
    envoy += "sys.exit(run_words('envoy', sys.argv[1:]))"
    command = [str(tmp_path / "uv"), "-c", run, sys.executable, "-c", envoy]
    made = [
        subprocess.Popen(
            [sys.executable, "-c", _AGENT, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=shop,
        )
        for _ in range(2)
    ]
    yield made
    for process in made:
        process.kill()
        process.communicate(timeout=60)


def ask(agent: subprocess.Popen[str], words: str) -> dict[str, Any]:
    assert agent.stdin is not None
    assert agent.stdout is not None
    agent.stdin.write(f"{words}\n")
    agent.stdin.flush()
    told: dict[str, Any] = json.loads(agent.stdout.readline())
    return told


def test_n1_behind_uv_a_claim_holds_and_the_same_agent_goes_on(
    where: ProjectPaths, agents: list[subprocess.Popen[str]]
) -> None:
    write(where, "1")
    first, second = agents
    words = "plan start-prompt 1 --specialist backend"
    assert ask(first, words)["data"]["resumed"] is False
    assert ask(second, words)["error"]["type"] == "already_in_progress"
    assert ask(first, words)["data"]["resumed"] is True
    assert fields(where, "1")["owner"]["pid"] == first.pid


def test_specialists_of_one_session_are_told_apart_by_their_names(
    where: ProjectPaths, session: Session
) -> None:
    write(where, "1")
    session("a")
    start(where, "1")
    with refused("already-in-progress"):
        prompt_claims.start_prompt(where, ONE, "frontend")


def test_who_records_for_another_session_does_not_take_the_claim(
    where: ProjectPaths, session: Session
) -> None:
    write(where, "1")
    session("a")
    start(where, "1")
    session("b")
    told = record(where, "1")
    assert "claimed by backend in another session" in told.notes[0]
    assert fields(where, "1")["owner"]["session"] == "claude:a"


# -- an interrupted one ----------------------------------------------------------------------------


def test_n4_who_goes_on_hears_where_the_work_is_and_what_is_next(
    where: ProjectPaths, session: Session
) -> None:
    write(where, "1")
    branch = Branch(where, "1")
    session("a")
    start(where, "1")
    record(where, "1")
    told = start(where, "1")
    assert (told.worktree_path, told.status) == (str(branch.path), "implemented")
    assert [(each.iteration, each.type) for each in told.recorded] == [(1, "initial")]
    assert told.next_step == "have it reviewed: envoy review 1"


def test_n4_next_shows_a_worker_its_own_prompts_and_how_to_go_on(
    where: ProjectPaths, session: Session
) -> None:
    write(where, "1")
    session("a")
    start(where, "1")
    (row,) = prompt_queue.list_next_prompts(where, None).in_progress
    assert row.yours is True
    assert row.continue_with == "envoy plan start-prompt 1 --specialist backend"
    session("b")
    (row,) = prompt_queue.list_next_prompts(where, None).in_progress
    assert (row.yours, row.continue_with) == (False, None)


def test_n4_a_session_that_died_and_was_continued_takes_its_prompt_up_again(
    where: ProjectPaths, session: Session, dead: dict[str, Any]
) -> None:
    write(where, "1")
    session("a")
    start(where, "1")
    mark(where, "1", owner={**dead, "session": "claude:a"})
    (row,) = prompt_queue.list_next_prompts(where, None).prompts
    assert row.interrupted is True
    assert row.start_with == "envoy plan start-prompt 1 --specialist backend"
    # Its helpers died with it, so it may send another one.
    told = prompt_claims.start_prompt(where, ONE, "fullstack")
    assert (told.resumed, facts(where)[-1].get("forced", [])) == (True, [])


def test_n4_another_session_takes_over_only_in_so_many_words_and_that_is_logged(
    where: ProjectPaths, session: Session, dead: dict[str, Any]
) -> None:
    write(where, "1")
    session("a")
    start(where, "1")
    mark(where, "1", owner={**dead, "session": "claude:a"})
    session("b")
    (row,) = prompt_queue.list_next_prompts(where, None).prompts
    assert row.start_with.endswith(" --take-over")
    with refused("worker-gone") as caught:
        start(where, "1")
    assert row.start_with in caught.value.findings[0].fix
    told = start(where, "1", take_over=True)
    assert told.resumed is True
    fact = facts(where)[-1]
    assert fact["forced"] == ["worker-gone"]
    assert fact["payload"]["taken_from"]["session"] == "claude:a"
    assert fields(where, "1")["owner"]["session"] == "claude:b"


def test_n4_without_sessions_a_worker_is_known_by_its_name(
    where: ProjectPaths, dead: dict[str, Any]
) -> None:
    write(where, "1")
    start(where, "1")
    mark(where, "1", owner=dead)
    with refused("worker-gone"):
        prompt_claims.start_prompt(where, ONE, "frontend")
    assert start(where, "1").resumed is True


def test_n4_what_was_released_is_free_for_everybody(
    where: ProjectPaths, session: Session, dead: dict[str, Any]
) -> None:
    write(where, "1")
    session("a")
    start(where, "1")
    mark(where, "1", owner={**dead, "session": "claude:a"})
    session("b")
    assert prompt_claims.release_all_prompts(where).released == ["1"]
    assert prompt_claims.start_prompt(where, ONE, "frontend").resumed is True


def test_a_claim_of_nobody_known_is_that_of_its_name() -> None:
    prompt = Prompt(in_progress=True, delegated_to="backend", owner=None)
    assert judge_claim(prompt, "backend", {"session": "claude:a"}) == "own"
    assert judge_claim(prompt, "frontend", {"session": "claude:a"}) == "gone"
    assert judge_claim(Prompt(), "anybody", {}) == "free"


def test_who_was_taken_over_from_and_comes_back_is_refused(
    where: ProjectPaths, session: Session
) -> None:
    write(where, "1")
    session("a")
    start(where, "1")
    session("b")
    start(where, "1", take_over=True)
    session("a")
    with refused("already-in-progress"):
        start(where, "1")
    with refused("already-in-progress"):
        prompt_claims.release_prompt(where, ONE)
