"""Kicking runs off: a worktree, a driver of its own, and what can go wrong with either."""

import io
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from porch.fleet.drivers.start import start_driver
from porch.run.engine.run_places import mark_of
from porch.store import where as places
from porch.system.process_marks import list_marked_processes
from tests.cli.af.conftest import Farm
from tests.repositories import sh


@pytest.mark.req("P-008", "P-010", "P-014", "P-027", "P-031", "P-035", "P-160")
def test_a_kicked_off_run_builds_by_itself_until_a_person_is_needed(
    farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(_bare_path(tmp_path)))
    assert shutil.which("tmux") is None
    words = ("--title", "user-auth", "--no-claude")
    said = farm.af("kickoff", "0073", "Users can log in", *words).out
    assert "Started 0073-user-auth" in said
    start = farm.desk.git("rev-parse", "--short=12", "main")
    assert f"on branch spider_0073_user-auth, starting from main ({start})" in said
    assert farm.driver("0073-user-auth") in map(int, filter(str.isdigit, os.listdir("/proc")))
    worktrees = farm.desk.git("worktree", "list")
    assert "worktrees/spider_0073_user-auth" in worktrees
    assert not (farm.desk.root / ".builders").exists()
    began = farm.desk.facts("RunStarted", "0073-user-auth")[0]
    assert (began["protocol"], began["id"]) == ("spider", "0073")
    assert farm.desk.facts("RunnerStarted", "0073-user-auth")[0]["detached"]
    farm.wait_for_gate("0073-user-auth")
    assert farm.driver("0073-user-auth"), "it stays at the gate"
    shown = re.findall(r"read: (\S+)", farm.desk.porch("pending").out)
    assert shown, "what is to be read is named"
    assert all((farm.desk.root / path).exists() for path in shown), "from where the person stands"
    assert "porch started" in farm.af("logs", "73").out


def test_a_kickoff_says_who_works_what_it_may_cost_and_what_is_not_committed(farm: Farm) -> None:
    farm.desk.write("codev/config.toml", '[agents.mine]\ncommand = ["sleep", "60"]\n')
    farm.desk.write("half.txt", "half\n")
    words = ("0001", "Do it", "--title", "x", "--protocol", "p", "--agent", "mine", "--json")
    told = farm.af("kickoff", *words).json
    assert {"run", "pid", "worktree", "notes", "told"} == {*told}
    said = "\n".join(told["told"])
    assert "mine will work" in said
    assert "cost: " in said
    assert "on what agents may do: porch explain 0001 --verbose" in said
    assert "half.txt" in said
    assert len(told["told"]) <= 6, "a few lines"


def _bare_path(tmp_path: Path) -> Path:
    """Only what a run needs."""
    place = tmp_path / "tools"
    place.mkdir()
    for name in ("git", "sh", "bash", "true", "env", "grep", "cat", "test", "sed", "awk"):
        found = shutil.which(name)
        if found:
            (place / name).symlink_to(found)
    return place


def test_a_file_named_like_a_module_of_python_is_not_run_by_the_driver(farm: Farm) -> None:
    for name in ("json", "msgspec", "porch"):
        (farm.desk.root / f"{name}.py").write_text("open('it-ran', 'w')\n")
    farm.kick_off()
    farm.wait_for_gate()
    assert not list(farm.desk.root.rglob("it-ran"))


@pytest.mark.req("P-012", "P-028", "P-029", "P-032", "P-033", "P-189")
def test_a_run_is_stopped_and_goes_on_in_the_same_worktree(farm: Farm) -> None:
    farm.kick_off()
    farm.wait_for_gate()
    place = farm.af("open", "1").out.strip()
    assert place == str(farm.desk.root / "worktrees/p_0001_x")
    pid = farm.driver()
    assert "af resume 0001" in farm.af("stop", "1").out
    assert not farm.driver()
    farm.desk.wait_for(lambda: not Path(f"/proc/{pid}").exists())
    assert Path(place).is_dir()
    assert farm.group() == "waiting", "what is asked can be answered while it is stopped"
    assert "stopped: af resume 0001" in farm.af("status", "--pending-only").out
    farm.af("resume", "1")
    assert farm.af("open", "1").out.strip() == place
    assert "already running" in farm.af("resume", "1", code=4).err
    said = farm.af("approve", "1", "go").out
    assert "go: approved" in said
    assert f"pid {farm.driver() or ''}" in said or farm.group() == "over"
    farm.wait_for_end()
    assert farm.group() == "over"
    assert farm.desk.entered()[-1] == "complete"


