"""A stopped run whose worktree was cleaned up, or whose branch is gone: what people are told."""

import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

NAME = "p_0001_x"
SPEC = "codev/projects/0001-x/spec.md"
DRAFT: Mapping[str, Any] = {"id": "draft", "artifact": "spec.md", "gate": {"name": "ok"}}
SCRIPT: Mapping[str, Any] = {
    "agents": {
        "draft": [{"write": {SPEC: "# A\n"}, "say": "done"}],
        "work": [{"write": {"new.py": "x = 1\n"}, "say": "done"}],
    },
}


@pytest.fixture
def asked(desk: "Desk") -> "Desk":
    """A run in a worktree that waits at a gate."""
    desk.protocol("p", DRAFT, {"id": "work"})
    script = desk.script(**SCRIPT)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, "--worktree", code=3)
    return desk


@pytest.fixture
def cleaned(asked: "Desk") -> "Desk":
    """The same, stopped and cleaned up."""
    asked.porch("stop", "1")
    assert run_words("af", ["cleanup", "1"]) == 0
    return asked


def af(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run_words("af", list(words)) == code
    return "".join(capsys.readouterr())


def joined(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("view", ["status 1", "pending", "explain 1"])
def test_every_view_says_that_the_worktree_was_removed_and_what_makes_it_again(
    cleaned: "Desk", view: str
) -> None:
    said = joined(cleaned.porch(*view.split()).out)
    kept = f"orktree was removed by `af cleanup`; archive/{NAME} has its work"
    assert kept in said
    assert "`porch resume 0001` makes the worktree again" in said
    cleaned.porch("resume", "1", code=3)
    assert "cleanup" not in cleaned.porch(*view.split()).out


def test_lists_say_that_resume_makes_the_worktree_again(
    cleaned: "Desk", capsys: pytest.CaptureFixture[str]
) -> None:
    # The column ends there: the question comes first, for it can be answered already.
    assert "you: ok, porch resume (makes its worktree ..." in cleaned.porch("status").out
    again = "; stopped: af resume 0001 (makes its worktree again)"
    assert again in af(capsys, "status", "--json")
    assert again[:40] in joined(af(capsys, "status"))
    assert "`af resume 0001` makes the worktree again" in joined(af(capsys, "status", "1"))


def test_the_directory_of_a_removed_worktree_is_not_given_out_as_if_it_were_there(
    cleaned: "Desk", capsys: pytest.CaptureFixture[str]
) -> None:
    said = af(capsys, "open", "1", code=2)
    assert "worktree-gone" in said
    assert f"af resume 0001; or look at its work: git log archive/{NAME}" in said


def test_of_a_run_that_is_over_the_branch_is_named_that_has_its_work_now(
    asked: "Desk", capsys: pytest.CaptureFixture[str]
) -> None:
    asked.porch("approve", "1", "ok")
    asked.porch("resume", "1")
    asked.porch("finish", "1", "--merge")
    af(capsys, "cleanup", "1")
    said = af(capsys, "open", "1", code=2)
    assert "fix: look at its work: git log main" in said
    assert "resume" not in said


def test_a_worktree_that_was_moved_is_found_and_the_way_back_is_told(
    asked: "Desk", capsys: pytest.CaptureFixture[str]
) -> None:
    asked.git("worktree", "move", f"worktrees/{NAME}", "my place")
    there, back = asked.root / "my place", asked.root / "worktrees" / NAME
    command = f"git worktree move '{there}' {back}"
    assert command in asked.porch("resume", "1", code=6).err
    assert command in af(capsys, "open", "1", code=2)
    assert command in asked.porch("approve", "1", "ok", code=2).err
    asked.git("worktree", "move", str(there), str(back))
    asked.porch("resume", "1", code=3)


def test_files_that_nobody_can_read_are_not_approved_but_can_be_rejected(cleaned: "Desk") -> None:
    assert "porch resume 0001" in cleaned.porch("approve", "1", "ok", code=2).err
    assert cleaned.porch("pending", "--json").json["decisions"]
    cleaned.porch("reject", "1", "ok", "--reason", "too short")


def lose_everything(desk: "Desk") -> str:
    """Worktree and branch are gone; returns the last commit of the run."""
    commit = desk.git("rev-parse", NAME)
    shutil.rmtree(desk.root / "worktrees")
    desk.git("worktree", "prune")
    desk.git("branch", "-D", NAME)
    return commit


def test_where_branch_and_worktree_are_gone_the_last_commit_and_the_way_back_are_named(
    asked: "Desk",
) -> None:
    asked.porch("stop", "1")
    commit = lose_everything(asked)
    said = asked.porch("resume", "1", code=6).err
    command = f"git branch {NAME} {commit}"
    assert f"the last commit of the run is {commit[:12]}: {command}" in said
    asked.git(*command.split()[1:])
    asked.porch("resume", "1", code=3)
    assert (asked.root / "worktrees" / NAME / SPEC).exists()


def test_a_last_commit_that_git_no_longer_has_is_said_to_be_gone(asked: "Desk") -> None:
    asked.porch("stop", "1")
    commit = lose_everything(asked)
    asked.git("reflog", "expire", "--expire=now", "--all")
    asked.git("gc", "-q", "--prune=now")
    said = asked.porch("resume", "1", code=6).err
    assert f"was {commit}, and git no longer has it" in said
    assert "another clone or a backup" in said


def test_finish_names_the_last_commit_of_a_run_whose_branch_is_gone(asked: "Desk") -> None:
    asked.porch("approve", "1", "ok")
    asked.porch("resume", "1")
    commit = lose_everything(asked)
    said = asked.porch("finish", "1", "--merge", code=1).err
    command = f"git branch {NAME} {commit}"
    assert command in said
    asked.git(*command.split()[1:])
    asked.porch("finish", "1", "--merge")
    assert asked.git("show", "main:new.py") == "x = 1"
