"""Checkouts for readers: whatever somebody left in one, the next reader gets the commit."""

from pathlib import Path

import pytest

from porch.git import checkouts
from tests.repositories import make_repository, sh

pytestmark = pytest.mark.usefixtures("git_home")


@pytest.fixture
def place(repo: Path) -> Path:
    found = repo / "worktrees" / "read"
    checkouts.ensure_read_checkout(str(repo), str(found), "main")
    return found


def left(place: Path) -> str:
    return sh(place, "status", "--porcelain", "--ignored")


def test_a_checkout_that_nobody_touched_is_left_alone(repo: Path, place: Path) -> None:
    before = (place / "a.txt").stat()
    written = (before.st_ino, before.st_mtime_ns, before.st_ctime_ns)
    checkouts.ensure_read_checkout(str(repo), str(place), "main")
    checkouts.ensure_read_checkout(str(repo), str(place), sh(repo, "rev-parse", "main"))
    after = (place / "a.txt").stat()  # reading it may change when it was last read
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == written


def test_what_somebody_changed_added_or_hid_there_is_gone(repo: Path, place: Path) -> None:
    (place / "a.txt").write_text("changed")
    (place / "new.txt").write_text("new")
    checkouts.ensure_read_checkout(str(repo), str(place), "main")
    assert left(place) == ""
    (place / "noise.log").write_text("ignored")
    assert left(place) == "!! noise.log"
    checkouts.ensure_read_checkout(str(repo), str(place), "main")
    assert left(place) == ""
    make_repository(place / "inner", {"z.txt": "z\n"})
    checkouts.ensure_read_checkout(str(repo), str(place), "main")
    assert not (place / "inner").exists()
    (place / "a.txt").unlink()
    sh(place, "add", "-A")
    checkouts.ensure_read_checkout(str(repo), str(place), "main")
    assert left(place) == ""


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
@pytest.mark.parametrize("is_moved", [False, True])
def test_v3_a_file_that_somebody_hid_from_git_there_is_as_it_was_committed(
    repo: Path, place: Path, flag: str, is_moved: bool
) -> None:
    sh(place, "update-index", flag, "a.txt")
    (place / "a.txt").write_text("bent\n")
    if is_moved:
        sh(repo, "commit", "-q", "--allow-empty", "-m", "two")
    checkouts.ensure_read_checkout(str(repo), str(place), "main")
    assert (place / "a.txt").read_text() == "one\n"


def test_v3_a_checkout_that_somebody_made_sparse_has_all_its_files(repo: Path, place: Path) -> None:
    sh(place, "sparse-checkout", "set", "--no-cone", "/.gitignore")
    assert not (place / "a.txt").exists()
    checkouts.ensure_read_checkout(str(repo), str(place), "main")
    assert (place / "a.txt").read_text() == "one\n"
    sh(repo, "commit", "-q", "--allow-empty", "-m", "two")
    checkouts.ensure_read_checkout(str(repo), str(place), "main")
    assert (place / "a.txt").read_text() == "one\n"


def test_it_moves_to_the_commit_that_is_asked_for(repo: Path, place: Path) -> None:
    sh(repo, "commit", "-q", "--allow-empty", "-m", "two")
    checkouts.ensure_read_checkout(str(repo), str(place), "main")
    assert sh(place, "rev-parse", "HEAD") == sh(repo, "rev-parse", "main")
