"""N1: the real agents name their session to the commands they run, as claims expect it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from porch.plan.prompts.claim_owner import find_session
from tests.real_agents import Room
from tests.standin.steps import run_command, say
from tests.standin.test_standin import HABITS, Desk
from tests.standin.vendors import Vendors


@pytest.fixture
def desk(clean_room: Room, tmp_path: Path) -> Desk:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Desk(clean_room, workspace)


def environ(path: Path) -> Mapping[str, str]:
    rows = (line.partition("=") for line in path.read_text().splitlines())
    return {name: value for name, _, value in rows}


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_n1_a_real_session_has_one_name_also_when_it_is_continued(
    name: str, desk: Desk, vendor: Vendors
) -> None:
    commands = [run_command(f"env > {number}.txt") for number in (1, 2)]
    vendor.script("begin", commands[0], say("one"), commands[1], say("two"))
    habits = HABITS[name]
    told = desk.ask(name, "please begin")
    session = next(event[habits.session] for event in told.events if habits.session in event)
    desk.ask(name, "and now", *habits.resume, session)
    found = [find_session(environ(desk.workspace / f"{number}.txt")) for number in (1, 2)]
    assert found == [f"{name}:{session}"] * 2


def test_n1_a_real_gemini_names_no_session_so_its_process_counts(
    desk: Desk, vendor: Vendors
) -> None:
    vendor.script("begin", run_command("env > 1.txt"), say("one"))
    desk.ask("gemini", "please begin")
    seen = environ(desk.workspace / "1.txt")
    assert seen["GEMINI_CLI"]
    assert not [key for key in seen if "SESSION_ID" in key]
    assert find_session(seen) == ""
