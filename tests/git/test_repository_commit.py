"""Real repositories: a commit holds exactly the named paths, also after a crash."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from porch.errors import OutsideError
from porch.git import index_lock, repository
from porch.git.command import run_git
from tests.repositories import sh

TRAILER = "Porch-Effect: run-1/specify#1/git/commit/1"

pytestmark = pytest.mark.usefixtures("git_home")


def stage_own_file(repo: Path) -> None:
    (repo / "mine.txt").write_text("mine")
    sh(repo, "add", "mine.txt")


def staged(place: Path) -> list[str]:
    return sh(place, "diff", "--cached", "--name-only").splitlines()


def test_commit_takes_exactly_its_paths_and_leaves_what_is_staged(repo: Path) -> None:
    (repo / "spec.md").write_text("spec")
    (repo / "a.txt").write_text("staged by Ann\n")
    sh(repo, "add", "a.txt")
    (repo / "loose.txt").write_text("loose")
    commit = repository.commit_paths(str(repo), ["spec.md"], "Add the spec\n\nBody.", TRAILER)
    assert commit == repository.read_head(str(repo))
    assert sh(repo, "show", "--format=", "--name-only", "HEAD") == "spec.md"
    assert staged(repo) == ["a.txt"]
    assert sh(repo, "status", "--porcelain").splitlines() == ["M  a.txt", "?? loose.txt"]
    assert sh(repo, "log", "-1", "--format=%an|%s|%b") == f"Ann|Add the spec|Body.\n\n{TRAILER}"
    assert sh(repo, "log", "-1", "--format=%(trailers)") == TRAILER


def test_commit_holds_the_file_as_it_is_not_as_it_was_staged(repo: Path) -> None:
    (repo / "a.txt").write_text("staged\n")
    sh(repo, "add", "a.txt")
    (repo / "a.txt").write_text("later\n")
    repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER)
    assert sh(repo, "show", "HEAD:a.txt") == "later"
    assert sh(repo, "status", "--porcelain") == ""


def test_commit_works_on_directories_deletions_and_odd_names(repo: Path) -> None:
    (repo / "d").mkdir()
    names = ["d/ü.txt", "d/*.md", ":(top)x", "-f"]
    for name in names:
        (repo / name).write_text(name)
    (repo / "a.txt").unlink()
    paths = ["d", "a.txt", ":(top)x", "-f", "never-was"]
    assert repository.commit_paths(str(repo), paths, "m", TRAILER)
    assert sh(repo, "status", "--porcelain") == ""
    held = sh(repo, "ls-tree", "-r", "-z", "--name-only", "HEAD").strip("\0").split("\0")
    assert sorted(held) == sorted([".gitignore", *names])


def test_commit_of_nothing_new_is_none_and_moves_nothing(repo: Path) -> None:
    before = repository.read_head(str(repo))
    (repo / "x.log").write_text("ignored")
    paths = ["a.txt", "x.log", "never-was"]
    assert repository.commit_paths(str(repo), paths, "m", TRAILER) is None
    assert repository.read_head(str(repo)) == before


def test_commit_can_be_the_first(empty: Path) -> None:
    assert repository.commit_paths(str(empty), ["nothing"], "m", TRAILER) is None
    (empty / "a").write_text("a")
    (empty / "b").write_text("b")
    commit = repository.commit_paths(str(empty), ["a"], "m", TRAILER)
    assert sh(empty, "rev-list", "HEAD") == commit
    assert sh(empty, "status", "--porcelain") == "?? b"


def test_commit_runs_no_hooks(repo: Path, tmp_path: Path) -> None:
    names = ("pre-commit", "commit-msg", "post-commit", "reference-transaction")
    for name in (*names, "post-index-change"):
        hook = repo / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\nexit 1\n")
        hook.chmod(0o755)
    (repo / "a.txt").write_text("two\n")
    assert repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER)
    assert not (tmp_path / "hook-ran").exists()


def test_commit_works_where_nobody_is_named(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    (repo / "a.txt").write_text("two\n")
    assert repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER)
    assert sh(repo, "log", "-1", "--format=%ae") == "porch@localhost"


def test_commit_outside_the_repository_is_refused(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("x")
    with pytest.raises(OutsideError, match="outside repository"):
        repository.commit_paths(str(repo), ["../out.txt"], "m", TRAILER)


def test_commit_with_a_known_trailer_is_adopted(repo: Path) -> None:
    (repo / "a.txt").write_text("two\n")
    first = repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER)
    (repo / "a.txt").write_text("three\n")
    assert repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER) == first
    second = repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER + "0")
    assert second not in (None, first)
    assert repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER) == first
    assert staged(repo) == [], "the index is not taken back behind a later commit"


CRASH = """
import sys
import time
from porch.git import repository as git
git.commit_paths(sys.argv[1], ["a.txt", "gone.txt"], "m", sys.argv[2])
"""


@pytest.mark.parametrize("point, done", [("before", False), ("after", True)])
def test_killed_commit_is_finished_by_the_same_call(repo: Path, point: str, done: bool) -> None:
    (repo / "a.txt").write_text("two\n")
    (repo / "mine.txt").write_text("mine")
    sh(repo, "add", "mine.txt")
    words = [sys.executable, "-c", CRASH, str(repo), TRAILER]
    env = {**os.environ, "PORCH_CRASH_AT": f"git.{point}-update-ref"}
    assert subprocess.run(words, env=env, check=False).returncode == -9
    assert (repository.find_commit_by_trailer(str(repo), TRAILER) is not None) is done
    again = repository.commit_paths(str(repo), ["a.txt", "gone.txt"], "m", TRAILER)
    assert (
        again
        == repository.find_commit_by_trailer(str(repo), TRAILER)
        == repository.read_head(str(repo))
    )
    assert sh(repo, "rev-list", "--count", "HEAD") == "2"
    assert sh(repo, "status", "--porcelain") == "A  mine.txt"


def test_commit_refuses_when_head_moved_meanwhile(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "a.txt").write_text("two\n")

    def somebody_commits(name: str) -> None:
        if name == "git.before-update-ref":
            tree = ("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Ann was quicker")
            sh(repo, "update-ref", "HEAD", sh(repo, *tree))

    monkeypatch.setattr("porch.system.crash_points.reach_point", somebody_commits)
    with pytest.raises(OutsideError, match="update-ref"):
        repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER)
    assert sh(repo, "log", "-1", "--format=%s") == "Ann was quicker"


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_of_a_git_stops_a_commit_before_the_branch_or_the_index_moves(
    repo: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1, R3: HEAD had the commit, the index was behind, and a person's commit took it back."""
    monkeypatch.setattr(index_lock, "WAIT_S", 0.05)
    stage_own_file(repo)
    (repo / "a.txt").write_text("two\n")
    lock, head = repo / ".git" / name, sh(repo, "rev-parse", "HEAD")
    lock.write_text("")
    with pytest.raises(OutsideError, match=rf"\.git/{name} exists.*\(the file is \d+ s old\)"):
        repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER)
    assert lock.read_text() == "", "a lock of somebody else is never removed"
    lock.unlink()
    assert sh(repo, "rev-parse", "HEAD") == head
    assert sh(repo, "diff", "--cached", "--name-only") == "mine.txt"
    made = repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER)
    assert made == sh(repo, "rev-parse", "HEAD")
    assert sh(repo, "status", "--porcelain") == "A  mine.txt"


