"""Commits of all that lies in a worktree of porch's own: nothing twice, nothing lost, nobody's."""

import signal
import subprocess
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import command, index_lock, repository, work_commits, worktrees
from porch.git.work_commits import WorkCommit
from porch.testing import kill_python_at
from tests.repositories import make_repository, sh

TRAILER = "Porch-Effect: 0001-x implement#1/agent/implement/0"
BRANCH = "spider_0001_x"
KILLED = (
    "import sys; from porch.git import work_commits;"
    f"work_commits.commit_all_work(sys.argv[1], {BRANCH!r}, (), "
    f"message='work', trailer={TRAILER!r})"
)

pytestmark = pytest.mark.usefixtures("git_home")


@pytest.fixture
def made(repo: Path) -> Path:
    place = repo / "worktrees" / BRANCH
    worktrees.ensure_worktree(str(repo), str(place), BRANCH, "main")
    return place


def commit(place: Path, *exclude: str) -> WorkCommit:
    return work_commits.commit_all_work(
        str(place), BRANCH, exclude, message="work", trailer=TRAILER
    )


def committed(place: Path) -> list[str]:
    return sh(place, "ls-tree", "-r", "--name-only", "HEAD").splitlines()


def test_new_changed_and_deleted_files_are_committed_and_the_rest_is_not(made: Path) -> None:
    (made / "a.txt").unlink()
    (made / "new dir").mkdir()
    (made / "new dir" / "ünï.txt").write_text("x")
    (made / "noise.log").write_text("ignored")
    (made / ".env").write_text("secret")
    done = commit(made, ".env")
    assert done.commit == sh(made, "rev-parse", "HEAD")
    assert sh(made, "ls-tree", "-rz", "--name-only", "HEAD").split("\0")[:-1] == [
        ".gitignore",
        "new dir/ünï.txt",
    ]
    assert sh(made, "status", "--porcelain") == "?? .env"
    assert sh(made, "log", "-1", "--format=%(trailers:key=Porch-Effect,valueonly)").strip() in (
        TRAILER
    )


def test_a_path_that_git_ignores_can_be_left_out_and_all_below_it(made: Path) -> None:
    (made / ".gitignore").write_text("modules\n*.log\n")
    for name in ("modules", "kept", "[odd]", "noise.log"):
        (made / name).mkdir()
        (made / name / "x.txt").write_text("x")
    commit(made, "modules", "noise.log", "\\[odd]", "kept/*.txt")
    assert committed(made) == [".gitignore", "a.txt"]
    assert sh(made, "status", "--porcelain").splitlines() == ["?? [odd]/", "?? kept/"]


def test_a_lock_that_a_killed_git_left_does_not_prevent_the_commit(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_lock, "WAIT_S", 0.05)
    lock = Path(repository.find_git_path(str(made), "index.lock"))
    lock.touch()
    (made / "b.txt").write_text("b")
    assert commit(made).commit == sh(made, "rev-parse", "HEAD")
    assert sh(made, "status", "--porcelain") == "", "the index has followed"
    assert not lock.exists()


def test_a_second_call_finds_the_commit_and_makes_no_other(made: Path) -> None:
    (made / "b.txt").write_text("b")
    first = commit(made)
    assert commit(made) == first
    assert sh(made, "rev-list", "--count", "main..HEAD") == "1"


def test_nothing_to_commit_makes_no_commit(made: Path) -> None:
    assert commit(made) == WorkCommit()


@pytest.mark.parametrize(
    "point", ["git.before-update-ref", "git.after-update-ref", "git.after-index"]
)
def test_a_killed_commit_is_neither_lost_nor_made_twice(made: Path, point: str) -> None:
    (made / "b.txt").write_text("b")
    (made / "a.txt").write_text("two\n")
    dead = kill_python_at(point, KILLED, str(made))
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    assert commit(made).commit == sh(made, "rev-parse", "HEAD")
    assert sh(made, "rev-list", "--count", "main..HEAD") == "1"
    assert sh(made, "status", "--porcelain") == ""


def test_r3_a_commit_of_somebody_else_meanwhile_is_kept(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made / "b.txt").write_text("b")
    real, others = command.run_git, iter([1])

    def somebody_is_faster(directory: str, *words: str, **given: object) -> str:
        if words[0] == "update-ref" and next(others, None):
            theirs = sh(made, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "theirs")
            sh(made, "update-ref", "HEAD", theirs)
        return real(directory, *words, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(repository, "run_git", somebody_is_faster)
    commit(made)
    assert sh(made, "log", "--format=%s", "main..HEAD").splitlines() == ["work", "theirs"]
    assert "b.txt" in committed(made)


def test_a_worktree_on_another_branch_is_refused(made: Path) -> None:
    sh(made, "switch", "-qc", "somebody")
    (made / "b.txt").write_text("b")
    with pytest.raises(OutsideError, match="is on somebody"):
        commit(made)
    assert sh(made, "rev-parse", "somebody") == sh(made, "rev-parse", "main")


def test_an_unfinished_merge_is_left_to_whoever_began_it(repo: Path, made: Path) -> None:
    (repo / "a.txt").write_text("main\n")
    sh(repo, "commit", "-qam", "on main")
    (made / "a.txt").write_text("branch\n")
    sh(made, "commit", "-qam", "on the branch")
    subprocess.run(["git", "merge", "-q", "main"], cwd=made, check=False, capture_output=True)
    with pytest.raises(OutsideError, match="a merge is in progress"):
        commit(made)


def test_hidden_changes_are_work_and_a_sparse_checkout_deletes_nothing(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "sparse", {"a/x.txt": "x\n", "b/y.txt": "y\n"})
    sh(repo, "sparse-checkout", "set", "a")
    place = repo / "worktrees" / BRANCH
    worktrees.ensure_worktree(str(repo), str(place), BRANCH, "main")
    sh(place, "sparse-checkout", "set", "a")
    sh(place, "update-index", "--assume-unchanged", "a/x.txt")
    (place / "a" / "x.txt").write_text("changed\n")
    commit(place)
    assert sh(place, "show", "HEAD:a/x.txt") == "changed"
    assert committed(place) == ["a/x.txt", "b/y.txt"]


def test_a_repository_inside_is_left_out_and_named(made: Path) -> None:
    inner = make_repository(made / "inner", {"z.txt": "z\n"})
    (made / "b.txt").write_text("b")
    assert commit(made).left_out == ("inner",)
    assert "inner" not in committed(made)
    assert (inner / "z.txt").exists()


def test_a_split_index_and_mode_changes_are_committed_too(made: Path) -> None:
    sh(made, "update-index", "--split-index")
    (made / "a.txt").chmod(0o755)
    commit(made)
    assert sh(made, "ls-tree", "HEAD", "a.txt").startswith("100755")