@pytest.mark.req("P-034")
def test_cleanup_removes_the_worktree_of_a_run_that_is_over_and_keeps_its_branch(
    farm: Farm,
) -> None:
    farm.kick_off()
    farm.wait_for_gate()
    place = Path(farm.af("open", "1").out.strip())
    assert "is being worked on" in farm.af("cleanup", "1", code=4).err
    farm.af("stop", "1")
    for name, text in (("pushed.txt", "nowhere"), ("staged.txt", "added")):
        (place / name).write_text(text)
        farm.desk.git("-C", str(place), "add", name)
        if name == "pushed.txt":
            farm.desk.git("-C", str(place), "commit", "-qm", "in no other repository")
    (place / "codev/config.toml").write_text("changed = 1\n")
    (place / "left.txt").write_text("work")
    said = farm.af("cleanup", "1").out
    assert not place.exists()
    assert "archive/p_0001_x" in said
    assert "archive/p_0001_x" in farm.desk.git("branch")
    kept = {"pushed.txt": "nowhere", "staged.txt": "added", "left.txt": "work"}
    for name, text in {**kept, "codev/config.toml": "changed = 1"}.items():
        assert farm.desk.git("show", f"archive/p_0001_x:{name}") == text


def test_af_approve_starts_the_driver_again_by_itself(farm: Farm) -> None:
    farm.kick_off()
    farm.wait_for_gate()
    os.kill(farm.driver(), 9)
    farm.wait_for_end()
    said = farm.af("approve", "1", "go").out
    assert "Resumed 0001-x (pid" in said
    assert "not running" not in said
    farm.wait_for_end()
    assert farm.desk.entered()[-1] == "complete"


def test_af_reject_sends_the_work_back_and_it_goes_on(farm: Farm) -> None:
    farm.kick_off()
    farm.wait_for_gate()
    farm.af("stop", "1")
    farm.af("resume", "1")
    assert "go: rejected" in farm.af("reject", "1", "go", "--reason", "shorter").out
    farm.desk.wait_for(lambda: farm.desk.entered().count("one:gate") == 2)


def test_r4_a_dead_driver_is_started_again_by_the_next_command_but_not_for_ever(farm: Farm) -> None:
    farm.kick_off()
    farm.wait_for_gate()
    for _ in range(3):
        os.kill(farm.driver(), 9)
        farm.wait_for_end()
        assert "its driver was gone and was started again" in farm.af("status").out
        assert farm.driver()
    os.kill(farm.driver(), 9)
    farm.wait_for_end()
    said = farm.af("status").out
    assert "died 3 times without any progress" in said
    assert "not running" in said
    assert not farm.driver()
    assert "died 3 times" in farm.af("status", "1").out
    farm.af("resume", "1")
    assert farm.driver()


def test_what_the_driver_said_is_shown_if_it_cannot_start_and_nothing_is_left(farm: Farm) -> None:
    farm.desk.write(
        "codev/config.toml", '[commands]\nbuild = "true"\n\n[worktree]\nsetup = ["exit 7"]\n'
    )
    said = farm.kick_off(code=None)
    assert said.code
    assert "exit 7" in said.all
    assert farm.desk.git("worktree", "list").count("\n") == 0
    assert farm.desk.git("branch").split() == ["*", "main"]
    assert not list((farm.desk.root / ".git/porch/kickoffs").glob("*"))
    assert farm.af("status").out.startswith("Nothing runs here")


@pytest.mark.req("P-022")
@pytest.mark.parametrize("place", ["projects/0073-user-auth/spec.md", "specs/0073-user-auth.md"])
def test_an_id_alone_finds_the_name_of_its_project(farm: Farm, place: str) -> None:
    farm.desk.write(f"codev/{place}", "# User auth\n\nPeople log in.\n")
    said = farm.af("kickoff", "0073", "--protocol", "p", "--no-claude").out
    assert "Started 0073-user-auth" in said
    assert (farm.desk.root / "worktrees/p_0073_user-auth").is_dir()


