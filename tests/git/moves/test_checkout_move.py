"""Whatever fails while a branch moves with its files: afterwards all three are of one commit."""

import contextlib
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import index_lock, repository, worktrees
from porch.git import merge as merging
from porch.git.moves import checkout_move
from porch.testing import kill_python_at
from tests.full_disk import count_calls, make_short_of_room
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")
SMALL, LARGE = "small\n", "large\n" * 40_000
LIMIT = 64 * 1024


@pytest.fixture(params=["main", "parent"])
def target(request: pytest.FixtureRequest) -> str:
    """A branch in a person's own checkout, and one in a worktree of porch."""
    return str(request.param)


def checkout(repo: Path, target: str) -> Path:
    place = repo / "worktrees" / target
    if target != "main" and not place.exists():
        worktrees.ensure_worktree(str(repo), str(place), target, "main")
    return repo if target == "main" else place


def feature(repo: Path, target: str, **files: str) -> tuple[str, str]:
    """A commit on top of the target that nobody has published; and the head of the target."""
    place = checkout(repo, target)
    for name, text in files.items():
        (place / name).write_text(text)
    (place / "a.txt").unlink()
    old = sh(place, "rev-parse", "HEAD")
    sh(place, "add", "-A")
    sh(place, "commit", "-qm", "feature")
    new = sh(place, "rev-parse", "HEAD")
    sh(place, "reset", "-q", "--hard", old)
    return old, new


def publish(repo: Path, target: str, old: str, new: str) -> str:
    own = None if target == "main" else str(checkout(repo, target))
    return merging.publish_commit(str(repo), target, new=new, old=old, checkout=own)


def assert_of_one_commit(repo: Path, target: str, commit: str) -> None:
    place = checkout(repo, target)
    assert sh(place, "rev-parse", "HEAD") == commit
    assert sh(place, "status", "--porcelain") == ""
    assert sh(repo, "for-each-ref", "refs/porch/moving") == ""
    (place / "next.txt").write_text("next")
    sh(place, "add", "next.txt")
    sh(place, "commit", "-qm", "a person's next commit")
    assert sh(place, "show", "--name-status", "--format=", "HEAD").split() == ["A", "next.txt"]


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """No file may grow beyond a limit: git dies in the middle of a large one, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_t2_a_disk_that_fills_up_moves_nothing(repo: Path, target: str) -> None:
    old, new = feature(repo, target, big=LARGE, other="other\n")
    with full_disk(), pytest.raises(OutsideError, match="read-tree"):
        publish(repo, target, old, new)
    assert_of_one_commit(repo, target, old)


def test_t2_whatever_call_of_git_finds_the_disk_full_all_is_of_one_commit(
    repo: Path, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step: now, or at the next launch, when there is room again."""
    full, path, calls, tried = tmp_path / "full", os.environ["PATH"], 1, []
    monkeypatch.setattr(index_lock, "WAIT_S", 0.1)
    while calls not in tried:
        (checkout(repo, target) / "a.txt").touch()
        old, new = feature(repo, target, **{f"file{calls}": SMALL, "other": f"{calls}\n"})
        monkeypatch.setenv("PATH", make_short_of_room(full, calls))
        with contextlib.suppress(OutsideError):
            publish(repo, target, old, new)
        tried.append(calls)
        is_last = count_calls(full, calls) < calls
        monkeypatch.setenv("PATH", path)
        merging.finish_all_moves(str(repo))
        place = checkout(repo, target)
        head = sh(place, "rev-parse", "HEAD")
        assert head in (old, new), f"after {calls} calls"
        assert sh(place, "status", "--porcelain") == "", f"after {calls} calls"
        assert sh(repo, "for-each-ref", "refs/porch/moving") == ""
        calls += not is_last
    assert calls > 3, "nobody has asked git for so little"


