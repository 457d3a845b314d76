"""A checkout that was made within a second: what is unsaved is seen without reading all of it."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.git import worktrees
from porch.git.fresh.file_clock import read_file_clock
from porch.git.fresh.young_checkout import is_young_and_as_committed
from porch.git.moves.checkout_move import read_status
from tests.git_calls import GIT
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")


@pytest.fixture
def place(repo: Path) -> Path:
    """With an index that is later than the last file, and of the same second."""
    (repo / "src").mkdir()
    for n in range(600):
        (repo / "src" / f"f{n:03}").write_text("one\n")
    (repo / ".gitignore").write_text("*.log\n")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "many")
    time.sleep(1 - time.time() % 1)
    made = repo / "worktrees" / "w"
    worktrees.ensure_worktree(str(repo), str(made), "w", "HEAD")
    write_later_index(made)
    return made


def find_index(place: Path) -> Path:
    return Path(sh(place, "rev-parse", "--path-format=absolute", "--git-path", "index"))


def write_later_index(place: Path) -> None:
    index = find_index(place)
    last = max(path.stat().st_ctime_ns for path in (place / "src").iterdir())
    while read_file_clock(str(place)) <= last:
        time.sleep(0.001)
    index.write_bytes(index.read_bytes())


def list_unsaved(place: Path) -> tuple[list[str], list[str]]:
    with GIT.heard() as commands:
        found = [name for _, name in read_status(str(place), "--ignored=matching")]
    return found, commands


def write_in_place(path: Path, text: str) -> None:
    before = path.stat()
    with path.open("r+") as file:
        file.write(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def stage_change(place: Path) -> None:
    """The index says of the file what is true, but not what is committed."""
    (place / "src/f007").write_text("two\n")
    sh(place, "add", "src/f007")
    write_later_index(place)


def put_below(place: Path) -> None:
    (place / "src/deep").mkdir()
    (place / "src/deep/new").write_text("x")


UNSAVED: dict[str, Callable[[Path], object]] = {
    "src/f003": lambda p: write_in_place(p / "src/f003", "two\n"),
    "src/f004": lambda p: (p / "src/f004").unlink(),
    "src/f005": lambda p: (p / "src/f005").chmod(0o755),
    "src/f007": stage_change,
    "new": lambda p: (p / "new").write_text("x"),
    "src/deep/new": put_below,
    "x.log": lambda p: (p / "x.log").write_text("ignored"),
    "linked": lambda p: (p / "linked").symlink_to("src"),
}


@pytest.mark.parametrize("name", UNSAVED)
def test_v3_whatever_is_unsaved_in_a_young_checkout_is_seen(place: Path, name: str) -> None:
    UNSAVED[name](place)
    found, _ = list_unsaved(place)
    assert found == [name]


def test_v3_a_directory_that_is_a_link_now_is_seen(place: Path) -> None:
    (place / "src").rename(place.parent / "elsewhere")
    (place / "src").symlink_to("../elsewhere")
    assert "src" in list_unsaved(place)[0]


def test_of_a_checkout_in_which_nobody_was_git_reads_nothing(place: Path) -> None:
    assert list_unsaved(place) == ([], [])
    # A directory without files is nothing to git either.
    (place / "empty/inside").mkdir(parents=True)
    assert list_unsaved(place) == ([], [])


def test_v3_a_file_that_is_not_older_than_the_index_is_left_to_git(place: Path) -> None:
    """It may have changed after git looked at it, in the same instant."""
    index = find_index(place)
    noted = max(path.stat().st_ctime_ns for path in (place / "src").iterdir())
    os.utime(index, ns=(noted, noted))
    assert not is_young_and_as_committed(str(place))
    assert list_unsaved(place) == ([], ["status"])


def test_an_index_that_is_older_or_odd_is_left_to_git(place: Path, tmp_path: Path) -> None:
    index = find_index(place)
    data = index.read_bytes()
    os.utime(index, (1, 1))
    assert list_unsaved(place) == ([], ["status"])
    sh(place, "update-index", "--index-version", "4")
    assert list_unsaved(place) == ([], ["status"])
    index.write_bytes(data)
    assert list_unsaved(place) == ([], [])
    sh(place, "update-index", "--assume-unchanged", "src/f001")
    assert "status" in list_unsaved(place)[1]
    assert not is_young_and_as_committed(str(tmp_path))
    index.unlink()
    assert not is_young_and_as_committed(str(place))
