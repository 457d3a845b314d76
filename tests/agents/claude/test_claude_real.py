"""The real claude against a stand-in for its vendor: what it does, not what it is said to do."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from porch.agents import claude
from porch.agents.events import Denied, Said, ToolEnded, ToolStarted
from porch.agents.outcomes import OutcomeKind
from porch.model.permissions import INSIDE, READ_ONLY, UNLIMITED, parse_permissions
from porch.system import process
from tests.agents.driving import Driver, mark_for
from tests.agents.slow_answers import SlowAnswer, slow_answers
from tests.real_agents import MODELS, Room
from tests.standin.steps import (
    Step,
    answer,
    call,
    drop,
    edit_file,
    hang,
    refusal,
    run_command,
    say,
    status,
)
from tests.standin.vendors import Vendors

MODEL = MODELS["claude"]
SCHEMA = {
    "type": "object",
    "properties": {
        "exit": {"type": "string", "enum": ["Good", "Bad"]},
        "payload": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
    "required": ["exit", "payload"],
}


@pytest.fixture
def driver(tmp_path: Path, clean_room: Room, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    """Turns of claude in a repository of its own, with nothing of this machine around it."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE")):
            monkeypatch.delenv(name)
    for name, value in clean_room.environ.items():
        monkeypatch.setenv(name, value)
    workspace = tmp_path / "workspace"
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    mark = mark_for(tmp_path)
    yield Driver(claude, workspace, tmp_path / "turns", mark)
    process.reap_processes(mark)


def test_plain_turn_says_its_words_and_its_cost(driver: Driver, vendor: Vendors) -> None:
    vendor.script("KEY", say("All is well.").usage(1000, 50))
    outcome = driver.play("KEY please", model=MODEL)
    assert (outcome.kind, outcome.final, outcome.detail) == ("ok", "All is well.", "")
    assert (outcome.tokens, outcome.output, outcome.cached) == (1050, 50, 0)
    assert outcome.usd > 0
    assert outcome.session
    assert Said("All is well.") in driver.events
    assert vendor.asked("KEY")[0].model == MODEL
    assert driver.left() == []


def test_it_edits_and_runs_inside_the_workspace(driver: Driver, vendor: Vendors) -> None:
    file = driver.workspace / "src" / "a.py"
    steps = (edit_file(file, "x = 1\n"), run_command("echo ran > b.txt; echo hello"), say("done"))
    vendor.script("KEY", *steps)
    outcome = driver.play("KEY")
    assert (outcome.kind, outcome.final, outcome.denied) == ("ok", "done", ())
    assert file.read_text() == "x = 1\n"
    assert (driver.workspace / "b.txt").read_text() == "ran\n"
    names = [each.name for each in driver.events if isinstance(each, ToolStarted)]
    assert names == [f"Write {file}", "Bash: echo ran > b.txt; echo hello"]
    assert any(isinstance(each, ToolEnded) and "hello" in each.output for each in driver.events)


def test_words_of_a_tool_and_of_a_helper_are_not_its_own(driver: Driver, vendor: Vendors) -> None:
    asked = {"description": "look", "prompt": "INNER", "subagent_type": "general-purpose"}
    vendor.script("OUTER", call("Task", asked), run_command("echo '<signal>B</signal>'"), say("me"))
    vendor.script("INNER", say("<signal>A</signal>"))
    outcome = driver.play("OUTER")
    assert (outcome.kind, outcome.final) == ("ok", "me")
    assert [each.text for each in driver.events if isinstance(each, Said)] == ["me"]
    assert outcome.tokens == 4 * 120  # the helper's request is paid for too


def test_second_turn_sees_the_first_and_counts_only_itself(driver: Driver, vendor: Vendors) -> None:
    vendor.script("KEY", say("first"), say("second"))
    first = driver.play("KEY one")
    second = driver.play("and two", resume=first.session)
    assert (second.kind, second.final, second.session) == ("ok", "second", first.session)
    assert first.tokens == second.tokens == 120
    assert "KEY one" in "".join(vendor.requests[-1].users)


def test_conversation_forks_twice_and_stays_itself(driver: Driver, vendor: Vendors) -> None:
    vendor.script("KEY", say("first"), say("second"))
    first = driver.play("KEY one")
    forks = [driver.play(f"fork {number}", fork=first.session) for number in (1, 2)]
    assert [each.final for each in forks] == ["second", "second"]
    assert len({first.session, *(each.session for each in forks)}) == 3
    assert not any("fork 1" in words for words in vendor.requests[-1].users)


