"""The real gemini against a stand-in for its vendor: what it does, not what it is said to do.

It takes three seconds to start, so a turn here proves several things where it can.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from porch.agents import gemini
from porch.agents.events import Denied, ToolEnded, ToolStarted
from porch.agents.outcomes import OutcomeKind
from porch.model.permissions import READ_ONLY, UNLIMITED, parse_permissions
from porch.system import process
from tests.agents.driving import Driver, mark_for
from tests.real_agents import MODELS, Room
from tests.standin.steps import (
    Step,
    call,
    drop,
    edit_file,
    hang,
    read_file,
    refusal,
    run_command,
    say,
    status,
)
from tests.standin.vendors import Vendors

MODEL = MODELS["gemini"]


@pytest.fixture
def driver(tmp_path: Path, clean_room: Room, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    """Turns of gemini in a repository of its own, with nothing of this machine around it."""
    for name in list(os.environ):
        if name.startswith(("GEMINI", "GOOGLE")):
            monkeypatch.delenv(name)
    for name, value in clean_room.environ.items():
        monkeypatch.setenv(name, value)
    workspace = tmp_path / "workspace"
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    mark = mark_for(tmp_path)
    yield Driver(gemini, workspace, tmp_path / "turns", mark)
    process.reap_processes(mark)


def denials(driver: Driver) -> list[str]:
    return [event.text for event in driver.events if isinstance(event, Denied)]


def test_plain_turn_says_its_words_and_its_tokens(
    driver: Driver, vendor: Vendors, clean_room: Room
) -> None:
    clean_room.let_gemini_relaunch()
    (driver.workspace / "mark.txt").write_text("SECRET")
    vendor.script("KEY", say("All is well.").usage(1000, 50))
    outcome = driver.play("/help KEY @mark.txt ann@example.org")
    assert (outcome.kind, outcome.final, outcome.detail) == ("ok", "All is well.", "")
    assert (outcome.tokens, outcome.output, outcome.cached, outcome.usd) == (1050, 50, 0, 0)
    assert outcome.session
    # No model was asked which model to ask, and the prompt went to none of its own commands.
    assert len(vendor.requests) == 1
    assert r"/help KEY \@mark.txt ann\@example.org" in vendor.requests[0].prompt
    assert "SECRET" not in str(vendor.requests[0].body)
    assert driver.left() == []


def test_it_edits_and_runs_inside_the_workspace(driver: Driver, vendor: Vendors) -> None:
    file, outside = driver.workspace / "src" / "a.py", driver.place / "outside.txt"
    vendor.script(
        "KEY",
        edit_file(file, "x = 1\n").saying("First the file. "),
        run_command("rm -rf nothing; echo ran > b.txt && cat b.txt"),
        edit_file(outside, "no\n"),
        edit_file(driver.workspace / ".git" / "config", "no\n"),
        edit_file(driver.workspace / "package.json", "{}\n"),
        say("Done."),
    )
    outcome = driver.play("KEY", model=MODEL)
    assert (outcome.kind, outcome.final) == ("ok", "Done.")
    assert file.read_text() == "x = 1\n"
    assert (driver.workspace / "b.txt").read_text() == "ran\n"
    assert not outside.exists()
    assert "[core]" in (driver.workspace / ".git" / "config").read_text()
    assert ToolStarted(f"write_file: {file}") in driver.events
    assert ToolEnded("ran") in driver.events
    # The last is gemini's own doing: unenforced() says so.
    assert len(denials(driver)) == len(outcome.denied) == 3
    assert not (driver.workspace / "package.json").exists()


def test_it_may_do_what_is_permitted_and_nothing_else(driver: Driver, vendor: Vendors) -> None:
    place = driver.workspace
    wrong = (
        edit_file(place / "other.txt", "no\n"),
        call("write_file", {"file_path": "src/../climbed.txt", "content": "no\n"}),
        edit_file(place / "src" / "deep" / ".gemini" / "settings.json", "{}\n"),
        run_command("touch one"),
        run_command("echo hi && touch two"),
        run_command("echo $(touch three)"),
        run_command("echo hi > four"),
        run_command("echoes"),
    )
    right = (
        edit_file(place / "src" / "deep" / "a.py", "yes\n"),
        call("write_file", {"file_path": "docs/b.md", "content": "yes\n"}),
        run_command("echo hello there"),
    )
    vendor.script("KEY", *wrong, *right, say("Done."))
    permitted = parse_permissions(["write:src/**", "write:docs/*.md", "bash:echo *"])
    outcome = driver.play("KEY", model=MODEL, permissions=permitted)
    assert (outcome.kind, outcome.final) == ("ok", "Done.")
    assert len(denials(driver)) == len(wrong)
    made = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    assert {name for name in made if not name.startswith(".git/")} == {
        "src/deep/a.py",
        "docs/b.md",
    }
    assert ToolEnded("hello there") in driver.events


def test_reviewer_reads_and_nothing_else(driver: Driver, vendor: Vendors) -> None:
    (driver.workspace / "a.txt").write_text("some words\n")
    vendor.script(
        "KEY",
        read_file(driver.workspace / "a.txt"),
        edit_file(driver.workspace / "a.txt", "no\n"),
        run_command("touch b.txt"),
        say("Reviewed."),
    )
    outcome = driver.play("KEY", model=MODEL, permissions=READ_ONLY)
    assert (outcome.kind, outcome.final) == ("ok", "Reviewed.")
    offered = set(vendor.requests[0].tools)
    assert "read_file" in offered
    assert not offered & {"write_file", "replace", "run_shell_command", "web_fetch"}
    assert "some words" in str(vendor.requests[1].body)
    assert (driver.workspace / "a.txt").read_text() == "some words\n"
    assert not (driver.workspace / "b.txt").exists()
    assert len(denials(driver)) == 2


def test_without_limits_no_permission_is_in_the_way(driver: Driver, vendor: Vendors) -> None:
    vendor.script("KEY", run_command("echo hi > ../beside.txt"), say("Done."))
    assert driver.play("KEY", model=MODEL, permissions=UNLIMITED).kind == "ok"
    assert (driver.workspace.parent / "beside.txt").exists()


def test_conversation_goes_on_and_is_forked(driver: Driver, vendor: Vendors) -> None:
    vendor.script("KEY", say("one"), say("two"), say("three"))
    first = driver.play("KEY first", model=MODEL)
    again = driver.play("and second", model=MODEL, resume=first.session)
    assert (again.final, again.session) == ("two", first.session)
    elsewhere = driver.place / "elsewhere"
    elsewhere.mkdir()
    fork = driver.play("a fork", model=MODEL, fork=first.session, workspace=str(elsewhere))
    other = driver.play("another", model=MODEL, fork=first.session)
    assert (fork.final, other.final) == ("three", "three")
    assert len({first.session, fork.session, other.session}) == 3
    assert driver.play("go on", model=MODEL, resume=other.session).session == other.session
    users = [said for said in vendor.asked("KEY")[-1].users if not said.startswith("<")]
    assert [said.strip() for said in users] == ["KEY first", "and second", "another", "go on"]


@pytest.mark.parametrize(
    "step, kind, wait_s",
    [
        (status(401, "no such key"), "auth", 0),
        (status(429, "slow down", retry_after="7"), "rate_limit", 7),
        (status(500, "boom"), "server", 0),
        (refusal(), "refused", 0),
        (drop("middle"), "server", 0),
    ],
    ids=["401", "429", "500", "refusal", "drop"],
)
def test_trouble_with_the_vendor_has_its_kind(
    driver: Driver, vendor: Vendors, step: Step, kind: OutcomeKind, wait_s: float
) -> None:
    vendor.script("KEY", step)
    outcome = driver.play("KEY", model=MODEL)
    assert (outcome.kind, outcome.wait_s) == (kind, wait_s), outcome.detail
    assert outcome.detail


def test_loop_that_it_stops_is_no_success(driver: Driver, vendor: Vendors) -> None:
    vendor.script("KEY", run_command("true"))
    outcome = driver.play("KEY", model=MODEL)
    assert (outcome.kind, outcome.detail) == ("crashed", "Loop detected, stopping execution")


@pytest.mark.parametrize(
    "without, more, kind, words",
    [
        ("GEMINI_API_KEY", {}, "auth", "not logged in"),
        ("", {"resume": "00000000-0000-4000-8000-000000000000"}, "bad_request", "no longer has"),
        ("", {"fork": "00000000-0000-4000-8000-000000000000"}, "bad_request", "should fork"),
    ],
)
def test_turn_that_cannot_begin_says_why(
    driver: Driver,
    monkeypatch: pytest.MonkeyPatch,
    without: str,
    more: dict[str, Any],
    kind: OutcomeKind,
    words: str,
) -> None:
    monkeypatch.delenv(without or "NO_SUCH_NAME", raising=False)
    outcome = driver.play("KEY", model=MODEL, **more)
    assert outcome.kind == kind
    assert words in outcome.detail


def test_hanging_turn_is_ended_by_the_wall_limit(driver: Driver, vendor: Vendors) -> None:
    vendor.script("KEY", hang("middle").saying("some words that never come to an end"))
    outcome = driver.play("KEY", model=MODEL, wall_s=8)
    assert (outcome.kind, driver.left()) == ("timeout", [])


def test_stop_in_the_middle_of_a_command_leaves_nothing(
    driver: Driver, vendor: Vendors, clean_room: Room
) -> None:
    clean_room.let_gemini_relaunch()
    ready = driver.workspace / "ready"
    vendor.script("KEY", run_command("touch ready; sleep 300"), say("too late"))
    outcome = driver.play("KEY", model=MODEL, stop_when=ready.exists)
    assert outcome.kind != "ok"
    assert driver.left() == []


def test_probe_tells_the_version(driver: Driver) -> None:
    found = gemini.probe()
    assert found.installed
    assert found.version[0].isdigit()
