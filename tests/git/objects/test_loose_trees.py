"""Trees compared by their files say what git says, or leave it to git."""

import random
from pathlib import Path

import pytest

from porch.git.objects.loose_trees import compare_loose_trees
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")
WORDS = ("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev")


def commit(repo: Path) -> str:
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "x", "--allow-empty")
    return sh(repo, "rev-parse", "HEAD")


def compared(repo: Path, old: str, new: str) -> str | None:
    return compare_loose_trees((str(repo / ".git" / "objects"),), old, new)


def test_t7_every_kind_of_change_is_told_as_git_tells_it(repo: Path) -> None:
    for name in ("gone", "kept", "edited", "typed", "dir/deep/file", "x-y", "x/in", "ünï"):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(name)
    old = commit(repo)
    for name in ("gone", "typed", "x/in"):
        (repo / name).unlink()
    (repo / "x").rmdir()
    (repo / "x").write_text("a file where a directory was")
    (repo / "typed").symlink_to("kept")
    (repo / "edited").write_text("else")
    (repo / "edited").chmod(0o755)
    (repo / "dir/deep/more").write_text("more")
    (repo / "ünï").write_text("else")
    new = commit(repo)
    for one, other in ((old, new), (new, old), (old, old)):
        assert compared(repo, one, other) == sh(repo, *WORDS, one, other)
    tree = sh(repo, "rev-parse", f"{new}^{{tree}}")
    assert compared(repo, old, tree) == compared(repo, old, new)


def test_t7_random_trees_are_told_as_git_tells_them(repo: Path) -> None:
    dice, last = random.Random(7), commit(repo)
    for _ in range(4):
        for name in dice.sample([f"{a}/{b}" for a in "pqr" for b in "stu"], 4):
            path = repo / name
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True) if path.exists() else path.write_text(str(dice.random()))
        now = commit(repo)
        assert compared(repo, last, now) == sh(repo, *WORDS, last, now)
        last = now


def test_t7_what_is_packed_damaged_forged_or_no_whole_name_is_left_to_git(repo: Path) -> None:
    old = commit(repo)
    (repo / "new").write_text("new")
    new = commit(repo)
    assert compared(repo, old, "HEAD") is None
    blob = sh(repo, "rev-parse", "HEAD:new")
    assert compared(repo, old, blob) is None
    place = repo / ".git" / "objects" / new[:2] / new[2:]
    place.chmod(0o644)
    whole = place.read_bytes()
    other = repo / ".git" / "objects" / old[:2] / old[2:]
    for bad in (b"", b"rubbish", other.read_bytes()):
        place.write_bytes(bad)
        assert compared(repo, old, new) is None
    place.write_bytes(whole)
    assert compared(repo, old, new) is not None
    sh(repo, "gc", "-q", "--prune=now")
    assert compared(repo, old, new) is None


def test_t7_very_many_objects_are_left_to_git(repo: Path) -> None:
    old = commit(repo)
    for number in range(70):
        (repo / str(number)).mkdir()
        (repo / str(number) / "file").write_text(str(number))
    assert compared(repo, old, commit(repo)) is None
