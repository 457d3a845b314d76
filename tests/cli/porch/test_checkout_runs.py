"""Runs in a person's own checkout: with `--here`, and those that an earlier release began there."""

import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.git import repository
from tests.earlier_releases import rewrite_journal

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

BOTH = "".join(f"{number}\n" for number in range(20))
# A document that the protocol commits, a gate, and some more work.
WRITTEN: Mapping[str, Any] = {
    "id": "write",
    "artifact": "note.md",
    "gate": {"name": "go"},
    "on_complete": {"commit": True},
}


@pytest.fixture
def shared(desk: "Desk") -> "Desk":
    desk.protocol("p", WRITTEN, {"id": "work"})
    desk.protocol("q", {"id": "work"})
    desk.write("both.txt", BOTH)
    desk.write(".gitignore", "script*.yaml\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "protocols")
    return desk


def work(
    desk: "Desk", id_: str, files: dict[str, str], protocol: str = "q", code: int | None = 0
) -> str:
    note = {"write": {"{project_dir}/note.md": "# A note\n"}, "say": "done"}
    agents = {"work": [{"write": files, "say": "done"}]} | (
        {"write": [note]} if protocol == "p" else {}
    )
    title = ("--title", f"t{id_}")
    script = desk.script(agents=agents)
    return desk.porch("run", protocol, id_, *title, "--script", script, "--here", code=code).all


def began_earlier(desk: "Desk", id_: str) -> None:
    """From here on the run is one that an earlier release began in this checkout."""
    rewrite_journal(desk.run_dir(f"{id_}-t{id_}"))


def old_run(desk: "Desk", id_: str, files: dict[str, str]) -> None:
    work(desk, id_, files)
    began_earlier(desk, id_)


def committed(desk: "Desk") -> list[str]:
    return desk.git("show", "--format=", "--name-only", "HEAD").splitlines()


def type_commit(desk: "Desk", said: str) -> None:
    """What a person does who copies the command from the screen."""
    (command,) = re.findall(r"commit them there: (.*)", said)
    subprocess.run(["sh", "-c", command], cwd=desk.root, check=True, capture_output=True)


# With --here


def test_with_here_nothing_is_committed_and_the_run_ends_with_the_command_that_does(
    shared: "Desk",
) -> None:
    head = shared.git("rev-parse", "HEAD")
    said = work(shared, "0001", {"new.py": "x = 1\n"}, "p", code=3)
    assert f"working in your checkout {shared.root} on branch main ({head[:12]})" in said
    shared.porch("approve", "1", "go", code=None)
    said = shared.porch("resume", "1").out
    assert shared.git("rev-parse", "HEAD") == head
    assert f"the changes are in your checkout {shared.root} (branch main): 2 files" in said
    assert "write: not committed: you commit what this run changes" in shared.porch("log", "1").out
    (fact,) = shared.facts("CommitEnded", "0001-t0001")
    assert (fact["passed_over"], "commit" in fact) == (True, False)
    type_commit(shared, said)
    assert committed(shared) == ["codev/projects/0001-t0001/note.md", "new.py"]
    assert shared.git("log", "-1", "--format=%s") == "0001 t0001"
    assert shared.git("status", "--porcelain") == ""
    assert "nothing is left to commit" in shared.porch("finish", "1").out


def test_with_here_nobody_is_told_as_whom_porch_commits(shared: "Desk", home: Path) -> None:
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    repository._IDENTITIES.clear()
    said = work(shared, "0001", {"new.py": "x = 1\n"}, "p", code=3)
    repository._IDENTITIES.clear()
    assert "porch commits as" not in said


def test_what_the_person_has_edited_is_not_in_the_command(shared: "Desk") -> None:
    """X17"""
    (shared.root / "codev/config.toml").write_text('[commands]\ntest = "false"\n')
    shared.write("own.txt", "mine\n")
    shared.git("add", "own.txt")
    said = work(shared, "0001", {"new.py": "x = 1\n", "it's new.py": "y\n"})
    type_commit(shared, said)
    assert committed(shared) == ["it's new.py", "new.py"]
    assert shared.git("status", "--porcelain").split() == [
        *("M", "codev/config.toml", "A", "own.txt"),
    ]


@pytest.mark.parametrize("way", ["--merge", "--squash", "--pr"])
def test_finish_of_a_run_with_here_says_what_to_type_and_changes_nothing(
    shared: "Desk", way: str
) -> None:
    work(shared, "0001", {"new.py": "x = 1\n"})
    head = shared.git("rev-parse", "HEAD")
    said = shared.porch("finish", "1", way, code=1).err
    assert "error[finish-in-checkout]" in said
    assert "git add -A && git commit -m '0001 t0001'" in said
    assert "git add -A && git commit" in shared.porch("finish", "1").out
    assert shared.git("rev-parse", "HEAD") == head
    assert shared.facts("WorkFinished", "0001-t0001") == []
    assert "kept, not committed" in shared.porch("finish", "1", "--keep").out
    assert shared.facts("WorkFinished", "0001-t0001")[0]["how"] == "kept"


def test_a_run_with_here_says_that_its_checkout_is_on_another_branch_now(shared: "Desk") -> None:
    """X9"""
    work(shared, "0001", {"new.py": "x = 1\n"}, "p", code=3)
    shared.git("switch", "-qc", "side")
    shared.porch("approve", "1", "go", code=None)
    said = shared.porch("resume", "1").out
    assert f"the run began on branch main, and {shared.root} is on side now" in said
    assert "(branch side)" in said
    assert "the run began on main; to go back: git switch main" in said
    assert shared.git("rev-parse", "side") == shared.git("rev-parse", "main")


def test_a_tree_has_no_use_for_here(desk: "Desk") -> None:
    desk.write("spec.yaml", "name: add\n")
    said = desk.porch("run", "v3", "spec.yaml", "--no-claude", "--here", code=2).err
    assert "error[tree-in-checkout]" in said


def test_outside_git_a_run_with_here_works_where_it_is_and_passes_commits_over(
    shared: "Desk", tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    shared.root = plain
    monkeypatch.chdir(plain)
    shared.protocol("p", WRITTEN, {"id": "work"})
    words = ("run", "p", "0001", "--title", "t0001", "--here", "--script", shared.script())
    assert f"working in {plain}" in shared.porch(*words, code=3).out
    shared.porch("approve", "1", "go", code=None)
    assert "0001-t0001 is complete" in shared.porch("resume", "1").out


# Begun by an earlier release


def test_an_old_run_still_commits_its_documents_and_its_files(shared: "Desk") -> None:
    work(shared, "0001", {"new.py": "x = 1\n"}, "p", code=3)
    began_earlier(shared, "0001")
    shared.write("own.txt", "mine\n")
    shared.porch("approve", "1", "go", code=None)
    said = shared.porch("resume", "1").out
    assert "an earlier release began this run in your checkout, so it goes on there" in said
    assert committed(shared) == ["codev/projects/0001-t0001/note.md"]
    (shared.root / "own.txt").unlink()
    assert "--merge   check, then commit on main what" in shared.porch("finish", "1").out
    said = shared.porch("finish", "1", "--merge").out
    assert "committed on main" in said
    assert "an earlier release began this run in your checkout" in said
    assert committed(shared) == ["new.py"]
    assert shared.git("status", "--porcelain") == ""
    assert "nothing was changed" in shared.porch("finish", "1", "--merge").out


def test_what_a_person_edited_before_an_old_run_stays_uncommitted(shared: "Desk") -> None:
    shared.write("own.txt", "not committed\n")
    old_run(shared, "0001", {"new.py": "x = 1\n"})
    shared.porch("finish", "0001", "--merge")
    assert committed(shared) == ["new.py"]
    assert shared.git("status", "--porcelain") == "?? own.txt"


def test_a_file_that_both_changed_is_refused_and_left_alone(shared: "Desk") -> None:
    shared.write("both.txt", BOTH.replace("0\n", "mine\n", 1))
    old_run(shared, "0001", {"both.txt": BOTH.replace("19\n", "run\n"), "new.py": "x = 1\n"})
    head = shared.git("rev-parse", "HEAD")
    said = shared.porch("finish", "0001", "--merge", code=1).err
    assert "finish-mixed-edits" in said
    assert "not committed them: both.txt" in said
    assert shared.git("rev-parse", "HEAD") == head
    assert "kept, not committed" in shared.porch("finish", "0001", "--keep").out
    shared.git("commit", "-qm", "by hand", "--", "both.txt")
    shared.porch("finish", "0001", "--merge")
    assert committed(shared) == ["new.py"]


def test_an_old_run_is_not_committed_on_another_branch_than_its_own(shared: "Desk") -> None:
    """X9"""
    old_run(shared, "0001", {"new.py": "x = 1\n"})
    shared.git("switch", "-qc", "side")
    for way in ("--merge", "--squash"):
        said = shared.porch("finish", "1", way, code=1).err
        assert "error[finish-other-branch]" in said
        assert f"0001-t0001 began on main, and {shared.root} is on side now" in said
        assert "git switch main there, then finish again" in said
    assert shared.git("rev-parse", "side") == shared.git("rev-parse", "main")
    shared.git("switch", "-q", "main")
    shared.porch("finish", "1", "--merge")
    assert committed(shared) == ["new.py"]


def test_after_another_run_worked_there_an_old_run_is_committed_by_hand(shared: "Desk") -> None:
    old_run(shared, "0001", {"one.py": "1\n"})
    shared.porch("finish", "0001", "--keep")
    work(shared, "0002", {"two.py": "2\n"})
    said = shared.porch("finish", "0001", "--merge", code=1).err
    assert "finish-shared-checkout" in said
    assert "the run 0002-t0002 has worked in" in said
    assert "git add -- one.py two.py" in said


def test_an_older_run_that_went_on_later_is_another_run_too(shared: "Desk") -> None:
    work(shared, "0001", {"one.py": "1\n"}, "p", code=3)
    shared.porch("stop", "1")
    old_run(shared, "0002", {"two.py": "2\n"})
    shared.porch("finish", "0002", "--keep")
    shared.porch("approve", "1", "go", code=None)
    shared.porch("resume", "1")
    assert "the run 0001-t0001 has" in shared.porch("finish", "2", "--merge", code=1).err


def test_a_run_that_was_only_stopped_before_another_began_is_not_in_its_way(
    shared: "Desk",
) -> None:
    work(shared, "0001", {"one.py": "1\n"}, "p", code=3)
    shared.porch("stop", "1")
    old_run(shared, "0002", {"two.py": "2\n"})
    shared.porch("approve", "1", "go")
    shared.porch("finish", "0002", "--merge")
    assert committed(shared) == ["two.py"]


@pytest.mark.parametrize("point", ["git.before-update-ref", "git.after-update-ref"])
def test_a_commit_in_ones_own_checkout_survives_a_kill(shared: "Desk", point: str) -> None:
    old_run(shared, "0001", {"new.py": "x = 1\n"})
    dead = shared.call("finish", "0001", "--merge", code=None, PORCH_CRASH_AT=point)
    assert dead.code == -signal.SIGKILL
    shared.porch("finish", "0001", "--merge")
    assert shared.git("log", "--format=%s", "--grep=finish").splitlines() == ["0001 t0001"]
    assert shared.git("status", "--porcelain") == ""


def test_work_that_was_put_away_is_not_called_committed(shared: "Desk") -> None:
    old_run(shared, "0001", {"new.py": "x = 1\n"})
    shared.git("stash", "-uq")
    head = shared.git("rev-parse", "HEAD")
    assert "there is nothing to commit" in shared.porch("finish", "0001", "--merge", code=1).err
    assert shared.git("rev-parse", "HEAD") == head
    assert shared.facts("WorkFinished", "0001-t0001") == []
    shared.git("stash", "pop", "-q")
    shared.porch("finish", "0001", "--merge")
    assert shared.git("show", "HEAD:new.py") == "x = 1"
