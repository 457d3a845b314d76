"""Q10: before anybody is paid, the commands of the settings run once; what fails asks a person."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.plans import phase, plan, task

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Said

WORK: dict[str, Any] = {"id": "work", "signals": {"DONE": "complete"}}
BROKEN = "echo No module named pytest >&2; exit 1"


def settings(**commands: str) -> str:
    return "[commands]\n" + "".join(f'{name} = "{text}"\n' for name, text in commands.items())


def begin(desk: "Desk", *, code: int | None = 3, words: str = "", **commands: str) -> "Said":
    """A run of claude in a worktree; its settings and its protocol are committed."""
    desk.write("codev/config.toml", settings(**commands))
    desk.write("a.txt", "one\n")
    desk.protocol("p", WORK)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "settings", "--allow-empty")
    return start(desk, "0001", *words.split(), code=code)


def start(desk: "Desk", id_: str, *words: str, code: int | None = 3) -> "Said":
    return desk.porch("run", "p", id_, "--title", "x", "--plain", "--worktree", *words, code=code)


def asked(desk: "Desk") -> dict[str, Any]:
    [decision] = desk.porch("pending", "--json").json["decisions"]
    assert isinstance(decision, dict)
    return decision


def test_what_cannot_run_is_one_question_before_anybody_is_paid(real: "Desk") -> None:
    said = begin(real, test=BROKEN, lint="exit 2", build="true")
    assert real.started() == []
    assert "waiting for your decision: commands of the settings do not pass" in said.out
    results = {f["effect"].split("/")[-2]: f["result"] for f in real.facts("CheckEnded")}
    assert results == {"test": "failed", "lint": "failed", "build": "passed"}
    decision = asked(real)
    assert decision["name"] == "commands"
    answers = [option["answer"] for option in decision["options"]]
    assert answers == ["go_on", "expected", "retry", "fix", "stopped"]
    then = {option["answer"]: option.get("then", "") for option in decision["options"]}
    assert then["go_on"] == then["expected"] == "starts work"
    assert then["fix"] == "pauses the run"
    assert then["stopped"] == "ends the run: abandoned"
    told = " ".join(real.porch("pending").out.split())
    assert "test: No module named pytest" in told
    [row] = real.porch("status", "--json").json["runs"]
    assert row["waits"] == "you: commands"
    assert "commands" in real.porch("explain", "1").out


@pytest.mark.parametrize("answer", ["go_on", "expected"])
def test_whoever_goes_on_begins_the_work_and_is_not_asked_again(real: "Desk", answer: str) -> None:
    begin(real, test=BROKEN)
    real.porch("answer", "1", "commands", answer)
    assert "is complete" in real.porch("resume", "1", code=0).out
    assert len(real.started()) == 1
    assert len(real.facts("CommandsDue")) == 1
    shown = " ".join(real.porch("status", "1").out.split())
    told = ", says " if answer == "expected" else " went on all the same)"
    assert "before the work began: test did not pass (" in shown
    assert told in shown


def test_fix_it_first_pauses_and_the_commands_run_again_on_resume(
    real: "Desk", tmp_path: Path
) -> None:
    fixed = tmp_path / "fixed"
    begin(real, test=f"test -e {fixed}")
    real.porch("answer", "1", "commands", "fix")
    assert "porch resume" in real.porch("status").out
    real.porch("resume", "1", code=3)
    assert asked(real)["name"] == "commands"
    real.porch("answer", "1", "commands", "fix")
    fixed.touch()
    assert "is complete" in real.porch("resume", "1", code=0).out
    assert [f["result"] for f in real.facts("CheckEnded")] == ["failed", "failed", "passed"]
    assert len(real.started()) == 1


def test_a_retry_runs_the_commands_again_and_starts_nobody(real: "Desk", tmp_path: Path) -> None:
    fixed = tmp_path / "fixed"
    begin(real, test=f"test -e {fixed}")
    real.porch("retry", "1")
    real.porch("resume", "1", code=3)
    assert real.started() == []
    fixed.touch()
    real.porch("retry", "1")
    real.porch("resume", "1", code=0)
    assert len(real.started()) == 1


def test_whoever_stops_ends_the_run_and_nobody_was_paid(real: "Desk") -> None:
    begin(real, test=BROKEN)
    real.porch("answer", "1", "commands", "stopped")
    assert real.started() == []
    assert real.status()["state"] == "abandoned"


def test_ten_runs_from_one_commit_run_the_commands_once(real: "Desk", tmp_path: Path) -> None:
    count = tmp_path / "count"
    begin(real, code=0, test=f"echo x >> {count}")
    for number in range(2, 5):
        name = f"000{number}"
        start(real, name, code=0)
        [fact] = real.facts("CheckEnded", f"{name}-x")
        assert (fact["result"], fact["reused"]) == ("passed", True)
    assert count.read_text() == "x\n"
    real.write("a.txt", "other\n")
    real.git("commit", "-qam", "other")
    start(real, "0009", code=0)
    assert count.read_text() == "x\n" * 2


def test_what_failed_is_not_believed_for_another_run(real: "Desk", tmp_path: Path) -> None:
    fixed = tmp_path / "fixed"
    begin(real, test=f"test -e {fixed}")
    fixed.touch()
    start(real, "0002", code=0)


def test_a_command_that_takes_too_long_could_not_be_measured(real: "Desk") -> None:
    real.protocol("p", WORK)
    limit = "[timeouts]\nfirst_check = 0.3\n"
    real.write("codev/config.toml", limit + settings(test="while true; do :; done"))
    real.git("add", "-A")
    real.git("commit", "-qm", "settings")
    start(real, "0001", code=3)
    [fact] = real.facts("CheckEnded")
    assert fact["result"] == "unmeasured"
    assert "did not finish within 0.3 s" in fact["report"]
    assert real.started() == []
    assert asked(real)["name"] == "commands"


def test_what_a_command_writes_is_not_the_work_of_the_run(real: "Desk") -> None:
    begin(real, code=0, test="echo x > left.txt; echo changed > a.txt")
    worktree = real.root / "worktrees"
    [place] = [each for each in worktree.iterdir() if each.is_dir()]
    assert not (place / "left.txt").exists()
    assert (place / "a.txt").read_text() == (real.root / "a.txt").read_text()
    assert "left.txt" not in real.git("log", "--all", "--name-only")


def test_an_upgrade_before_the_first_turn_runs_the_new_command(real: "Desk") -> None:
    begin(real, test=BROKEN)
    real.write("codev/config.toml", settings(test="true", lint="true"))
    refused = real.porch("retry", "1", code=2)
    assert "commands.test is" in refused.err
    real.porch("upgrade", "1")
    real.porch("retry", "1")
    real.porch("resume", "1", code=0)
    results = {f["effect"].split("/")[-2]: f["result"] for f in real.facts("CheckEnded")}
    assert results == {"test": "passed", "lint": "passed"}
    assert len(real.started()) == 1


def test_a_run_that_was_paid_for_already_is_not_asked(real: "Desk") -> None:
    real.protocol("p", {"id": "one", "gate": {"name": "ready", "next": "two"}}, {"id": "two"})
    real.write("codev/config.toml", settings())
    real.git("add", "-A")
    real.git("commit", "-qm", "settings")
    start(real, "0001", code=None)
    assert real.started()
    real.write("codev/config.toml", settings(test=BROKEN))
    real.porch("upgrade", "1")
    real.porch("resume", "1", "--plain", code=None)
    assert real.facts("CommandsDue") == []


def test_the_scripted_agent_asks_nobody_and_says_what_is_known(
    real: "Desk", tmp_path: Path
) -> None:
    count = tmp_path / "count"
    begin(real, test=f"echo x >> {count}; {BROKEN}")
    assert count.read_text() == "x\n"
    said = real.porch("run", "p", "0002", "--title", "x", "--no-claude", "--worktree", code=0)
    assert count.read_text() == "x\n"
    assert "test did not pass before the work" in said.out
    assert "No module named pytest" in said.out
    [fact] = real.facts("CommandsDue", "0002-x")
    assert list(fact["results"]) == ["test"]
    real.write("a.txt", "other\n")
    real.git("commit", "-qam", "other")
    said = real.porch("run", "p", "0003", "--title", "x", "--no-claude", "--worktree", code=0)
    assert "did not pass" not in said.out
    assert real.facts("CommandsDue", "0003-x") == []


SPEC = """id: sum
description: A sum
acceptanceCriteria:
  - {id: c1, text: it is there}