def test_a_finished_run_is_left_alone_by_another_kickoff(farm: Farm) -> None:
    farm.desk.protocol("p", {"id": "one"})
    farm.kick_off()
    farm.wait_for_end()
    assert "already complete" in farm.af("kickoff", "1", "--protocol", "p").out


def test_of_two_kickoffs_of_one_id_one_wins_and_the_other_says_so(farm: Farm) -> None:
    said = farm.kick_off_at_once("0001", "0001")
    won, lost = sorted(said, key=lambda each: each.code)
    assert won.code == 0, won
    assert "Started 0001-x" in won.out
    assert lost.code in (2, 4), lost
    told = ("is making the worktree p_0001_x right now", "already running", "exists already")
    assert any(text in lost.out for text in told), lost
    assert "fix: " in lost.out
    assert len(farm.desk.facts("RunStarted")) == 1
    assert farm.desk.git("worktree", "list").count("\n") == 1
    assert not list((farm.desk.root / ".git/porch/kickoffs").glob("*"))


@pytest.mark.req("P-030", "P-159", "P-186", "P-187")
def test_runs_beyond_the_cap_wait_and_say_so_and_a_gate_frees_a_place(farm: Farm) -> None:
    farm.desk.write("codev/config.toml", "[agent]\nback_off = 0.01\n\n[af]\nmax_runs = 1\n")
    slow = farm.desk.script(agents={"one": [{"sleep": 60}]})
    farm.kick_off("0001", "--script", slow)
    farm.kick_off("0002")
    farm.desk.wait_for(lambda: farm.group("0002-x") == "queued")
    rows = farm.af("status").out
    assert "QUEUED (1)" in rows
    assert "waits for a free place (1 run works" in farm.af("status", "2").out
    assert farm.group("0001-x") == "running"
    assert not farm.af("status", "--pending-only").out
    farm.af("stop", "1")
    farm.wait_for_gate("0002-x")
    farm.kick_off("0003")
    farm.wait_for_gate("0003-x")
    assert farm.driver("0002-x"), "who waits for people needs no place"
    said = farm.af("status", "--pending-only").out
    assert "0002" in said
    assert "0003" in said
    assert "0001" not in said
    farm.af("stop", "2")


def test_a_queued_run_can_be_stopped(farm: Farm) -> None:
    farm.desk.write("codev/config.toml", "[af]\nmax_runs = 1\n")
    farm.kick_off("0001", "--script", farm.desk.script(agents={"one": [{"hang": True}]}))
    farm.kick_off("0002")
    farm.desk.wait_for(lambda: farm.group("0002-x") == "queued")
    farm.af("stop", "2")
    assert not farm.driver("0002-x")
    assert not farm.desk.started("agent", "0002-x")


@pytest.mark.req("P-181", "P-182")
def test_tick_and_issue_choose_their_protocols(farm: Farm) -> None:
    farm.desk.write("issue.md", "The button is red\n\nIt should be green.\n")
    farm.af("kickoff", "--tick", "0073", "add-feature", "--no-claude")
    farm.af("kickoff", "--issue", "142", "--issue-file", "issue.md", "--no-claude")
    assert farm.desk.facts("RunStarted", "tick_0073_add-feature")[0]["protocol"] == "tick"
    assert farm.desk.facts("RunStarted", "bugfix_142")[0]["protocol"] == "bugfix"
    assert "worktrees/tick_0073_add-feature" in farm.desk.git("worktree", "list")
    assert "worktrees/bugfix_142" in farm.desk.git("worktree", "list")
    for words in (("--tick", "1", "a", "--issue", "2"), ("--issue-file", "issue.md")):
        farm.af("kickoff", *words, code=2)


def test_a_dry_run_of_an_issue_needs_no_gh(farm: Farm) -> None:
    farm.af("kickoff", "--issue", "#143", "--no-claude")
    farm.af("kickoff", "--issue", "144", "The button is red", "--no-claude")
    began = farm.desk.facts("RunStarted", "bugfix_144")[0]
    assert (began["protocol"], began["id"]) == ("bugfix", "144")
    assert farm.desk.facts("RunStarted", "bugfix_143")