def test_t2_what_a_full_disk_did_not_let_take_back_is_repaired_at_the_next_launch(
    repo: Path, target: str
) -> None:
    """The old file is as large as the new one, so it cannot be brought back either."""
    place = checkout(repo, target)
    (place / "big").write_text(LARGE)
    sh(place, "add", "-A")
    sh(place, "commit", "-qm", "big")
    old, new = feature(repo, target, big=LARGE + "more\n", other="other\n")
    with full_disk(), pytest.raises(OutsideError, match="read-tree"):
        publish(repo, target, old, new)
    assert sh(place, "rev-parse", "HEAD") == old
    assert sh(place, "diff", "--cached", "--name-only") == "", "a plain commit removes nothing"
    assert merging.finish_all_moves(str(repo)) == [target]
    assert_of_one_commit(repo, target, old)
    assert merging.finish_all_moves(str(repo)) == []


def test_t2_a_branch_that_cannot_be_swapped_leaves_its_files_as_they_were(
    repo: Path, target: str
) -> None:
    old, new = feature(repo, target, other="other\n")
    lock = repo / ".git" / "refs" / "heads" / f"{target}.lock"
    lock.touch()
    with pytest.raises(OutsideError, match="update-ref"):
        publish(repo, target, old, new)
    lock.unlink()
    assert_of_one_commit(repo, target, old)


