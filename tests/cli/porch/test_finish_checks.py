"""One rule says what must pass on the merged files, for every kind of run (T1)."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.porch.test_finish_command import committed
from tests.cli.porch.test_track_consent import WRITES, walk_in_worktree

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SETTINGS = "[agent]\nback_off = 0.01\n\n[commands]\n"


def ended(desk: "Desk", *phases: dict[str, Any], commands: str = "") -> None:
    """A complete run on its own branch with these phases."""
    desk.protocol("p", *phases)
    desk.write("codev/config.toml", f"{SETTINGS}{commands}\n")
    script = desk.script(agents={"work": [{"write": {"new.py": "x = 1\n"}, "say": "done"}]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, "--worktree")


def test_an_inline_check_of_the_protocol_fails_the_merge(desk: "Desk") -> None:
    """T1: a check that is written as a command runs as one that names a setting does."""
    ended(desk, {"id": "work", "checks": {"tests": "test ! -f bad.txt"}})
    committed(desk, "bad.txt", "together they fail\n")
    head = desk.git("rev-parse", "main")
    said = desk.porch("finish", "0001", "--merge", code=1).err
    assert "tests failed on the merged files" in said
    hint = "if check 'tests' of work is not about files, write about: outside there"
    assert f"{hint} for later runs: this one keeps its protocol" in said
    assert desk.git("rev-parse", "main") == head


def test_a_command_of_the_settings_that_no_check_names_runs_too(desk: "Desk") -> None:
    """T1: as in graphs and tracks, which have no checks of their own."""
    ended(desk, {"id": "work"}, commands='test = "test ! -f bad.txt"\nlint = "true"')
    committed(desk, "bad.txt", "together they fail\n")
    assert "test failed on the merged files" in desk.porch("finish", "1", "--merge", code=1).err
    desk.git("rm", "-q", "bad.txt")
    desk.git("commit", "-qm", "mended")
    said = desk.porch("finish", "1", "--merge").out
    assert "checked on the merged files: lint passed, test passed" in said


def test_a_track_is_merged_only_if_the_commands_of_the_settings_pass(desk: "Desk") -> None:
    """T1: a track has no checks of its own, and was merged without any."""
    desk.write("codev/config.toml", f'{SETTINGS}test = "test ! -f bad.txt"\n')
    walk_in_worktree(desk, WRITES)
    committed(desk, "bad.txt", "together they fail\n")
    said = desk.porch("finish", "login", "--merge", code=1).err
    assert "test failed on the merged files" in said


LEFT_OUT: dict[str, Any] = {
    "style": {"command": "false", "optional": True},
    "red": {"command": "test ! -f later.txt", "once": True},
    "small": {"net_lines_below": 100},
    "asked": {"command": "test -d ../../.git", "about": "outside"},
    "each": {"command": 'test -z "$PLAN_PHASE_ID"'},
    "slow": {"setting": "slow", "if_missing": "skip"},
}


def test_each_check_that_is_left_out_is_named_with_its_reason(desk: "Desk") -> None:
    """T1: nothing is left out in silence, and nothing is called missing that was left out."""
    ended(desk, {"id": "work", "checks": LEFT_OUT})
    known = json.loads(desk.porch("finish", "0001", "--json").out)
    assert known["checks"] == {}
    assert known["left_out"] == {
        "style": "optional",
        "red": "counts only at its moment: once",
        "small": "compares with the files the run began with",
        "asked": "not about files: about: outside",
        "each": "about one plan phase: $PLAN_PHASE_ID",
        "slow": "[commands] slow is not set",
    }
    said = desk.porch("finish", "0001", "--merge").out
    assert "no check ran on the merged files" in said
    assert "asked (not about files: about: outside)" in said


def test_no_check_is_said_only_where_there_is_none(desk: "Desk") -> None:
    """T1."""
    ended(desk, {"id": "work"})
    assert "no check was set, so none ran" in desk.porch("finish", "0001", "--merge").out


def test_one_command_line_runs_once_however_often_it_is_written(desk: "Desk") -> None:
    """T1."""
    line = "test -f new.py"
    work = {"id": "work", "checks": {"tests": line, "again": {"command": line, "optional": True}}}
    ended(desk, work, commands=f"test = '{line}'")
    assert json.loads(desk.porch("finish", "0001", "--json").out)["checks"] == {"tests": line}


@pytest.mark.parametrize("word,fix", [("file", "did you mean 'files'?"), ("pr", "leave it")])
def test_what_a_check_is_about_is_one_of_two_words(desk: "Desk", word: str, fix: str) -> None:
    """T5."""
    desk.protocol("p", {"id": "work", "checks": {"t": {"command": "true", "about": word}}})
    said = desk.porch("protocols", "lint", "p", code=2)
    assert f"'about' must be files, form or outside, not '{word}'" in said.out + said.err
    assert fix in said.out + said.err


def test_a_review_of_a_track_that_was_waived_is_told_once_and_with_who_waived_it(
    desk: "Desk",
) -> None:
    example = Path(__file__).parents[3] / "examples/track"
    shutil.copytree(example, desk.root, dirs_exist_ok=True)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a track")
    desk.porch("run", "codument", "tracks/login", "--script", "script.yaml", code=3)
    desk.porch("approve", "login", "P1-before")
    desk.porch("resume", "login", code=3)
    desk.porch("approve", "login", "T1.2-after-ai:issues", "--override", "a known risk")
    for gate in ("P1-after", "P2-after-criteria"):
        if desk.porch("resume", "login", code=None).code == 3:
            desk.porch("approve", "login", gate)
    desk.porch("resume", "login", code=None)
    lines = desk.porch("finish", "login").out.split("\n")
    [told] = [line for line in lines if "  not passed: " in line]
    assert "a known risk" in told