@pytest.mark.req("P-208")
def test_legacy_starts_claude_alone_in_builders(
    farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "bin/claude"
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\npwd > told\nprintf %s "$1" >> told\nexit 3\n')
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stub.parent}:{os.environ['PATH']}")
    farm.af("kickoff", "--legacy", "0073", "--title", "Login", code=3)
    told = (farm.desk.root / ".builders/0073/told").read_text()
    assert told.startswith(str(farm.desk.root / ".builders/0073"))
    assert "Project 0073: Login" in told
    assert "SPIDER" in told.upper()
    assert not (farm.desk.root / ".git/porch/runs").exists()
    assert farm.desk.git("status", "--porcelain", ".builders") == ""
    farm.af("kickoff", "--legacy", "0073", code=3)
    assert "not an id" in farm.af("kickoff", "--legacy", "../x", code=2).err
    monkeypatch.setenv("PATH", str(_bare_path(tmp_path)))
    assert "there is no `claude` here" in farm.af("kickoff", "--legacy", "1", code=6).err


def test_kickoff_in_the_foreground_is_porch_run(farm: Farm) -> None:
    said = farm.kick_off("0001", "--foreground", code=3).out
    assert "waiting for your decision: go" in said
    assert not farm.driver()
    assert "was not kicked off" in farm.af("logs", "1", code=2).err


def test_logs_can_be_followed_until_the_driver_is_gone(farm: Farm) -> None:
    farm.desk.protocol("p", {"id": "one"})
    farm.kick_off()
    assert "0001-x is complete" in farm.af("logs", "1", "--follow").out


@pytest.mark.torture
@pytest.mark.timeout(600)
@pytest.mark.req("P-195")
@pytest.mark.parametrize("number, cap", [(10, 10), (20, 3)])
def test_many_kickoffs_at_once_all_come_through_and_no_more_work_than_may(
    farm: Farm, tmp_path: Path, number: int, cap: int
) -> None:
    if os.environ.get("PORCH_TORTURE") != "full":
        number, cap = 2, cap // 3
    # Each notes itself as it begins and ends; whoever looks counts who is there.
    there, seen = tmp_path / "there", tmp_path / "seen"
    there.mkdir()
    come = f"touch {there}/$PROJECT_ID && ls {there} | wc -l >> {seen}"
    command = f"{come} && sleep 0.2 && rm {there}/$PROJECT_ID"
    check = {"command": command, "max_retries": 0}
    farm.desk.protocol("p", {"id": "one", "checks": {"count": check}})
    farm.desk.write("codev/config.toml", f"[agent]\nback_off = 0.01\n\n[af]\nmax_runs = {cap}\n")
    ids = [f"{n:04}" for n in range(1, number + 1)]
    for said in farm.kick_off_at_once(*ids):
        assert said.code == 0, said
    for id_ in ids:
        farm.wait_for_end(f"{id_}-x")
        assert farm.desk.entered(f"{id_}-x")[-1] == "complete"
    rows = farm.af("status", "--json").json["runs"]
    assert [row["group"] for row in rows] == ["over"] * number
    counts = [int(line) for line in seen.read_text().split()]
    assert len(counts) == number
    assert max(counts) <= cap


@pytest.mark.torture
@pytest.mark.timeout(600)
def test_stopping_and_resuming_over_and_over_loses_nothing_and_leaves_nobody(farm: Farm) -> None:
    cycles = 100 if os.environ.get("PORCH_TORTURE") == "full" else 3
    tries = [{"sleep": 60}] * cycles
    agents = {"one": [{"tries": [*tries, {"say": "done"}]}]}
    farm.kick_off("0001", "--script", farm.desk.script(agents=agents))
    where = places.find_project(str(farm.desk.root))
    for _ in range(cycles):
        farm.af("stop", "1")
        assert not farm.driver()
        assert not list_marked_processes(f"{mark_of(where, '0001-x')}:"), "a process was left"
        farm.af("resume", "1")
    farm.wait_for_gate()
    farm.af("approve", "1", "go")
    farm.wait_for_end()
    assert farm.desk.entered() == ["one", "one:gate", "two", "complete"]
    kinds = [fact["wish"]["kind"] for fact in farm.desk.facts("WishTaken")]
    assert (kinds.count("stop"), kinds.count("resume")) == (cycles, cycles)


