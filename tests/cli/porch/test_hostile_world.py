"""What agents, files and other people may do to a run without stopping or deceiving it."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.run.engine.run_places import mark_of
from porch.store import inbox
from porch.store import where as places
from porch.system import process_marks
from tests.cli.conftest import PLACE

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

ONE: dict[str, Any] = {"id": "one", "signals": {"DONE": "two"}}
TWO: dict[str, Any] = {"id": "two", "signals": {"DONE": "complete"}}
GATED: dict[str, Any] = {"id": "one", "artifact": "spec.md", "gate": {"name": "g", "next": None}}


def agents(**answers: Any) -> dict[str, Any]:
    return {"agents": answers}


def test_an_argument_that_is_no_text_is_refused_before_anything_is_written(desk: "Desk") -> None:
    desk.begin(GATED, code=3)
    before = len(desk.records())
    said = desk.porch("reject", "1", "g", "--reason", "caf\udce9", code=2)
    assert "not UTF-8" in said.err
    assert len(desk.records()) == before


def test_after_a_repair_an_old_transcript_is_nobodys_answer(desk: "Desk") -> None:
    desk.begin(ONE, TWO, code=0)
    journal = desk.run_dir() / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    first_begun = next(i for i, line in enumerate(lines) if json.loads(line)["begun"])
    damaged = [*lines[: first_begun + 1], b'{"broken": true}\n', *lines[first_begun + 2 :]]
    journal.write_bytes(b"".join(damaged))
    desk.porch("repair", "1")
    script = desk.script(agents={"two": {"crash": 3}})
    said = desk.porch("resume", "1", "--script", script, code=3)
    assert "phase 'two' failed" in said.out


def test_a_project_directory_that_an_agent_replaced_does_not_stop_the_run(desk: "Desk") -> None:
    # Porch may make the directory again in between, so until the file is there.
    once = "rm -rf codev/projects/0001-x && (: > codev/projects/0001-x) 2> /dev/null"
    swap = ["sh", "-c", f"until {once}; do :; done"]
    said = desk.begin(ONE, TWO, code=0, **agents(one=[{"run": swap, "signal": "DONE"}]))
    assert "complete" in said.out
    assert "could not be written" in said.out


def test_stopping_a_run_whose_runner_was_killed_ends_its_agent(desk: "Desk") -> None:
    desk.protocol("p", ONE, TWO)
    script = desk.script(agents={"one": {"sleep": 60}})
    runner = desk.start("run", "p", "0001", "--title", "x", "--here", "--script", script)
    desk.wait_for_turn("one#1/agent/one/0", "0001-x")
    runner.send_signal(signal.SIGKILL)
    runner.wait(90)
    desk.porch("stop", "1")
    assert not process_marks.list_marked_processes(
        mark_of(places.find_project(str(desk.root)), "0001-x")
    )


def test_a_script_that_decides_is_no_way_around_people_for_an_agent(desk: "Desk") -> None:
    desk.begin(GATED, code=3)
    script = desk.script(decisions={"g": {"approve": True}})
    said = desk.call("resume", "1", "--script", script, code=2, CLAUDECODE="1")
    assert "only people can decide" in said.err
    desk.call("resume", "1", "--script", script, "--as-person", code=0, CLAUDECODE="1")


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"kind": "upgrade"},
        {"kind": "upgrade", "data": {"digest": "0" * 64}},
        {"kind": "replan", "data": {"items_ref": "no"}},
        {"kind": 7, "data": "x"},
        {"kind": "decide", "position": ["a"]},
    ],
)
def test_a_wish_that_cannot_be_read_stops_nobody(desk: "Desk", wish: dict[str, Any]) -> None:
    desk.begin(GATED, code=3)
    inbox.leave_wish(str(desk.run_dir() / "inbox"), wish)
    desk.porch("approve", "1", "g")
    desk.porch("resume", "1")
    assert desk.porch("status", "1", "--json").json["state"] == "complete"


@pytest.mark.parametrize("found", [{}, ["a"], {"merged": {"x": 1}}, {"merged": {"head": "a"}}])
def test_a_file_in_the_inbox_reports_no_work(desk: "Desk", found: Any) -> None:
    """The command looks at what it hands in, and refuses the agent of another run."""
    desk.protocol("p", ONE, TWO)
    desk.porch("run", "p", "0001", "--title", "x", "--no-claude", "--hands-off")
    wish = {"kind": "done", "position": "one#1", "exit": "PHASE_COMPLETE"}
    inbox.leave_wish(str(desk.run_dir() / "inbox"), {**wish, "data": {"outside": found}})
    desk.porch("done", "1")
    assert [each["reason"] for each in desk.facts("WishRefused")] == [
        "work is reported with `porch done` only"
    ]
    (taken,) = desk.facts("WishTaken")
    assert (taken["wish"]["channel"], taken["wish"].get("data", {})) == ("done", {})
    assert [each["position"] for each in desk.porch("status", "1", "--json").json["positions"]] == [
        "two#1"
    ]


def test_a_pipe_in_the_place_of_an_artifact_holds_nobody_up(desk: "Desk") -> None:
    pipe = ["sh", "-c", "rm -f codev/projects/0001-x/spec.md; mkfifo codev/projects/0001-x/spec.md"]
    desk.begin(GATED, code=3, **agents(one=[{"run": pipe, "signal": "PHASE_COMPLETE"}]))
    (failed,) = desk.porch("pending", "--json").json["decisions"]
    assert failed["name"] == "failed:one"
    assert "spec.md is not a regular file" in failed["reports"]["written_files"]


def test_a_rate_limit_waits_and_charges_no_try(desk: "Desk") -> None:
    tries = [{"fail": "rate_limit"}] * 6 + [{"signal": "DONE"}]
    desk.write("codev/config.toml", "[agent]\nback_off = 0.001\n")
    desk.begin(ONE, TWO, code=0, **agents(one=[{"tries": tries}]))
    assert len(desk.facts("EffectFailed")) == 6


def test_r16_without_a_back_off_an_agent_that_must_wait_is_asked_less_and_less_often(
    desk: "Desk",
) -> None:
    desk.write("codev/config.toml", "[agent]\nback_off = 0\n")
    tries = [{"fail": "rate_limit"}] * 6 + [{"signal": "DONE"}]
    desk.begin(ONE, TWO, code=0, **agents(one=[{"tries": tries}]))
    waits = [fact["wait_s"] for fact in desk.facts("EffectFailed")]
    assert waits == [0.001 * 2**n for n in range(6)]


def test_a_commit_of_an_earlier_run_of_the_same_name_is_not_taken_for_ours(desk: "Desk") -> None:
    phase = {"id": "one", "artifact": "spec.md", "on_complete": {"commit": True}}
    spec = "codev/projects/0001-x/spec.md"
    desk.begin_in_worktree(phase, code=0, **agents(one=[{"write": {spec: "first"}}]))
    desk.porch("finish", "1", "--merge")
    (desk.root / ".git" / "porch").rename(desk.root / "old-state")
    (desk.root / "codev/projects/0001-x/status.yaml").unlink()
    desk.git("worktree", "remove", "--force", PLACE)
    desk.git("branch", "-D", "p_0001_x")
    desk.begin_in_worktree(phase, code=0, **agents(one=[{"write": {spec: "second"}}]))
    assert desk.git("show", f"p_0001_x:{spec}") == "second"


def test_one_damaged_journal_does_not_hide_the_other_runs(desk: "Desk") -> None:
    desk.begin(GATED, code=3)
    desk.porch("run", "p", "0002", "--title", "y", "--no-claude", code=3)
    journal = desk.run_dir("0002-y") / "journal.jsonl"
    journal.write_bytes(b"garbage\n" + journal.read_bytes())
    said = desk.porch("pending", code=5)
    assert "0001" in said.out
    assert "0001" in desk.porch("status", code=5).out


def test_a_status_file_that_a_crash_left_behind_is_drawn_again(desk: "Desk") -> None:
    desk.begin(ONE, TWO, code=0)
    status = desk.root / "codev/projects/0001-x/status.yaml"
    status.unlink()
    desk.porch("run", "p", "0001", "--no-claude", "--here")
    assert 'state: "complete"' in status.read_text()


def test_done_does_not_undo_the_stop_of_a_person(desk: "Desk") -> None:
    desk.protocol("p", ONE, TWO)
    desk.porch("run", "p", "0001", "--title", "x", "--here", "--hands-off")
    desk.porch("stop", "1")
    said = desk.porch("done", "1", code=1)
    assert "stopped by a person" in said.err


def test_a_plan_of_any_length_can_be_read_again(desk: "Desk") -> None:
    phase = {"id": "one", "phased": True, "phases_from": "plan.md"}
    plan = "".join(f"## Phase {n}: part {n}\n{'long text ' * 2000}\n" for n in range(1, 9))
    desk.write("codev/projects/0001-x/plan.md", plan)
    desk.protocol("p", phase)
    desk.porch("run", "p", "0001", "--title", "x", "--here", "--hands-off")
    desk.write("codev/projects/0001-x/plan.md", plan + "## Phase 9: more\nx\n")
    assert desk.porch("replan", "1", "--json").json["added"] == ["phase_9"]
    prompt = desk.porch("next", "1", "--json").json["effects"][0]["prompt"]
    assert prompt.count("long text") > 300


def test_an_agent_that_is_running_already_can_begin_and_finish_a_run(desk: "Desk") -> None:
    desk.protocol("p", ONE, TWO)
    desk.porch("run", "p", "0001", "--title", "x", "--here", "--hands-off")
    for position in ("one#1", "two#1"):
        told = desk.porch("next", "1", "--json").json
        assert [e["position"] for e in told["effects"]] == [position]
        desk.porch("done", "1", "--expect", position, "--signal", "DONE")
    assert desk.porch("status", "1", "--json").json["state"] == "complete"


def test_a_reader_that_goes_away_does_not_end_the_run(desk: "Desk") -> None:
    desk.protocol("p", ONE, TWO)
    script = desk.script(agents={"one": {"sleep": 0.3}})
    words = ["run", "p", "0001", "--title", "x", "--here", "--script", script]
    with subprocess.Popen(
        [sys.executable, "-m", "porch", *words], cwd=desk.root, stdout=subprocess.PIPE
    ) as runner:
        assert runner.stdout is not None
        runner.stdout.readline()
        runner.stdout.close()
        assert runner.wait(90) == 0
    assert desk.records()[-1]["moves"][-1]["is"] == "Ended"


def test_what_a_check_prints_reaches_no_terminal_raw(desk: "Desk") -> None:
    check = {"command": "printf '\\033[31mred\\a'", "retry_delay": 0}
    desk.protocol("p", {**ONE, "checks": {"loud": check}}, TWO)
    desk.porch("run", "p", "0001", "--title", "x", "--here", "--hands-off")
    said = desk.porch("check", "1")
    assert "red" in said.out
    assert "\x1b" not in said.out


def test_adoption_is_one_record_so_no_crash_can_lose_the_adopted_place(desk: "Desk") -> None:
    desk.protocol("p", ONE, TWO)
    desk.write(
        "codev/projects/0007-user-auth/status.yaml",
        'id: "0007"\ntitle: "User Authentication"\nprotocol: "p"\nstate: "two"\n',
    )
    desk.call(
        "run",
        "p",
        "0007",
        "--no-claude",
        "--here",
        code=None,
        PORCH_CRASH_AT="journal.after-sync:1",
    )
    first = desk.records("0007-user-auth")[0]["fact"]
    assert first["is"] == "RunAdopted"
    assert first["start"]["id"] == "0007"
    said = desk.porch("run", "p", "0007")
    assert "two: the agent" in said.out
    assert "one: the agent" not in said.out


def test_resuming_a_foreign_file_keeps_its_directory_whatever_title_it_gives(desk: "Desk") -> None:
    desk.protocol("p", ONE, TWO)
    desk.write(
        "codev/projects/0073-user-auth/status.yaml",
        'id: "0073"\ntitle: "User Authentication"\nprotocol: "p"\nstate: "two"\n',
    )
    desk.porch("resume", "73", "--no-claude")
    assert [path.name for path in (desk.root / "codev/projects").iterdir()] == ["0073-user-auth"]


@pytest.mark.parametrize("models", ['["a b"]', '["g", "g"]', '["a/b"]', '["a\\tb"]'])
def test_reviewers_of_the_settings_have_names_of_their_own(desk: "Desk", models: str) -> None:
    desk.write("codev/config.toml", f"[panel]\nmodels = {models}\n")
    assert "different names" in desk.porch("settings", code=2).err


def test_a_protocol_that_appears_in_front_is_a_changed_definition(desk: "Desk") -> None:
    desk.porch("run", "bugfix", "142", "--no-claude", "--here", "--once", code=None)
    assert desk.porch("status", "142", "--json").json["definition_changed"] is False
    desk.protocol("bugfix", ONE, TWO)
    assert desk.porch("status", "142", "--json").json["definition_changed"] is True


def test_the_state_directory_is_the_owners_alone(desk: "Desk") -> None:
    desk.porch("protocols", "show", "spider")
    assert Path(desk.root / ".git" / "porch").stat().st_mode & 0o077 == 0


def test_a_linked_worktree_is_enough_to_say_which_run_is_meant(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin(GATED, code=3)
    linked = desk.root / "worktrees" / "other"
    desk.git("worktree", "add", "-q", str(linked))
    monkeypatch.chdir(linked)
    (linked / "codev/protocols/p").mkdir(parents=True)
    desk.porch("run", "p", "0002", "--title", "y", "--no-claude", "--here", code=3)
    assert desk.porch("next", ".", "--json").json["run"] == "0002-y"