def test_t2_a_branch_that_somebody_else_moved_keeps_their_commit(
    repo: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = feature(repo, target, other="other\n")
    theirs = sh(repo, "commit-tree", f"{old}^{{tree}}", "-p", old, "-m", "theirs")

    def move_meanwhile(index: str) -> contextlib.AbstractContextManager[index_lock.HeldIndex]:
        sh(repo, "update-ref", f"refs/heads/{target}", theirs)
        return index_lock.hold_index(index)

    monkeypatch.setattr(checkout_move, "hold_index", move_meanwhile)
    assert publish(repo, target, old, new) == "stale"
    assert_of_one_commit(repo, target, theirs)


def test_t2_an_index_that_a_git_holds_stops_the_move_before_it_begins(
    repo: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = feature(repo, target, other="other\n")
    monkeypatch.setattr(index_lock, "WAIT_S", 0.1)
    lock = Path(repository.find_git_path(str(checkout(repo, target)), "index.lock"))
    place = checkout_move.Checkout(str(checkout(repo, target)), own=False)
    lock.touch()
    with pytest.raises(OutsideError, match=r"index\.lock exists"):
        checkout_move.swap_branch_head(str(repo), target, new=new, old=old, checkout=place)
    lock.unlink(missing_ok=True)
    assert_of_one_commit(repo, target, old)


def test_t2_a_move_that_cannot_be_noted_does_not_begin(repo: Path, target: str) -> None:
    old, new = feature(repo, target, other="other\n")
    (repo / ".git" / "refs" / "porch").mkdir(exist_ok=True)
    (repo / ".git" / "refs" / "porch" / "moving").write_text("in the way")
    with pytest.raises(OutsideError, match="update-ref"):
        publish(repo, target, old, new)
    (repo / ".git" / "refs" / "porch" / "moving").unlink()
    assert_of_one_commit(repo, target, old)


PUBLISH = """
import sys
from porch.git import merge as merging
repo, branch, new, old, checkout = sys.argv[1:]
merging.publish_commit(repo, branch, new=new, old=old, checkout=checkout or None)
"""
POINTS = {
    "merge.after-mark": "old",
    "merge.before-swap": "old",
    "merge.after-swap": "new",
    "merge.after-checkout": "new",
}


@pytest.mark.parametrize("point", POINTS)
def test_t2_a_kill_at_any_instant_is_repaired_at_the_next_launch_of_anything(
    repo: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_lock, "WAIT_S", 0.1)
    old, new = feature(repo, "main", other="other\n", more=SMALL)
    dead = kill_python_at(point, PUBLISH, str(repo), "main", new, old, "")
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    assert merging.finish_all_moves(str(repo)) == ["main"]
    assert_of_one_commit(repo, "main", old if POINTS[point] == "old" else new)


def test_a_kill_before_a_move_is_noted_leaves_only_a_lock_that_the_next_move_takes_over(
    repo: Path,
) -> None:
    """R2: with its children, so that the lock of a git may lie beside."""
    old, new = feature(repo, "main", other="other\n")
    kill_python_at("merge.after-lock", PUBLISH, str(repo), "main", new, old, "")
    assert (repo / ".git" / "index.lock").exists()
    (repo / ".git" / "index.porch.lock").touch()
    assert index_lock.is_lock_of_dead_porch(str(repo / ".git" / "index"))
    assert publish(repo, "main", old, new) == "done"
    assert_of_one_commit(repo, "main", new)
    assert not list((repo / ".git").glob("index.*"))


def test_t2_while_the_branch_is_ahead_of_the_index_nobody_can_commit(repo: Path) -> None:
    old, new = feature(repo, "main", other="other\n")
    kill_python_at("merge.after-swap", PUBLISH, str(repo), "main", new, old, "")
    with pytest.raises(AssertionError, match=r"index\.lock"):
        sh(repo, "commit", "-qm", "would remove it")


def test_t2_a_branch_that_is_gone_or_stands_nowhere_needs_no_repair(repo: Path) -> None:
    head = sh(repo, "rev-parse", "HEAD")
    sh(repo, "update-ref", f"refs/porch/moving/nobody/{head}", head)
    assert merging.finish_all_moves(str(repo)) == ["nobody"]
    assert merging.finish_all_moves(str(repo)) == []


def test_t2_what_a_person_did_after_the_death_stays_theirs(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They removed the lock, wrote into a file that was on its way, and committed another."""
    monkeypatch.setattr(index_lock, "WAIT_S", 0.1)
    old, new = feature(repo, "main", other="other\n", more=SMALL)
    kill_python_at("merge.before-swap", PUBLISH, str(repo), "main", new, old, "")
    (repo / ".git" / "index.lock").unlink()
    (repo / "more").write_text("my own words\n")
    (repo / "mine.txt").write_text("mine")
    sh(repo, "add", "mine.txt")
    sh(repo, "commit", "-qm", "mine")
    merging.finish_all_moves(str(repo))
    assert sh(repo, "status", "--porcelain") == "?? more"
    assert (repo / "more").read_text() == "my own words\n"


def test_t2_where_files_have_one_name_only_the_index_is_copied(
    repo: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: str) -> None:
        raise PermissionError(1, "no second names here")

    old, new = feature(repo, target, other="other\n")
    monkeypatch.setattr("os.link", refuse)
    assert publish(repo, target, old, new) == "done"
    assert_of_one_commit(repo, target, new)


@pytest.mark.parametrize(
    "mine, theirs, is_safe",
    [
        ("out", "out/theirs.txt", False),
        ("out/same.txt", "out/same.txt", False),
        ("out/deep/mine.txt", "out/deep", False),
        ("out/mine.txt", "out/theirs.txt", True),
        ("else.txt", "out/theirs.txt", True),
    ],
)
def test_what_git_ignores_in_a_persons_checkout_is_not_overwritten(
    repo: Path, mine: str, theirs: str, is_safe: bool
) -> None:
    (repo / theirs).parent.mkdir()
    old, new = feature(repo, "main", **{theirs: "theirs\n"})
    exclude = repo / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("/out\n/else.txt\n")
    (repo / mine).parent.mkdir(parents=True, exist_ok=True)
    (repo / mine).write_text("mine\n")
    if is_safe:
        assert publish(repo, "main", old, new) == "done"
        assert (repo / theirs).read_text() == "theirs\n"
    else:
        with pytest.raises(OutsideError, match="would be overwritten"):
            publish(repo, "main", old, new)
        assert sh(repo, "rev-parse", "main") == old
    assert (repo / mine).read_text() == "mine\n"