targetPath: src
testPath: tests/sum
"""
KINDS = {
    "spider": ("spider", "0001", "--title", "x", "--worktree"),
    "bugfix": ("bugfix", "It crashes", "--worktree"),
    "v3": ("v3", "spec.yaml"),
    "codument": ("codument", "tracks/login", "--here"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_run_asks_before_anybody_is_paid(real: "Desk", kind: str) -> None:
    models = '[panel]\nmodels = ["claude"]\n'
    real.write("codev/config.toml", models + settings(test=BROKEN, build="true"))
    real.write("spec.yaml", SPEC)
    real.write("tracks/login/plan.xml", plan(phase("P1", task("T1.1"))))
    real.git("add", "-A")
    real.git("commit", "-qm", "settings")
    said = real.porch("run", *KINDS[kind], "--plain", code=3)
    assert "commands" in said.out.splitlines()[-2], said.out
    [run] = [path.name for path in (real.root / ".git/porch/runs").iterdir()]
    assert real.started("agent", run) == real.started("review", run) == []
    results = {f["effect"].split("/")[-2]: f["result"] for f in real.facts("CheckEnded", run)}
    assert results == {"test": "failed", "build": "passed"}
    decision = asked(real)
    assert decision["name"] == "commands"
    meaning = {option["answer"]: option.get("then") for option in decision["options"]}
    if kind != "codument":
        assert meaning["go_on"].startswith("starts ")
    shown = real.porch("status", decision["id"]).out
    assert "commands" in shown
    assert "[!]" not in shown
    real.porch("pending")
    real.porch("protocols", "graph", "--run", decision["id"])
    real.porch("answer", decision["id"], "commands", "stopped")
    assert real.porch("status", "--json").json["runs"][0]["state"] == "abandoned"
    assert real.started("agent", run) == []