@pytest.mark.parametrize("how", ["resume", "fork"])
def test_conversation_goes_on_elsewhere_as_another_and_stays_itself(
    how: str, driver: Driver, vendor: Vendors, tmp_path: Path, clean_room: Room
) -> None:
    """E3: claude itself finds it only in the directory where it began."""
    vendor.script("KEY", say("first"), say("second"))
    vendor.script("KEY again", say("third"))
    first, elsewhere = driver.play("KEY").session, tmp_path / "elsewhere"
    elsewhere.mkdir()
    (file,) = Path(clean_room.environ["HOME"]).rglob(f"{first}.jsonl")
    held = file.read_bytes()
    known: dict[str, Any] = {how: first}
    second = driver.play("and more", workspace=str(elsewhere), **known)
    assert (second.kind, second.final) == ("ok", "second")
    assert vendor.requests[-1].users == ["KEY", "and more"]
    assert second.session not in ("", first)
    third = driver.play("KEY again", workspace=str(elsewhere), resume=second.session)
    assert (third.kind, third.session) == ("ok", second.session), "where it goes on by its name"
    assert file.read_bytes() == held
    assert [each.name for each in file.parent.glob("*.jsonl")] == [file.name]


def test_conversation_that_is_a_link_is_not_taken_elsewhere(
    driver: Driver, vendor: Vendors, tmp_path: Path, clean_room: Room
) -> None:
    vendor.script("KEY", say("first"))
    session = driver.play("KEY").session
    (file,) = Path(clean_room.environ["HOME"]).rglob(f"{session}.jsonl")
    assert claude.can_carry(session)
    file.rename(tmp_path / "moved")
    file.symlink_to(tmp_path / "moved")
    assert not claude.can_carry(session)
    (tmp_path / "elsewhere").mkdir()
    outcome = driver.play("more", resume=session, workspace=str(tmp_path / "elsewhere"))
    assert outcome.kind == "bad_request"
    assert "only in the directory where it began" in outcome.detail


def test_structured_exit_is_the_answer(driver: Driver, vendor: Vendors) -> None:
    vendor.script("KEY", answer({"exit": "Good", "payload": {"n": 3}}))
    outcome = driver.play("KEY", schema=SCHEMA, permissions=READ_ONLY)
    assert outcome.kind == "ok"
    assert outcome.answer is not None
    assert (outcome.answer.exit, outcome.answer.payload) == ("Good", {"n": 3})


def test_words_instead_of_the_structure_are_still_words(driver: Driver, vendor: Vendors) -> None:
    vendor.script("KEY", say("<signal>GOOD</signal>"))
    outcome = driver.play("KEY", schema=SCHEMA)
    assert (outcome.kind, outcome.final, outcome.answer) == ("ok", "<signal>GOOD</signal>", None)


@pytest.mark.req("P-163")
def test_what_is_outside_the_permissions_does_not_happen(
    driver: Driver, vendor: Vendors, tmp_path: Path
) -> None:
    ws = driver.workspace
    refused = (ws / "b.md", ws / "sub" / "c.md", tmp_path / "out.txt", ws / ".git" / "hooks" / "x")
    vendor.script(
        "KEY",
        edit_file(ws / "src" / "deep" / "a.py", "x"),
        *(edit_file(path, "x") for path in refused),
        run_command("touch touched"),
        run_command("echo fine && touch touched"),
        run_command("git status --short"),
        run_command("printf ok"),
        say("end"),
    )
    allowed = parse_permissions(["write:src/**", "write:sub/*.txt", "bash:printf *"])
    outcome = driver.play("KEY", permissions=allowed)
    assert (outcome.kind, outcome.final) == ("ok", "end")
    assert (ws / "src" / "deep" / "a.py").exists()
    assert not any(path.exists() for path in (*refused, ws / "touched"))
    told = [each.text for each in driver.events if isinstance(each, Denied)]
    assert tuple(told) == outcome.denied
    assert len(told) == 6
    assert f"Write {refused[0]}" in told
    assert "Bash: touch touched" in told


def test_git_of_the_workspace_is_not_edited(driver: Driver, vendor: Vendors) -> None:
    hook = driver.workspace / ".git" / "hooks" / "pre-commit"
    steps = (edit_file(hook, "x"), run_command(f"echo x > {hook}"), say("end"))
    vendor.script("KEY", *steps)
    outcome = driver.play("KEY", permissions=INSIDE)
    assert not hook.exists()
    assert len(outcome.denied) == 2


def test_workspace_of_an_odd_name_behind_a_link_is_as_any_other(
    driver: Driver, vendor: Vendors, tmp_path: Path
) -> None:
    odd, link = tmp_path / "odd [1] (x), *y" / "ws", tmp_path / "link"
    odd.mkdir(parents=True)
    link.symlink_to(odd)
    hook = odd / ".git" / "hook"
    vendor.script("KEY", edit_file(odd / "a.txt", "x"), edit_file(hook, "x"), say("end"))
    outcome = driver.play(
        "KEY", workspace=str(link), permissions=parse_permissions(["write:*.txt"])
    )
    assert (odd / "a.txt").exists()
    assert not hook.exists()
    assert len(outcome.denied) == 1


def test_reviewer_reads_and_changes_nothing(driver: Driver, vendor: Vendors) -> None:
    ws = driver.workspace
    (ws / "a.txt").write_text("seen\n")
    sly = ("sed -i s/seen/x/ a.txt", "find . -name a.txt -delete", "echo x | tee b.txt")
    vendor.script(
        "KEY",
        edit_file(ws / "b.txt", "x"),
        *(run_command(command) for command in sly),
        run_command("cat a.txt && git status"),
        say("VERDICT: APPROVE"),
    )
    outcome = driver.play("KEY", permissions=READ_ONLY)
    assert outcome.final == "VERDICT: APPROVE"
    assert sorted(path.name for path in ws.iterdir()) == [".git", "a.txt"]
    assert (ws / "a.txt").read_text() == "seen\n"
    assert len(outcome.denied) == 1 + len(sly)
    assert any(isinstance(each, ToolEnded) and "seen" in each.output for each in driver.events)


