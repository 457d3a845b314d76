"""Real worktrees: made once, found again after any death, never removed with work in them."""

import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import checkouts, index_lock, repository, worktrees
from porch.git.moves.checkout_repair import salvage_uncommitted
from porch.testing import kill_python_at
from tests.repositories import sh

TRAILER = "Porch-Effect: run-1/impl#1/git/commit/1"

pytestmark = pytest.mark.usefixtures("git_home")


def branches(repo: Path) -> list[str]:
    return sh(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()


def known(repo: Path) -> list[str]:
    return [os.path.basename(each.path) for each in worktrees.list_worktrees(str(repo))][1:]


@pytest.fixture
def place(repo: Path) -> Path:
    return repo / "worktrees" / "a"


@pytest.fixture
def made(repo: Path, place: Path) -> Path:
    worktrees.ensure_worktree(str(repo), str(place), "v3.a", "main")
    return place


def again(repo: Path, place: Path) -> None:
    worktrees.ensure_worktree(str(repo), str(place), "v3.a", "main")


def test_a_worktree_is_made_on_a_new_branch_at_its_base(repo: Path, made: Path) -> None:
    assert sh(made, "symbolic-ref", "--short", "HEAD") == "v3.a"
    assert sh(made, "rev-parse", "HEAD") == sh(repo, "rev-parse", "main")
    assert (made / "a.txt").read_text() == "one\n"
    assert sh(repo, "status", "--porcelain") == "", "our directory is not shown to the person"
    assert "/worktrees/" in (repo / ".git" / "info" / "exclude").read_text().splitlines()


def test_a_worktree_that_stands_is_left_as_it_is(repo: Path, made: Path) -> None:
    (made / "a.txt").write_text("half done\n")
    (made / "new.txt").write_text("new")
    again(repo, made)
    assert worktrees.list_changed_paths(str(made)) == ["a.txt", "new.txt"]


def test_an_existing_branch_is_kept_where_it_is(repo: Path, place: Path) -> None:
    sh(repo, "switch", "-qc", "v3.a")
    sh(repo, "commit", "-q", "--allow-empty", "-m", "ahead")
    ahead = sh(repo, "rev-parse", "HEAD")
    sh(repo, "switch", "-q", "main")
    again(repo, place)
    assert sh(place, "rev-parse", "HEAD") == ahead


def test_a_worktree_works_from_a_bare_repository(repo: Path, tmp_path: Path) -> None:
    sh(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    place = tmp_path / "tree"
    worktrees.ensure_worktree(str(tmp_path / "bare.git"), str(place), "x", "main")
    assert (place / "a.txt").exists()


def test_a_directory_that_is_gone_comes_back_from_its_branch(repo: Path, made: Path) -> None:
    (made / "b.txt").write_text("b")
    assert worktrees.commit_allowed_changes(str(made), lambda _: True, "m", TRAILER)
    subprocess.run(["rm", "-rf", str(made)], check=True)
    again(repo, made)
    assert (made / "b.txt").read_text() == "b"
    assert known(repo) == ["a"]


def test_a_worktree_that_git_did_not_finish_is_made_anew(repo: Path, made: Path) -> None:
    """As git leaves it when it is killed: locked, with a lock on the index, half its files."""
    admin = repo / ".git" / "worktrees" / "a"
    (admin / "locked").write_text("initializing")
    (admin / "index.lock").write_text("")
    (admin / "index").unlink()
    (made / "a.txt").unlink()
    again(repo, made)
    assert (made / "a.txt").read_text() == "one\n"
    assert worktrees.list_changed_paths(str(made)) == []


def test_the_index_lock_of_a_killed_git_is_removed(
    repo: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_lock, "WAIT_S", 0.1)
    (repo / ".git" / "worktrees" / "a" / "index.lock").write_text("")
    again(repo, made)
    (made / "a.txt").write_text("two\n")
    sh(made, "commit", "-qam", "works")


def test_the_index_lock_of_a_living_git_is_waited_for(repo: Path, made: Path) -> None:
    lock = repo / ".git" / "worktrees" / "a" / "index.lock"
    lock.write_text("")
    timer = threading.Timer(0.2, lock.unlink)
    timer.start()
    again(repo, made)
    timer.join()
    assert not lock.exists()


@pytest.mark.parametrize("how", [("switch", "-qc", "other"), ("checkout", "-q", "--detach")])
def test_a_worktree_that_a_person_switched_is_refused(
    repo: Path, made: Path, how: tuple[str, ...]
) -> None:
    sh(made, *how)
    with pytest.raises(OutsideError) as refused:
        again(repo, made)
    assert refused.value.findings[0].code == "worktree-moved"
    assert "v3.a" in refused.value.findings[0].fix


def test_where_the_git_file_is_gone_nobody_is_told_to_switch_the_checkout_around_it(
    repo: Path,
) -> None:
    place = repo / "worktrees" / "w"
    worktrees.ensure_worktree(str(repo), str(place), "w", "main")
    (place / ".git").unlink()
    with pytest.raises(OutsideError, match="is not the top directory") as refused:
        worktrees.ensure_worktree(str(repo), str(place), "w", "main")
    fix = refused.value.findings[0].fix or ""
    assert "git worktree repair" in fix
    assert "git switch" not in fix
    sh(repo, "worktree", "repair")
    assert not worktrees.ensure_worktree(str(repo), str(place), "w", "main")


def test_a_registered_directory_that_lost_its_git_file_is_refused(repo: Path, made: Path) -> None:
    (made / ".git").unlink()
    with pytest.raises(OutsideError, match="not the top directory of a worktree"):
        again(repo, made)
    assert (made / "a.txt").exists()


def test_a_worktree_of_another_repository_is_refused(
    repo: Path, made: Path, tmp_path: Path
) -> None:
    sh(tmp_path, "clone", "-q", str(repo), "other")
    subprocess.run(["rm", "-rf", str(made)], check=True)
    sh(tmp_path / "other", "worktree", "add", "-q", "-b", "v3.a", str(made))
    with pytest.raises(OutsideError, match="another repository"):
        again(repo, made)


def test_a_branch_that_is_checked_out_elsewhere_is_refused(repo: Path, place: Path) -> None:
    with pytest.raises(OutsideError, match=r"'main' is checked out in .*repo"):
        worktrees.ensure_worktree(str(repo), str(place), "main", "main")
    assert not place.exists()


def test_a_directory_in_the_way_is_refused_and_no_branch_stays(repo: Path, place: Path) -> None:
    place.mkdir(parents=True)
    (place / "mine.txt").write_text("mine")
    with pytest.raises(OutsideError, match="already exists"):
        again(repo, place)
    assert branches(repo) == ["main"]
    assert known(repo) == []
    assert (place / "mine.txt").read_text() == "mine"


def test_a_checkout_that_fails_half_way_is_rolled_back(repo: Path, place: Path) -> None:
    (repo / ".gitattributes").write_text("*.txt filter=broken\n")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "attributes")
    # Of the person, not of the repository: programs that only that names are not run.
    sh(repo, "config", "--global", "filter.broken.smudge", "false")
    sh(repo, "config", "--global", "filter.broken.required", "true")
    with pytest.raises(OutsideError):
        again(repo, place)
    assert branches(repo) == ["main"]
    assert known(repo) == []
    assert not place.exists()


def test_a_failed_worktree_keeps_a_branch_that_was_there_before(repo: Path, place: Path) -> None:
    sh(repo, "branch", "v3.a")
    place.parent.mkdir()
    place.write_text("a file in the way")
    with pytest.raises(OutsideError):
        again(repo, place)
    assert branches(repo) == ["main", "v3.a"]


def test_outside_of_any_repository_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="not in a git repository"):
        worktrees.ensure_worktree(str(tmp_path), str(tmp_path / "x"), "b", "main")


