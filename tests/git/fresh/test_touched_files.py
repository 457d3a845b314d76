"""Which files an index tells the truth of: exact to the nanosecond, and never one too many."""

import os
import time
from pathlib import Path

import pytest

from porch.git import worktrees
from porch.git.fresh.file_clock import read_file_clock
from porch.git.fresh.touched_files import SECOND_NS, find_unproven
from porch.git.index.raw_index import SHA1_BYTES, iterate_plain_entries
from porch.run.agents.turn_record import stamp_worktree
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")
NAMES = [f"f{n:02}" for n in range(20)]


@pytest.fixture
def place(repo: Path) -> Path:
    for name in NAMES:
        (repo / name).write_text("one\n")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "more")
    # All of a test falls into one second.
    time.sleep(1 - time.time() % 1)
    found = repo / "worktrees" / "w"
    worktrees.ensure_worktree(str(repo), str(found), "w", "HEAD")
    return found


def find_names(place: Path, first_ns: int, data: bytes | None = None) -> tuple[list[str], bool]:
    index = Path(sh(place, "rev-parse", "--git-path", "index"))
    data = data or index.read_bytes()
    found, others = find_unproven(str(place), data, SHA1_BYTES, first_ns, time.time_ns())
    names = dict(iterate_plain_entries(data, SHA1_BYTES))
    return [names[start].decode() for start in found], others


def wait_for_later_clock(place: Path, than: int) -> int:
    while (now := read_file_clock(str(place))) <= than:
        time.sleep(0.001)
    return now


def test_of_files_that_were_there_before_only_those_that_changed_are_read_again(
    place: Path,
) -> None:
    began = wait_for_later_clock(place, (place / NAMES[-1]).stat().st_ctime_ns)
    assert find_names(place, began) == ([], True)
    before = (place / NAMES[3]).stat()
    (place / NAMES[3]).write_text("two\n")
    os.utime(place / NAMES[3], ns=(before.st_atime_ns, before.st_mtime_ns))
    (place / NAMES[5]).unlink()
    assert find_names(place, began) == ([NAMES[3], NAMES[5]], True)


def test_v3_what_changed_when_or_after_a_measurement_began_is_proven_by_nothing(
    place: Path,
) -> None:
    """Who read it in that very instant may have read what was there before."""
    noted = sorted((place / name).stat().st_ctime_ns for name in NAMES)
    assert len(find_names(place, noted[-1])[0]) >= 1
    assert set(find_names(place, noted[0])[0]) >= set(NAMES)


def test_a_file_on_another_device_is_proven_by_no_clock_of_this_one(place: Path) -> None:
    index = Path(sh(place, "rev-parse", "--git-path", "index"))
    began = wait_for_later_clock(place, (place / NAMES[-1]).stat().st_ctime_ns)
    data = bytearray(index.read_bytes())
    start = next(at for at, name in iterate_plain_entries(bytes(data), 20) if name == b"f00")
    data[start + 16 : start + 20] = b"\1\2\3\4"
    assert find_names(place, began, bytes(data)) == (["f00"], True)


def test_seconds_in_which_nothing_changed_need_no_look(place: Path) -> None:
    index = Path(sh(place, "rev-parse", "--git-path", "index"))
    later = time.time_ns() + 5 * SECOND_NS
    found = find_unproven(str(place), index.read_bytes(), SHA1_BYTES, later, later + SECOND_NS)
    assert found == ([], False)


def test_the_clock_of_files_never_goes_back_and_is_only_read_in_linked_worktrees(
    place: Path, repo: Path, tmp_path: Path
) -> None:
    before = read_file_clock(str(place))
    (place / "new").write_text("x")
    assert 0 < before <= (place / "new").stat().st_ctime_ns <= read_file_clock(str(place))
    # What a person has there is not touched.
    seen = (repo / ".git").stat().st_mtime_ns
    assert read_file_clock(str(repo)) == 0
    assert (repo / ".git").stat().st_mtime_ns == seen
    assert read_file_clock(str(tmp_path)) == 0


def test_whoever_reads_the_clock_leaves_the_worktree_as_old_as_it_is(place: Path) -> None:
    """By the time of this file a turn knows that its worktree was deleted and made again."""
    os.utime(place / ".git", ns=(10**18, 10**18))
    before = stamp_worktree(str(place))
    assert read_file_clock(str(place)) > 10**18
    assert stamp_worktree(str(place)) == before != ""
