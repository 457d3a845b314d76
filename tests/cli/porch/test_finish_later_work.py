"""What is delivered is what the run ended with; what came later is shown and accepted (X3)."""

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.run.engine.run_commits import END_FILE

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

NAME = "p_0001_x"
TESTS = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider tests"
WRONG = "def add(a, b):\n    return 5\n"
RIGHT = "def add(a, b):\n    return a + b\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
EMPTY = "def test_add():\n    pass\n"
PLAIN: dict[str, Any] = {"id": "work"}


def ended(desk: "Desk", phase: dict[str, Any] = PLAIN, **top: Any) -> Path:
    """A complete run that wrote calc.py; returns its worktree."""
    desk.protocol("p", phase, **top)
    desk.write("tests/test_calc.py", TEST)
    desk.write(".gitignore", "__pycache__/\n*.log\n")
    script = desk.script(agents={"work": [{"write": {"calc.py": RIGHT}, "say": "done"}]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, "--worktree")
    return desk.root / "worktrees" / NAME


def commit_later(desk: "Desk", place: Path, files: dict[str, str], message: str = "later") -> str:
    for name, text in files.items():
        (place / name).write_text(text)
    desk.git("-C", str(place), "add", "-A")
    desk.git("-C", str(place), "commit", "-qm", message)
    return desk.git("-C", str(place), "rev-parse", "HEAD")


def test_later_commits_are_shown_and_not_delivered_unless_somebody_accepts_them(
    desk: "Desk",
) -> None:
    place = ended(desk)
    end, main = desk.git("rev-parse", NAME), desk.git("rev-parse", "main")
    commit_later(desk, place, {"calc.py": WRONG}, "break it")
    commit_later(desk, place, {"more.py": "x\n"}, "and more")
    shown = desk.porch("finish", "1").out
    assert f"2 commits after the run ended (at {end[:12]}): " in shown
    assert "and more, " in shown
    assert "break it; files: calc.py, more.py" in shown
    assert "--accept-changes is needed" in shown
    assert len(json.loads(desk.porch("finish", "1", "--json").out)["later"]) == 1
    for way in ("--merge", "--squash", "--pr"):
        refused = desk.porch("finish", "1", way, code=1).err
        assert "error[finish-later-work]: 2 commits after the run ended" in refused
        assert f"git log -p {end[:12]}..{NAME}" in refused
        assert f"porch finish 0001 {way} --accept-changes" in refused
    assert (desk.git("rev-parse", "main"), desk.facts("WorkFinished")) == (main, [])
    desk.porch("finish", "1", "--merge", "--accept-changes")
    assert desk.git("show", "main:calc.py") == WRONG.strip()
    [accepted] = desk.facts("WorkFinished")[0]["accepted"]
    assert accepted.startswith("2 commits after the run ended")
    assert "2 commits after the run ended" in desk.git("log", "-1", "--format=%B", "main")


def test_a_commit_behind_a_run_that_was_killed_at_its_last_record_is_no_work_of_the_run(
    desk: "Desk",
) -> None:
    gated = {**PLAIN, "gate": {"name": "go", "next": None}}
    desk.protocol("p", gated)
    own = 'echo 1 > own.txt && git add -A && git commit -qm "my own"'
    script = desk.script(agents={"work": [{"run": ["sh", "-c", own], "say": "done"}]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, "--worktree", code=3)
    end, point = desk.git("rev-parse", NAME), "journal.after-sync"
    desk.call("approve", "1", "go", code=-signal.SIGKILL, PORCH_CRASH_AT=point)
    commit_later(desk, desk.root / "worktrees" / NAME, {"calc.py": WRONG})
    refused = desk.porch("finish", "1", "--merge", code=1).err
    assert f"1 commit after the run ended (at {end[:12]}): " in refused
    desk.git("-C", str(desk.root / "worktrees" / NAME), "reset", "-q", "--hard", end)
    desk.porch("finish", "1", "--merge")
    assert desk.git("show", "main:own.txt") == "1"


def test_files_that_changed_later_are_named_and_delivered_only_if_they_are_accepted(
    desk: "Desk",
) -> None:
    place = ended(desk)
    (place / "calc.py").write_text(WRONG)
    (place / "run.log").write_text("ignored\n")
    refused = desk.porch("finish", "1", "--merge", code=1).err
    assert "1 file changed after the run ended and not committed: calc.py" in refused
    desk.porch("finish", "1", "--keep")
    desk.porch("finish", "1", "--merge", "--accept-changes")
    assert desk.git("show", "main:calc.py") == WRONG.strip()
    assert desk.git("-C", str(place), "status", "--porcelain") == ""


def test_what_the_agent_committed_itself_is_work_of_the_run(desk: "Desk") -> None:
    own = 'echo 1 > own.txt && git add -A && git commit -qm "my own"'
    desk.protocol("p", PLAIN)
    script = desk.script(agents={"work": [{"run": ["sh", "-c", own], "say": "done"}]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, "--worktree")
    assert "after the run ended" not in desk.porch("finish", "1").out
    desk.porch("finish", "1", "--merge")
    assert desk.git("show", "main:own.txt") == "1"


def test_what_porch_could_not_commit_at_the_end_is_no_later_work_but_a_commit_before_it_is(
    desk: "Desk",
) -> None:
    away = {"run": ["sh", "-c", "echo 1 > one.txt; git switch -qc other"], "say": "done"}
    desk.protocol("p", PLAIN)
    script = desk.script(agents={"work": [away]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, "--worktree")
    place = desk.root / "worktrees" / NAME
    desk.git("-C", str(place), "switch", "-q", NAME)
    desk.git("-C", str(place), "commit", "-q", "--allow-empty", "-m", "between")
    refused = desk.porch("finish", "1", "--merge", code=1).err
    assert "2 commits after the run ended" in refused
    assert "between" in refused
    desk.porch("finish", "1", "--merge", "--accept-changes")
    assert desk.git("show", "main:one.txt") == "1"


@pytest.mark.parametrize("noted", ["\n", None])
def test_of_a_run_of_an_earlier_release_the_last_commit_of_porch_counts_and_that_is_said(
    desk: "Desk", noted: str | None
) -> None:
    place = ended(desk)
    end = desk.git("rev-parse", NAME)
    commit_later(desk, place, {"calc.py": WRONG})
    file = desk.run_dir() / END_FILE
    file.write_text(noted) if noted else file.unlink()
    said = desk.porch("finish", "1").out
    assert f"1 commit after {end[:12]}, the last commit of the run that an earlier release" in said
    if noted:
        assert "finish-later-work" in desk.porch("finish", "1", "--merge", code=1).err


def test_a_branch_that_was_rewritten_is_said(desk: "Desk") -> None:
    place = ended(desk)
    end = desk.git("rev-parse", NAME)
    desk.git("-C", str(place), "commit", "-q", "--amend", "-m", "another")
    refused = desk.porch("finish", "1", "--merge", code=1).err
    assert (
        f"instead of {end[:12]}, with which the run ended, the branch has now 1 commit" in refused
    )


def test_what_was_accepted_for_a_pull_request_is_not_asked_again(
    desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    desk.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    monkeypatch.setattr("shutil.which", lambda _name: None)
    place = ended(desk)
    commit_later(desk, place, {"calc.py": WRONG})
    desk.porch("finish", "1", "--pr", "--accept-changes")
    assert "after the run ended" not in desk.porch("finish", "1").out
    commit_later(desk, place, {"calc.py": RIGHT}, "as reviewers asked")
    refused = desk.porch("finish", "1", "--pr", code=1).err
    assert "1 commit after the run ended" in refused
    assert "as reviewers asked" in refused


def test_a_repository_inside_the_worktree_is_no_later_work(desk: "Desk") -> None:
    inner = {"run": ["git", "init", "-q", "inner"], "write": {"new.py": "x\n"}, "say": "done"}
    desk.protocol("p", PLAIN)
    script = desk.script(agents={"work": [inner]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, "--worktree")
    desk.porch("finish", "1", "--merge")


# --- protection and checks


CHECKED = {"id": "work", "checks": {"tests": {"command": TESTS}}}


def test_accepted_changes_are_checked_on_the_merged_files(desk: "Desk") -> None:
    place = ended(desk, CHECKED)
    commit_later(desk, place, {"calc.py": WRONG})
    said = desk.porch("finish", "1", "--merge", "--accept-changes", code=1).err
    assert "tests failed on the merged files" in said
    assert desk.facts("WorkFinished") == []


def test_an_emptied_test_is_named_as_what_measures_the_work(desk: "Desk") -> None:
    place = ended(desk, CHECKED)
    commit_later(desk, place, {"calc.py": WRONG, "tests/test_calc.py": EMPTY})
    measured = "what measures the work was changed after the run ended: tests/test_calc.py"
    assert measured in desk.porch("finish", "1").out
    assert measured in desk.porch("finish", "1", "--merge", code=1).err
    desk.porch("finish", "1", "--merge", "--accept-changes")
    assert measured in desk.facts("WorkFinished")[0]["accepted"]


def test_a_check_with_a_runner_measures_with_the_tests_of_the_run(desk: "Desk") -> None:
    with_runner = {"id": "work", "checks": {"tests": {"command": TESTS, "runner": "pytest"}}}
    place = ended(desk, with_runner)
    commit_later(desk, place, {"calc.py": WRONG, "tests/test_calc.py": EMPTY})
    said = desk.porch("finish", "1", "--merge", "--accept-changes", code=1).err
    assert "tests failed on the merged files" in said
    assert "tests/test_calc.py" in said
    commit_later(desk, place, {"calc.py": RIGHT})
    said = desk.porch("finish", "1", "--merge", "--accept-changes").out
    assert "tests passed" in said


@pytest.mark.parametrize("is_committed", [True, False])
def test_where_the_protocol_protects_tests_nobody_changes_them_after_the_end(
    desk: "Desk", is_committed: bool
) -> None:
    place = ended(desk, CHECKED, protected=["@tests"])
    if is_committed:
        commit_later(desk, place, {"tests/test_calc.py": EMPTY})
    else:
        (place / "tests/test_calc.py").write_text(EMPTY)
    for words in ((), ("--accept-changes",)):
        refused = desk.porch("finish", "1", "--merge", *words, code=1).err
        assert "error[finish-protected]: the protocol protects tests/test_calc.py" in refused
    desk.git("-C", str(place), "checkout", "-q", desk.git("rev-parse", f"{NAME}~1"), "--", "tests")
    if is_committed:
        desk.git("-C", str(place), "commit", "-qam", "put back")
    words = ("--accept-changes",) if is_committed else ()
    desk.porch("finish", "1", "--merge", *words)


def test_what_was_merged_from_the_target_is_no_change_of_the_tests(desk: "Desk") -> None:
    place = ended(desk, CHECKED, protected=["@tests"])
    desk.write("tests/test_more.py", EMPTY)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a test of somebody else")
    desk.git("-C", str(place), "merge", "-q", "--no-edit", "main")
    refused = desk.porch("finish", "1", "--merge", code=1).err
    assert "1 commit after the run ended" in refused
    assert "somebody else" not in refused
    desk.porch("finish", "1", "--merge", "--accept-changes")


def test_work_that_lies_there_is_not_taken_along_if_git_refuses(desk: "Desk") -> None:
    place = ended(desk)
    (place / "calc.py").write_text(WRONG)
    desk.write(f".git/refs/heads/{NAME}.lock", "")
    said = desk.porch("finish", "1", "--merge", "--accept-changes", code=1).err
    assert f"work in {place} is not committed: " in said
    assert desk.facts("WorkFinished") == []
