"""`af cleanup` of a tree: what it left goes, and nothing that is not merged is lost."""

import contextlib
import io
from typing import Any

from porch.cli.dispatch import run_words
from tests.whole.v3.conftest import ADD, Home, Script


def clean_up(home: Home) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_words("af", ["cleanup", "add"])
    return code, out.getvalue() + err.getvalue()


def stuck() -> Script:
    payload: dict[str, Any] = {"diagnosis": "no library", "recommendation": "install it"}
    half = {"write": {ADD.target: "half = True\n"}}
    return Script().good(ADD).say("./impl", {**half, "exit": "Stuck", "payload": payload})


def test_e15_of_a_tree_that_was_merged_nothing_is_left(home: Home) -> None:
    """E15"""
    home.run(ADD.spec(), Script().good(ADD), "--into", "main")
    code, said = clean_up(home)
    assert (code, said.strip()) == (0, "v3_add: its worktrees and branches are gone already")
    assert home.refs("refs/heads") == ["refs/heads/main"]


def test_e15_a_branch_that_a_person_merged_goes_and_one_that_nobody_merged_is_kept(
    home: Home,
) -> None:
    """E15"""
    home.run(ADD.spec(), Script().good(ADD))
    head = home.git("rev-parse", "porch/v3_add")
    code, said = clean_up(home)
    assert code == 0
    assert "branch porch/v3_add: kept as archive/porch/v3_add" in said
    assert home.refs("refs/heads") == ["refs/heads/archive/porch/v3_add", "refs/heads/main"]
    assert home.git("rev-parse", "archive/porch/v3_add") == head
    home.git("branch", "-m", "archive/porch/v3_add", "porch/v3_add")
    home.git("merge", "-q", "--no-edit", "porch/v3_add")
    code, said = clean_up(home)
    assert code == 0
    assert "branch porch/v3_add: deleted; main has its commits" in said
    assert home.refs("refs/heads") == ["refs/heads/main"]


def test_e15_of_a_tree_that_failed_all_goes_and_its_work_is_kept(home: Home) -> None:
    """E15: while it can be resumed, it is refused."""
    home.run(ADD.spec(), stuck(), "--into", "main", code=3)
    home.porch("stop", "add")
    code, said = clean_up(home)
    assert code == 4
    assert "needed to resume it" in said
    assert home.worktrees()
    home.porch("resume", "add", code=3)
    home.porch("answer", "add", "person", "stopped")
    home.porch("resume", "add", code=None)
    assert home.outcomes() == {"": "failed"}
    (home.root / "worktrees/v3_add/half.txt").write_text("half")
    code, said = clean_up(home)
    assert code == 0, said
    assert home.worktrees() == []
    assert home.refs("refs/heads/porch") == []
    assert home.file("archive/porch/v3_add", "half.txt") == "half"
    assert clean_up(home)[0] == 0
