"""The same question gets the same answer from every list: what waits, what runs, what is over."""

import json
import os
import signal
from pathlib import Path

import pytest

from porch.cli.dispatch import run_words
from porch.run.engine import send_wish
from porch.store import where as places
from tests.cli.af.conftest import Farm

GATED = {"id": "one", "gate": {"name": "go"}}


def test_a_stopped_run_with_an_open_question_waits_in_every_list(farm: Farm) -> None:
    """T14: inbox 6, `porch pending` 5, `af status --pending-only` nothing."""
    desk = farm.desk
    for id_ in ("0001", "0002"):
        desk.porch("run", "p", id_, "--title", "x", "--no-claude", code=3)
        desk.porch("stop", id_)
    asked = [each["id"] for each in desk.porch("pending", "--json").json["decisions"]]
    told = farm.af("status", "--pending-only", "--json").json["runs"]
    rows = desk.porch("status", "--json").json["runs"]
    assert asked == [row["id"] for row in told] == ["0001", "0002"]
    assert {row["group"] for row in told} == {"waiting"}
    assert [[wait["on"] for wait in row["waiting"]] for row in rows] == [["person", "resume"]] * 2
    assert "after your answer: porch resume 0001" in " ".join(desk.porch("pending").out.split())
    desk.porch("approve", "1", "go")
    assert farm.group() == "stopped", "nothing is asked, and nobody may go on with it"


def test_a_run_whose_driver_is_suspended_is_not_said_to_run(
    farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = farm.desk
    desk.protocol("slow", {"id": "one"})
    script = desk.script(agents={"one": [{"hang": True}]})
    words = ("run", "slow", "0001", "--title", "x", "--no-claude", "--script", script)
    driver = desk.start(*words)
    desk.wait_for_turn("one#1/agent/one/0", "0001-x")
    assert farm.group() == "running"
    driver.send_signal(signal.SIGSTOP)
    desk.wait_for(lambda: " T " in Path(f"/proc/{driver.pid}/stat").read_text())
    assert farm.group() == "alone"
    assert f"suspended: kill -CONT {driver.pid}" in farm.af("status").out
    assert f"kill -CONT {driver.pid}" in desk.porch("status", "1").out
    # R8: exit code 4, and no word of what to do.
    monkeypatch.setattr(send_wish, "PATIENCE_S", 0.2)
    refused = desk.porch("stop", "1", code=4)
    assert f"kill -CONT {driver.pid}" in refused.all
    assert f"kill -KILL {driver.pid}" in refused.all
    driver.send_signal(signal.SIGCONT)
    desk.wait_for(lambda: farm.group() == "stopped")
    desk.clear()


def test_a_working_agent_is_shown_at_work_beside_what_is_counted(farm: Farm) -> None:
    """T13: 27 s into a turn `0 turns, 0.0 minutes, 0 tokens`."""
    desk = farm.desk
    desk.protocol("slow", {"id": "one"})
    script = desk.script(agents={"one": [{"write": {"a.txt": "a\n"}, "hang": True}]})
    desk.start("run", "slow", "0001", "--title", "x", "--no-claude", "--here", "--script", script)
    desk.wait_for_turn("one#1/agent/one/0", "0001-x")
    desk.wait_for(lambda: "1 tool call so far" in desk.call("status", "1", code=None).out)
    told = desk.call("status", "1", "--json").json
    (turn,) = told["working"]
    assert (turn["effect"], turn["agent"], turn["tools"]) == ("one#1/agent/one/0", "scripted", 1)
    assert turn["began_at"]
    assert told["cost"]["seconds"] == 0, "the journal has counted nothing yet"
    assert "scripted has worked for" in farm.af("status", "1").out
    desk.clear()
    assert "so far" not in desk.porch("status", "1").out


def test_outside_of_every_repository_the_listed_ones_are_shown(
    farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """T14: `porch pending` said that nothing waits where `af status` listed three runs."""
    farm.desk.porch("run", "p", "0001", "--title", "x", "--no-claude", code=3)
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "porch"
    monkeypatch.chdir(tmp_path)
    assert not places.find_project(str(tmp_path)).common_dir
    capsys.readouterr()
    assert run_words("porch", ["pending"]) == 0
    assert "[af] repositories" in capsys.readouterr().out
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.toml").write_text(f'[af]\nrepositories = ["{farm.desk.root}"]\n')
    assert run_words("porch", ["pending", "--json"]) == 0
    (asked,) = json.loads(capsys.readouterr().out)["decisions"]
    assert (asked["id"], asked["repository"]) == ("0001", str(farm.desk.root))
    assert run_words("porch", ["pending"]) == 0
    said = capsys.readouterr().out
    assert "0001 x: go (gate)" in said
    assert str(farm.desk.root) in said


def test_an_unknown_gate_is_an_error_also_when_the_run_is_over(farm: Farm) -> None:
    desk = farm.desk
    desk.porch("run", "p", "0001", "--title", "x", "--no-claude", code=3)
    desk.porch("approve", "1", "go")
    desk.porch("resume", "1")
    assert "already complete" in desk.porch("approve", "1", "go").out
    assert "nonsense is not waiting" in desk.porch("approve", "1", "nonsense", code=2).err


def test_work_that_was_given_up_is_not_offered_for_a_merge(farm: Farm) -> None:
    desk = farm.desk
    checks = {"unit": {"command": "false", "max_retries": 0}}
    desk.protocol("bad", {"id": "one", "checks": checks})
    script = desk.script(agents={"one": [{"write": {"x.txt": "x\n"}}]})
    words = ("run", "bad", "0001", "--title", "x", "--no-claude", "--worktree", "--script", script)
    desk.porch(*words, code=3)
    other = desk.script(agents={"one": [{"write": {"x.txt": "other\n"}}]})
    desk.porch("run", "bad", "0002", "--title", "x", "--no-claude", "--script", other, code=3)
    assert "expect a conflict with bad_0002_x: x.txt" in farm.af("status", "1").out
    desk.porch("stop", "1")
    assert "porch resume" not in desk.porch("answer", "1", "failed:one", "stopped").out
    said = desk.porch("resume", "1", code=None).out
    assert "the work stays on branch" in said
    assert "porch finish" not in said
    assert "expect a conflict" not in farm.af("status", "1").out
    assert "expect a conflict" not in farm.af("status", "2").out
    assert "\n! 0001  x" in farm.af("status").out, "what was given up has no tick"