def test_helper_has_no_more_permissions_than_its_master(
    driver: Driver, vendor: Vendors, tmp_path: Path
) -> None:
    asked = {"description": "look", "prompt": "INNER", "subagent_type": "general-purpose"}
    out = tmp_path / "out.txt"
    vendor.script("OUTER", call("Task", asked), say("end"))
    vendor.script("INNER", edit_file(out, "x"), run_command("touch made"), say("tried"))
    outcome = driver.play("OUTER", permissions=parse_permissions(["write:src/**"]))
    assert not out.exists()
    assert not (driver.workspace / "made").exists()
    assert outcome.denied == (f"Write {out}", "Bash: touch made")


@pytest.mark.req("P-094")
def test_without_limits_it_writes_outside_too(
    driver: Driver, vendor: Vendors, tmp_path: Path
) -> None:
    out = tmp_path / "out.txt"
    vendor.script("KEY", edit_file(out, "x"), run_command("touch made"), say("end"))
    outcome = driver.play("KEY", permissions=UNLIMITED)
    assert (outcome.kind, outcome.denied) == ("ok", ())
    assert out.exists()
    assert (driver.workspace / "made").exists()


@pytest.mark.parametrize(
    "step, kind",
    [
        (status(401), "auth"),
        (status(429, retry_after="7"), "rate_limit"),
        (status(500), "server"),
        (status(400), "bad_request"),
        (refusal("I will not."), "refused"),
        (drop("middle"), "server"),
    ],
)
def test_failure_of_the_vendor_has_its_kind(
    step: Step, kind: OutcomeKind, driver: Driver, vendor: Vendors
) -> None:
    vendor.script("KEY", step)
    outcome = driver.play("KEY")
    assert (outcome.kind, outcome.final) == (kind, "")
    assert outcome.detail


def test_limits_of_turns_and_of_money_are_kept(driver: Driver, vendor: Vendors) -> None:
    steps = (run_command("echo a").usage(1_000_000, 10), run_command("echo b"))
    vendor.script("KEY", *steps, run_command("echo c"))
    assert driver.play("KEY", max_steps=1).kind == "max_turns"
    outcome = driver.play("KEY", max_usd=0.01)
    assert outcome.kind == "budget"
    assert outcome.usd > 0.01


def test_nobody_logged_in_is_told_what_to_do(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    outcome = driver.play("hello")
    assert outcome.kind == "auth"
    assert "ANTHROPIC_API_KEY" in outcome.detail


def test_hanging_turn_is_ended_by_the_limit_and_leaves_nobody(
    driver: Driver, vendor: Vendors
) -> None:
    vendor.script("KEY", hang("middle"))
    outcome = driver.play("KEY", wall_s=5)
    assert (outcome.kind, outcome.final) == ("timeout", "")
    assert driver.left() == []


@slow_answers
def test_slow_answer_is_waited_for(
    slow: SlowAnswer, idle_s: float, driver: Driver, vendor: Vendors
) -> None:
    """E2: one request, and the answer; before the first byte as between and after the tokens."""
    vendor.script("KEY", slow("All is well, and all will be well."))
    outcome = driver.play("KEY", idle_s=idle_s)
    assert (outcome.kind, outcome.final) == ("ok", "All is well, and all will be well.")
    assert len(vendor.asked("KEY")) == 1


def test_answer_that_stops_in_the_middle_of_a_text_is_silence(
    driver: Driver, vendor: Vendors
) -> None:
    """E2: whoever said half a sentence and does nothing any more is reminded, as before."""
    vendor.script("KEY", hang("middle"))
    outcome = driver.play("KEY", idle_s=2, wall_s=60)
    assert outcome.kind == "timeout"
    assert "printed nothing for too long" in outcome.detail
    assert outcome.session, "so that it can be reminded in its conversation"
    assert driver.left() == []


@pytest.mark.parametrize("command", ["sleep 300", "setsid sleep 300", "sleep 300 & wait"])
def test_stop_in_the_middle_of_a_command_leaves_nobody(
    command: str, driver: Driver, vendor: Vendors
) -> None:
    vendor.script("KEY", run_command(command), say("end"))
    seen: list[int] = []

    def is_at_it() -> bool:
        seen.extend(each.pid for each in driver.left() if _words(each.pid) == ["sleep", "300"])
        return bool(seen)

    outcome = driver.play("KEY", stop_when=is_at_it)
    assert seen
    assert outcome.kind != "ok"
    assert driver.left() == []
    assert not any(_words(pid) == ["sleep", "300"] for pid in seen)


def _words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return []


def test_probe_tells_the_version_that_is_installed(driver: Driver) -> None:
    found = claude.probe()
    assert found.installed
    assert found.version[0].isdigit()