def test_the_lock_of_the_settings_of_git_is_named_too(repo: Path) -> None:
    """R3: in other words of git's own."""
    (repo / ".git" / "config.lock").touch()
    with pytest.raises(OutsideError, match=r"\.git/config\.lock exists"):
        run_git(str(repo), "config", "user.name", "Ann")


def test_an_index_that_cannot_be_written_stops_a_commit_before_the_branch_moves(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1: both move, or neither."""
    (repo / "a.txt").write_text("two\n")
    head = sh(repo, "rev-parse", "HEAD")

    def refuse_index(directory: str, *words: str, **more: Any) -> str:
        if words[0] == "update-index":
            raise OutsideError("no space left", fix="")
        return run_git(directory, *words, **more)

    monkeypatch.setattr(repository, "run_git", refuse_index)
    with pytest.raises(OutsideError, match="no space left"):
        repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER)
    assert sh(repo, "rev-parse", "HEAD") == head
    assert not list((repo / ".git").glob("index.*"))


def test_after_a_kill_nobody_commits_from_the_old_index_and_the_next_call_heals_it(
    repo: Path,
) -> None:
    """R1, R2: the lock of a dead porch is known by its line and its flock, and taken over."""
    stage_own_file(repo)
    (repo / "a.txt").write_text("two\n")
    words = [sys.executable, "-c", CRASH, str(repo), TRAILER]
    env = {**os.environ, "PORCH_CRASH_AT": "git.after-update-ref"}
    assert subprocess.run(words, env=env, check=False).returncode == -9
    git = repo / ".git"
    (git / "index.porch.lock").write_text("of a git that was killed with it")
    with pytest.raises(AssertionError, match=r"index\.lock"):
        sh(repo, "commit", "-qm", "would take a.txt back")
    made = repository.commit_paths(str(repo), ["a.txt", "gone.txt"], "m", TRAILER)
    assert made == sh(repo, "rev-parse", "HEAD")
    assert sh(repo, "status", "--porcelain") == "A  mine.txt"
    assert not list(git.glob("index.*"))


def test_a_commit_that_landed_before_its_index_is_healed_under_another_name_too(
    repo: Path,
) -> None:
    """R1: as a run begun by an earlier release left it, whose retry has another trailer."""
    stage_own_file(repo)
    (repo / "a.txt").write_text("two\n")
    index = (repo / ".git" / "index").read_bytes()
    repository.commit_paths(str(repo), ["a.txt"], "m", TRAILER)
    (repo / ".git" / "index").write_bytes(index)
    assert "M  a.txt" in sh(repo, "status", "--porcelain").replace("MM", "M ")
    assert repository.commit_paths(str(repo), ["a.txt"], "m", f"{TRAILER}9") is None
    assert sh(repo, "status", "--porcelain") == "A  mine.txt"


def test_a_lock_that_a_living_porch_holds_is_waited_for(repo: Path) -> None:
    """R2: two that meet one lock never hold it both."""
    index = str(repo / ".git" / "index")
    with index_lock.hold_index(index):
        index_lock.WAIT_S, usual = 0.05, index_lock.WAIT_S
        try:
            index_lock.clear_index_lock(index)
            with pytest.raises(OutsideError, match=r"index\.lock exists"):
                repository.update_user_index(str(repo), "HEAD")
        finally:
            index_lock.WAIT_S = usual
    repository.update_user_index(str(repo), "HEAD")


def test_in_a_worktree_of_porch_a_lock_stays_while_some_git_works_there(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1: a person may have the editor of `git commit` open there."""
    monkeypatch.setattr(index_lock, "WAIT_S", 0.05)
    index, lock = str(repo / ".git" / "index"), repo / ".git" / "index.lock"
    editor = f"touch {tmp_path}/open; until [ -e {tmp_path}/close ]; do sleep 0.05; done; false"
    words = ["git", "commit", "-q", "-a", "-e", "--allow-empty", "-m", "mine"]
    with subprocess.Popen(words, cwd=repo, env={**os.environ, "GIT_EDITOR": editor}) as commit:
        while not (tmp_path / "open").exists():
            assert commit.poll() is None
        index_lock.clear_index_lock(index, str(repo))
        assert lock.exists()
        (tmp_path / "close").touch()
    lock.write_text("")
    index_lock.clear_index_lock(index)
    assert lock.exists(), "elsewhere it is not ours to remove"
    index_lock.clear_index_lock(index, str(repo))
    assert not lock.exists()


def test_find_commit_wants_the_whole_line(repo: Path) -> None:
    sh(repo, "commit", "-q", "--allow-empty", "-m", f"x\n\n{TRAILER}0")
    sh(repo, "commit", "-q", "--allow-empty", "-m", f"quotes: {TRAILER}")
    assert repository.find_commit_by_trailer(str(repo), TRAILER) is None
    assert repository.find_commit_by_trailer(str(repo), TRAILER + "0") == sh(
        repo, "rev-parse", "HEAD~1"
    )


def test_find_commit_is_none_before_the_first_commit(empty: Path) -> None:
    assert repository.find_commit_by_trailer(str(empty), TRAILER) is None