def test_an_unknown_base_leaves_nothing_behind(repo: Path, place: Path) -> None:
    with pytest.raises(OutsideError):
        worktrees.ensure_worktree(str(repo), str(place), "v3.a", "nowhere")
    assert (branches(repo), known(repo)) == (["main"], [])


def test_siblings_are_made_at_the_same_time(repo: Path) -> None:
    names = [f"n{number}" for number in range(6)]

    def make(name: str) -> None:
        worktrees.ensure_worktree(str(repo), str(repo / "worktrees" / name), f"v3.{name}", "main")

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(make, names))
    assert sorted(known(repo)) == names


ENSURE = """
import sys
from porch.git import worktrees
worktrees.ensure_worktree(sys.argv[1], sys.argv[2], "v3.a", "main")
"""


@pytest.mark.parametrize("point", ["worktree.after-add"])
def test_a_worktree_whose_maker_was_killed_is_finished(repo: Path, place: Path, point: str) -> None:
    dead = kill_python_at(point, ENSURE, str(repo), str(place))
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    again(repo, place)
    assert worktrees.list_changed_paths(str(place)) == []
    assert known(repo) == ["a"]


# Scratch checkouts.


def test_a_detached_checkout_is_there_for_the_while_only(repo: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    with checkouts.open_detached_checkout(str(repo), str(scratch), "main") as path:
        assert path == str(scratch)
        assert (scratch / "a.txt").read_text() == "one\n"
        assert repository.find_repository(path) is not None
        (scratch / "build.txt").write_text("output of a check")
    assert not scratch.exists()
    assert known(repo) == []


def test_a_detached_checkout_goes_when_its_work_fails(repo: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    with (
        pytest.raises(ZeroDivisionError),
        checkouts.open_detached_checkout(str(repo), str(scratch), "main"),
    ):
        raise ZeroDivisionError
    assert (scratch.exists(), known(repo)) == (False, [])


@pytest.mark.parametrize("left", ["whole", "without .git", "registered only"])
def test_a_detached_checkout_left_by_a_crash_is_replaced(
    repo: Path, tmp_path: Path, left: str
) -> None:
    scratch = tmp_path / "scratch"
    sh(repo, "worktree", "add", "-q", "--detach", str(scratch), "main")
    (scratch / "junk").write_text("junk")
    if left == "without .git":
        (scratch / ".git").unlink()
    elif left == "registered only":
        subprocess.run(["rm", "-rf", str(scratch)], check=True)
    with checkouts.open_detached_checkout(str(repo), str(scratch), "main"):
        assert sorted(os.listdir(scratch)) == [".git", ".gitignore", "a.txt"]
    assert (scratch.exists(), known(repo)) == (False, [])


def test_a_detached_checkout_never_replaces_somebodys_files(repo: Path, made: Path) -> None:
    with (
        pytest.raises(OutsideError, match="not a temporary one"),
        checkouts.open_detached_checkout(str(repo), str(made), "main"),
    ):
        raise AssertionError("not reached")
    sh(repo, "checkout", "-q", "--detach")
    with (
        pytest.raises(OutsideError, match="already exists"),
        checkouts.open_detached_checkout(str(repo), str(repo), "main"),
    ):
        raise AssertionError("not reached")
    assert (repo / "a.txt").exists()
    assert (made / "a.txt").exists()


# What lies uncommitted.


def leave_work(place: Path) -> None:
    (place / "a.txt").write_text("changed\n")
    (place / "new ü.txt").write_text("new\n")
    (place / "staged.txt").write_text("staged\n")
    sh(place, "add", "staged.txt")
    (place / "x.log").write_text("ignored\n")


def test_dirty_names_what_is_uncommitted_and_not_what_is_ignored(made: Path) -> None:
    assert worktrees.list_changed_paths(str(made)) == []
    leave_work(made)
    assert worktrees.list_changed_paths(str(made)) == ["a.txt", "new ü.txt", "staged.txt"]
    assert worktrees.list_changed_tracked_paths(str(made)) == ["a.txt", "staged.txt"]


def test_salvage_keeps_everything_and_changes_nothing(repo: Path, made: Path) -> None:
    leave_work(made)
    before = sh(made, "status", "--porcelain"), sh(made, "rev-parse", "HEAD")
    commit = salvage_uncommitted(str(made), "refs/porch/salvage/a", "Left behind")
    assert commit == sh(repo, "rev-parse", "refs/porch/salvage/a")
    assert (sh(made, "status", "--porcelain"), sh(made, "rev-parse", "HEAD")) == before
    names = sh(repo, "-c", "core.quotePath=0", "diff", "--name-only", "HEAD", commit).splitlines()
    assert names == ["a.txt", "new ü.txt", "staged.txt"]
    assert sh(repo, "show", f"{commit}:a.txt") == "changed"
    assert sh(repo, "log", "-1", "--format=%B", commit) == "Left behind"


def test_salvage_of_a_clean_worktree_is_none(repo: Path, made: Path) -> None:
    assert salvage_uncommitted(str(made), "refs/porch/salvage/a", "m") is None
    assert sh(repo, "for-each-ref", "refs/porch") == ""


def test_salvage_twice_is_one_commit_and_a_later_one_keeps_the_earlier(
    repo: Path, made: Path
) -> None:
    leave_work(made)
    first = salvage_uncommitted(str(made), "refs/porch/salvage/a", "m")
    assert salvage_uncommitted(str(made), "refs/porch/salvage/a", "m") == first
    (made / "a.txt").write_text("changed again\n")
    second = salvage_uncommitted(str(made), "refs/porch/salvage/a", "m")
    assert second is not None
    assert sh(repo, "rev-parse", f"{second}^2") == first


def test_salvage_takes_a_conflict_with_its_markers(repo: Path, made: Path) -> None:
    (made / "a.txt").write_text("two\n")
    sh(made, "commit", "-qam", "two")
    (repo / "a.txt").write_text("three\n")
    sh(repo, "commit", "-qam", "three")
    subprocess.run(["git", "merge", "main"], cwd=made, capture_output=True, check=False)
    commit = salvage_uncommitted(str(made), "refs/porch/salvage/a", "m")
    assert commit is not None
    assert "<<<<<<<" in sh(repo, "show", f"{commit}:a.txt")


def test_commit_all_takes_what_is_allowed_and_leaves_the_rest(made: Path) -> None:
    leave_work(made)
    (made / ".gitignore").unlink()
    commit = worktrees.commit_allowed_changes(
        str(made), lambda path: path != "staged.txt", "m", TRAILER
    )
    assert commit == sh(made, "rev-parse", "HEAD")
    assert worktrees.list_changed_paths(str(made)) == ["staged.txt"]
    assert sh(made, "log", "-1", "--format=%(trailers)") == TRAILER


def test_commit_all_of_nothing_is_none_and_twice_is_one_commit(made: Path) -> None:
    assert worktrees.commit_allowed_changes(str(made), lambda _: True, "m", TRAILER) is None
    leave_work(made)
    commit = worktrees.commit_allowed_changes(str(made), lambda _: True, "m", TRAILER)
    assert worktrees.commit_allowed_changes(str(made), lambda _: True, "m", TRAILER) is None
    assert sh(made, "rev-parse", "HEAD") == commit


def test_commit_all_takes_what_somebody_removed_and_moved_with_git(made: Path) -> None:
    for name in ("old.txt", "moved.txt"):
        (made / name).write_text(f"{name}\n")
    worktrees.commit_allowed_changes(str(made), lambda _: True, "m", TRAILER)
    sh(made, "rm", "-q", "old.txt")
    sh(made, "mv", "moved.txt", "there.txt")
    (made / "brief.txt").write_text("staged, and gone since\n")
    sh(made, "add", "brief.txt")
    (made / "brief.txt").unlink()
    worktrees.commit_allowed_changes(str(made), lambda _: True, "m", TRAILER)
    assert sh(made, "status", "--porcelain") == ""
    held = sh(made, "ls-tree", "--name-only", "HEAD").splitlines()
    assert held == [".gitignore", "a.txt", "there.txt"]


def test_commit_all_of_what_came_and_went_is_none(made: Path) -> None:
    (made / "brief.txt").write_text("staged, and gone since\n")
    sh(made, "add", "brief.txt")
    (made / "brief.txt").unlink()
    assert worktrees.commit_allowed_changes(str(made), lambda _: True, "m", TRAILER) is None
    assert sh(made, "status", "--porcelain") == ""


def test_commit_all_leaves_a_repository_inside_alone(made: Path) -> None:
    sh(made, "init", "-q", "inner")
    (made / "inner" / "x").write_text("x")
    assert worktrees.commit_allowed_changes(str(made), lambda _: True, "m", TRAILER) is None
    assert worktrees.list_changed_paths(str(made)) == ["inner/"]


# Keeping and removing.


def test_archive_keeps_the_head_and_puts_a_different_one_beside(repo: Path, made: Path) -> None:
    ref = "refs/porch/archive/v3.a"
    first = sh(repo, "commit-tree", "main^{tree}", "-p", "main", "-m", "first life")
    second = sh(repo, "commit-tree", "main^{tree}", "-p", "main", "-m", "second life")
    for commit in (first, first, second):
        sh(repo, "update-ref", "refs/heads/x", commit)
        worktrees.archive_branch(str(repo), "x", ref)
    assert sh(repo, "rev-parse", ref) == second
    assert sh(repo, "rev-parse", f"{ref}--{first[:12]}") == first
    worktrees.archive_branch(str(repo), "never-was", "refs/porch/archive/never-was")
    assert len(sh(repo, "for-each-ref", "refs/porch/archive").splitlines()) == 2


def test_a_removed_worktree_leaves_its_head_and_its_uncommitted_work(
    repo: Path, made: Path
) -> None:
    (made / "b.txt").write_text("b")
    commit = worktrees.commit_allowed_changes(str(made), lambda _: True, "m", TRAILER)
    leave_work(made)
    worktrees.remove_worktree(str(repo), str(made), "v3.a")
    assert not made.exists()
    assert (branches(repo), known(repo)) == (["main"], [])
    assert sh(repo, "rev-parse", "refs/porch/archive/v3.a") == commit
    assert sh(repo, "show", "refs/porch/salvage/v3.a:a.txt") == "changed"
    worktrees.remove_worktree(str(repo), str(made), "v3.a")
    assert sh(repo, "rev-parse", "refs/porch/archive/v3.a") == commit


def test_a_clean_worktree_is_removed_without_a_salvage_and_can_keep_its_branch(
    repo: Path, made: Path
) -> None:
    worktrees.remove_worktree(str(repo), str(made), None)
    assert not made.exists()
    assert branches(repo) == ["main", "v3.a"]
    assert sh(repo, "for-each-ref", "refs/porch") == ""


def test_commits_that_no_branch_holds_are_kept_too(repo: Path, made: Path) -> None:
    sh(made, "checkout", "-q", "--detach")
    sh(made, "commit", "-q", "--allow-empty", "-m", "on no branch")
    lonely = sh(made, "rev-parse", "HEAD")
    worktrees.remove_worktree(str(repo), str(made), None)
    assert sh(repo, "rev-parse", "refs/porch/archive/a") == lonely


def test_a_worktree_with_a_repository_inside_is_not_removed(repo: Path, made: Path) -> None:
    sh(made, "init", "-q", "inner")
    with pytest.raises(OutsideError, match="inner/"):
        worktrees.remove_worktree(str(repo), str(made), "v3.a")
    assert (made / "inner").is_dir()


def test_what_is_no_worktree_of_ours_is_not_removed(repo: Path, made: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for path in (other, repo, made / "a.txt"):
        with pytest.raises(OutsideError, match="porch can remove"):
            worktrees.remove_worktree(str(repo), str(path), None)
        assert path.exists()


def test_a_branch_in_use_elsewhere_survives_the_removal(repo: Path, place: Path) -> None:
    with pytest.raises(OutsideError, match="checked out"):
        worktrees.remove_worktree(str(repo), str(place), "main")
    assert branches(repo) == ["main"]


def test_what_cannot_be_deleted_is_said(repo: Path, place: Path) -> None:
    place.parent.mkdir()
    Path(f"{place}.removing").write_text("a file, which no crash of ours leaves")
    with pytest.raises(OutsideError, match="cannot be removed"):
        worktrees.remove_worktree(str(repo), str(place), None)


REMOVE = """
import sys
from porch.git import worktrees
worktrees.remove_worktree(sys.argv[1], sys.argv[2], "v3.a")
"""


@pytest.mark.parametrize(
    "point", ["worktree.after-archive", "worktree.after-aside", "worktree.after-remove"]
)
def test_a_removal_that_was_killed_is_finished_with_nothing_lost(
    repo: Path, made: Path, point: str
) -> None:
    leave_work(made)
    head = sh(made, "rev-parse", "HEAD")
    dead = kill_python_at(point, REMOVE, str(repo), str(made))
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    worktrees.remove_worktree(str(repo), str(made), "v3.a")
    assert (branches(repo), known(repo), os.listdir(made.parent)) == (["main"], [], [])
    assert sh(repo, "rev-parse", "refs/porch/archive/v3.a") == head
    assert sh(repo, "show", "refs/porch/salvage/v3.a:a.txt") == "changed"


def test_a_worktree_comes_back_after_a_removal_that_was_killed(repo: Path, made: Path) -> None:
    kill_python_at("worktree.after-aside", REMOVE, str(repo), str(made))
    again(repo, made)
    assert worktrees.list_changed_paths(str(made)) == []