@pytest.mark.req("P-147")
def test_the_first_driver_takes_the_approval_of_a_file_in_the_worktree(farm: Farm) -> None:
    farm.desk.protocol("p", {"id": "one", "artifact": "text.md", "gate": {"name": "go"}})
    farm.kick_off()
    farm.wait_for_gate()
    assert "go: approved" in farm.desk.porch("approve", "1", "go").out
    farm.wait_for_end()
    assert farm.desk.entered()[-1] == "complete"


def test_a_whole_project_is_kicked_off_approved_twice_stopped_taken_up_again_and_merged(
    farm: Farm,
) -> None:
    """What the architect does, and nothing else; beside it a bugfix, which asks nobody."""
    desk, run = farm.desk, "0073-user-auth"
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    farm.af("kickoff", "0073", "Users can log in", "--title", "User auth", "--no-claude")
    farm.af("kickoff", "--issue", "142", "--issue-file", "codev/config.toml", "--no-claude")
    farm.wait_for_gate(run)
    assert "specify_approval since" in farm.af("status", "--pending-only").out
    farm.af("approve", "73", "specify_approval")
    farm.desk.wait_for(lambda: "plan:gate" in desk.entered(run))
    farm.af("stop", "73")
    place = desk.root / "worktrees/spider_0073_user-auth"
    assert (place / "codev/projects/0073-user-auth/plan.md").is_file()
    farm.af("resume", "73")
    farm.af("approve", "73", "plan_approval")
    for each in (run, "bugfix_142"):
        farm.wait_for_end(each)
        assert desk.entered(each)[-1] == "complete"
    assert desk.facts("DecisionAsked", "bugfix_142") == []
    shown = farm.af("status", "73").out
    assert "[x] review" in shown
    assert "0073-user-auth: merged into main" in farm.af("finish", "73", "--merge").out
    documents = desk.git("ls-tree", "--name-only", "main:codev/projects/0073-user-auth")
    assert {"spec.md", "plan.md", "review.md"} <= {*documents.splitlines()}


@pytest.mark.parametrize("option", ["title", "request", "protocol", "issue", "agent", "script"])
def test_a_kickoff_with_an_empty_value_starts_nothing(farm: Farm, option: str) -> None:
    words = ("kickoff", "Do it", f"--{option}=", "--no-claude")
    assert f"the {option} is empty" in farm.af(*words, code=2).err
    assert farm.af("status", "--json").json["runs"] == []


def test_r1_a_kickoff_says_too_that_a_file_before_other_words_was_not_read(farm: Farm) -> None:
    farm.desk.write("request.md", "Add a flag\n")
    said = farm.af("kickoff", "request.md", "first", "--protocol", "p", "--no-claude").out
    assert "note: request.md is a file, and it was not read" in said
    assert "--request @request.md" in said


def test_r1_a_request_on_standard_input_reaches_the_driver(
    farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "Greet people by name\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(asked.encode())))
    farm.kick_off("0001", "--request", "-")
    told = farm.desk.porch("status", "1", "--json").json
    assert told["request"] == {"text": asked, "from": "standard input"}


@pytest.mark.parametrize("has_git", [False, True])
def test_a_kickoff_without_a_commit_says_what_to_do_and_leaves_nothing(
    farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_git: bool
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    if has_git:
        sh(empty, "init", "-q")
    said = farm.af("kickoff", "Greet people", "--no-claude", code=2).all
    assert f"error[{'no-commit' if has_git else 'no-repository'}]: a worktree needs" in said
    assert "run `codev init --yes`, which makes" in said
    assert "add --here to go without a worktree" in said
    left = [path for path in empty.rglob("*") if ".git" not in path.parts]
    assert left == []


def test_one_process_starts_several_drivers_before_it_waits_for_any(farm: Farm) -> None:
    where = places.find_project(str(farm.desk.root))
    words = ("--title", "x", "--no-claude")
    started = [
        start_driver(where, ("run", "p", id_, *words), str(farm.desk.root))
        for id_ in ("0001", "0002")
    ]
    assert [each.wait().run for each in started] == ["0001-x", "0002-x"]
