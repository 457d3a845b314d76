"""R6: a copy of a repository leaves the original alone."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.plan.prompts import plan_document, plan_merge
from porch.store.where import find_project
from tests import commands
from tests.plan.yards import carried_out, ids

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

WORK: Mapping[str, Any] = {"id": "work"}
LOOK: Mapping[str, Any] = {"id": "look", "gate": "look"}
MORE: Mapping[str, Any] = {"id": "more"}
PLACE = "worktrees/p_0001_x"


def read_all(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


@pytest.fixture
def copied(desk: "Desk") -> Path:
    """A run waits at its gate in a worktree; the project was copied with all its files."""
    agents = {name: [{"write": {f"{name}.py": "x\n"}}] for name in ("work", "more")}
    desk.begin_in_worktree(WORK, LOOK, MORE, agents=agents, code=3)
    copy = desk.root.parent / "copy"
    shutil.copytree(desk.root, copy, symlinks=True)
    return copy


@pytest.mark.parametrize("words", [("resume", "1"), ("approve", "1"), ("finish", "1", "--merge")])
@pytest.mark.parametrize("inside", [".", PLACE])
def test_r6_a_copy_writes_nothing_into_the_original(
    desk: "Desk", copied: Path, words: tuple[str, ...], inside: str
) -> None:
    (copied / PLACE / "left.py").write_text("not committed\n")
    before = read_all(desk.root)
    done = commands.run("porch", words, copied / inside, dict(os.environ))
    assert done.returncode == 5, done.stdout + done.stderr
    assert "foreign-worktree" in done.stderr
    assert str(desk.root) in done.stderr
    assert read_all(desk.root) == before
    assert (copied / PLACE / "left.py").exists()


@pytest.mark.parametrize("program, words", [
    ("af", ("cleanup", "1")),
    ("af", ("resume", "1")),
    ("af", ("kickoff", "0002", "--title", "y", "--protocol", "p", "--no-claude")),
    ("porch", ("run", "p", "0002", "--title", "y", "--no-claude")),
])  # fmt: skip
@pytest.mark.parametrize("inside", [".", PLACE])
def test_r6_what_a_copied_worktree_starts_or_removes_is_not_in_the_original(
    desk: "Desk", copied: Path, program: str, words: tuple[str, ...], inside: str
) -> None:
    """A copied worktree leads to the original, and a copied project has worktrees of its own."""
    for word in ("approve", "resume"):
        desk.porch(word, "1")
    shutil.rmtree(copied)
    shutil.copytree(desk.root, copied, symlinks=True)
    before = read_all(desk.root)
    done = commands.run(program, words, copied / inside, dict(os.environ))
    if inside == PLACE or words[0] == "cleanup":
        assert done.returncode == 5, done.stdout + done.stderr
        assert "foreign-worktree" in done.stderr
    assert read_all(desk.root) == before


@pytest.mark.parametrize("program, words", [
    ("envoy", ("plan", "init")),
    ("envoy", ("plan", "write-prompt", "1")),
    ("envoy", ("git", "cleanup-worktrees", "--force-orphans")),
    ("codev", ("migrate", "--adopt")),
])  # fmt: skip
def test_r6_a_copied_worktree_is_refused_by_what_is_about_the_whole_project(
    desk: "Desk", copied: Path, program: str, words: tuple[str, ...]
) -> None:
    before = read_all(desk.root)
    done = commands.run(program, words, copied / PLACE, dict(os.environ))
    assert "is a copy of the worktree" in done.stdout + done.stderr
    assert read_all(desk.root) == before


def test_r6_the_doctor_repairs_nothing_from_a_copied_worktree(desk: "Desk", copied: Path) -> None:
    (desk.root / "codev" / "config.toml").unlink()
    before = read_all(desk.root)
    done = commands.run("codev", ("doctor", "--fix"), copied / PLACE, dict(os.environ))
    assert done.returncode == 5
    assert "is a copy of the worktree" in done.stderr
    assert read_all(desk.root) == before


@pytest.mark.parametrize("words", [
    ("plan", "complete-prompt", "1"),
    ("git", "merge-worktree", "2"),
    ("git", "cleanup-worktrees"),
    ("plan", "worktree", "2"),
])  # fmt: skip
def test_r6_in_a_copy_the_worktrees_of_prompts_are_those_of_the_original(
    desk: "Desk", words: tuple[str, ...]
) -> None:
    """They lie beside both, and only one of the two repositories is named in them."""
    desk.git("switch", "-qc", "feat/x")
    where = find_project(str(desk.root))
    plan_document.write_plan(where, "T", "o", "c")
    branches = [carried_out(where, "1"), carried_out(where, "2")]
    plan_merge.merge_worktree(where, ids("1")[0])
    copy = desk.root.parent / "copy"
    shutil.copytree(desk.root, copy, symlinks=True)
    places = [desk.root, *(each.path for each in branches)]
    before = [read_all(place) for place in places]
    commands.run("envoy", words, copy, dict(os.environ))
    assert [read_all(place) for place in places] == before


def test_r6_the_doctor_tries_no_commands_from_a_copied_worktree(desk: "Desk", copied: Path) -> None:
    before = read_all(desk.root)
    done = commands.run("codev", ("doctor",), copied / PLACE, dict(os.environ))
    assert "is a copy of the worktree" in " ".join(done.stdout.split())
    assert read_all(desk.root) == before


def test_r6_the_copy_goes_on_by_itself_as_the_message_says(desk: "Desk", copied: Path) -> None:
    head = desk.git("rev-parse", "p_0001_x")
    shutil.rmtree(copied / PLACE)
    shutil.rmtree(copied / ".git" / PLACE)
    for words in (("approve", "1"), ("resume", "1")):
        done = commands.run("porch", words, copied, dict(os.environ))
        assert done.returncode == 0, done.stdout + done.stderr
    assert desk.git("rev-parse", "p_0001_x") == head
    assert desk.git("-C", str(copied), "rev-list", "--count", f"{head}..p_0001_x") != "0"


def test_r6_the_original_goes_on_beside_its_copy(desk: "Desk", copied: Path) -> None:
    assert (copied / PLACE).exists()
    desk.porch("approve", "1")
    desk.porch("resume", "1")
    assert desk.entered()[-1] == "complete"
