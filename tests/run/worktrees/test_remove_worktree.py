"""Worktrees that go: refused while a run lives, and nothing that anybody made is lost."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.errors import BusyError, OutsideError, UsageError
from porch.git import worktrees
from porch.machine.state import Run, RunState
from porch.run.definitions.subject_names import RunSubject
from porch.run.worktrees.make import hold_run_worktree
from porch.run.worktrees.remove import RemovedWorktree, remove_run_worktree
from porch.run.worktrees.restore import restore_run_worktree
from porch.store.where import find_project
from porch.store.worktree_records import list_records
from porch.testing import kill_python_at
from tests.repositories import make_repository, sh
from tests.trust import trust_settings

NAME = "bugfix_142"
ABOUT = RunSubject(NAME, "142", "x", f"codev/executions/{NAME}", "")
ENDED = RunState(
    run=Run(name=NAME, id="142", worktree=f"worktrees/{NAME}", own_worktree=True, branch=NAME),
    outcome="complete",
)
KILLED = (
    "import sys; from porch.machine.state import Run, RunState;"
    "from porch.run.worktrees.remove import remove_run_worktree;"
    "from porch.store.where import find_project;"
    f"run = Run(name={NAME!r}, worktree='worktrees/{NAME}', own_worktree=True, branch={NAME!r});"
    "remove_run_worktree(find_project(sys.argv[1]), RunState(run=run, outcome='complete'))"
)
pytestmark = pytest.mark.usefixtures("git_home")


@pytest.fixture
def made(repo: Path) -> Path:
    (repo / ".env").write_text("KEY\n")
    (repo / "codev").mkdir()
    (repo / "codev" / "config.toml").write_text('[worktree]\ncopy = [".env"]\n')
    trust_settings(repo)
    with hold_run_worktree(find_project(str(repo)), "bugfix", ABOUT, lambda _: None) as where:
        pass
    Path(where.run_dir(NAME)).mkdir(parents=True)
    return Path(where.workspace)


def remove(repo: Path, state: RunState = ENDED) -> RemovedWorktree:
    return remove_run_worktree(find_project(str(repo)), state)


def leave_work(place: Path) -> str:
    """Unpushed, uncommitted and untracked work; returns the commit."""
    (place / "a.txt").write_text("committed\n")
    sh(place, "commit", "-qam", "unpushed")
    (place / "a.txt").write_text("uncommitted\n")
    (place / "new.txt").write_text("untracked\n")
    (place / "staged.txt").write_text("staged\n")
    sh(place, "add", "staged.txt")
    return sh(place, "rev-parse", "HEAD")


@pytest.mark.parametrize("left", ["nothing", "a repository"])
def test_a_worktree_that_lost_its_git_file_is_kept_until_that_is_brought_back(
    repo: Path, made: Path, left: str
) -> None:
    leave_work(made)
    (made / ".git").unlink()
    if left == "a repository":
        sh(made, "init", "-q")
    with pytest.raises(OutsideError) as caught:
        remove(repo)
    assert f"git -C {repo} worktree repair" in (caught.value.findings[0].fix or "")
    assert (made / "new.txt").read_text() == "untracked\n"
    if left == "a repository":
        shutil.rmtree(made / ".git")
    sh(repo, "worktree", "repair")
    assert "new.txt" in remove(repo).kept.salvaged
    assert sh(repo, "show", f"archive/{NAME}:new.txt") == "untracked"


def is_gone(repo: Path) -> bool:
    known = worktrees.list_worktrees(str(repo))[1:]
    records = list(list_records(find_project(str(repo))))
    branch = sh(repo, "for-each-ref", f"refs/heads/{NAME}")
    return not known and not records and not branch and not (repo / "worktrees").exists()


def all_is_kept(repo: Path, commit: str, ref: str = f"archive/{NAME}") -> bool:
    texts = [sh(repo, "show", f"{ref}:{name}") for name in ("a.txt", "new.txt", "staged.txt")]
    sh(repo, "merge-base", "--is-ancestor", commit, ref)
    return texts == ["uncommitted", "untracked", "staged"]


def test_everything_is_kept_on_an_archive_branch_and_named(repo: Path, made: Path) -> None:
    commit = leave_work(made)
    gone = remove(repo)
    assert is_gone(repo)
    assert all_is_kept(repo, commit)
    assert gone.describe() == [
        f"worktree {made}: removed",
        "not committed until now, and kept: a.txt, new.txt, staged.txt",
        f"branch {NAME}: kept as archive/{NAME}",
    ]


@pytest.mark.parametrize(
    "point", ["worktree.after-archive", "worktree.after-aside", "worktree.after-remove"]
)
def test_a_killed_removal_is_finished_and_loses_nothing(repo: Path, made: Path, point: str) -> None:
    commit = leave_work(made)
    dead = kill_python_at(point, KILLED, str(repo))
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    remove(repo)
    assert is_gone(repo)
    assert all_is_kept(repo, commit)


def test_what_a_killed_removal_had_put_aside_is_not_in_the_way_of_a_worktree_that_came_back(
    repo: Path, made: Path
) -> None:
    aside = Path(f"{made}{worktrees.ASIDE}")
    aside.mkdir()
    (aside / "half.txt").write_text("kept already\n")
    remove(repo)
    assert is_gone(repo)
    assert not aside.exists()


def test_a_run_that_lives_keeps_its_worktree(repo: Path, made: Path) -> None:
    state = replace(ENDED, outcome="")
    with pytest.raises(BusyError, match="has not ended"):
        remove(repo, state)
    assert made.is_dir()
    remove(repo, replace(state, paused=True))
    assert is_gone(repo)


def test_a_merged_branch_is_deleted_and_it_is_said_who_has_it(repo: Path, made: Path) -> None:
    sh(made, "commit", "-q", "--allow-empty", "-m", "work")
    sh(repo, "merge", "-q", "--ff-only", NAME)
    gone = remove(repo)
    assert gone.describe()[1] == f"branch {NAME}: deleted; main has its commits"
    assert sh(repo, "for-each-ref", "refs/heads/archive") == ""
    assert not made.parent.exists(), "an empty directory is left to nobody"


def test_of_several_branches_the_one_is_named_into_which_the_run_merges(
    repo: Path, made: Path
) -> None:
    sh(made, "commit", "-q", "--allow-empty", "-m", "work")
    sh(repo, "merge", "-q", "--ff-only", NAME)
    sh(repo, "branch", "another")
    (made.parent / "other.txt").touch()
    gone = remove(repo, replace(ENDED, run=replace(ENDED.run, into="main")))
    assert gone.kept.merged_into == "main"
    assert os.listdir(made.parent) == ["other.txt"]


def test_a_branch_that_a_remote_has_needs_no_archive(
    repo: Path, made: Path, tmp_path: Path
) -> None:
    sh(tmp_path, "init", "-q", "--bare", "remote.git")
    sh(repo, "remote", "add", "origin", str(tmp_path / "remote.git"))
    sh(made, "commit", "-q", "--allow-empty", "-m", "work")
    sh(made, "push", "-q", "origin", NAME)
    assert remove(repo).kept.merged_into == f"origin/{NAME}"


def test_an_archive_of_the_same_name_is_not_moved(repo: Path, made: Path) -> None:
    sh(repo, "branch", f"archive/{NAME}")
    commit = leave_work(made)
    assert remove(repo).kept.ref == f"refs/heads/archive/{NAME}-2"
    assert all_is_kept(repo, commit, f"archive/{NAME}-2")


def test_a_lock_at_the_archive_is_named_and_the_work_is_not_kept_elsewhere(
    repo: Path, made: Path
) -> None:
    """R3: as a cleanup that was killed with its git leaves it."""
    commit = leave_work(made)
    lock = repo / ".git" / "refs" / "heads" / "archive" / f"{NAME}.lock"
    lock.parent.mkdir()
    lock.touch()
    with pytest.raises(OutsideError) as caught:
        remove(repo)
    assert f"archive/{NAME}.lock exists" in caught.value.findings[0].message
    lock.unlink()
    remove(repo)
    assert is_gone(repo)
    assert all_is_kept(repo, commit)


def test_where_archive_is_a_branch_the_work_is_kept_elsewhere(repo: Path, made: Path) -> None:
    sh(repo, "branch", "archive")
    commit = leave_work(made)
    assert remove(repo).kept.ref == f"refs/porch/archive/{NAME}"
    assert all_is_kept(repo, commit, f"refs/porch/archive/{NAME}")


def test_commits_beside_the_branch_are_kept_with_it(repo: Path, made: Path) -> None:
    sh(made, "commit", "-q", "--allow-empty", "-m", "on the branch")
    on_branch = sh(made, "rev-parse", "HEAD")
    sh(made, "switch", "-q", "--detach", "HEAD~1")
    sh(made, "commit", "-q", "--allow-empty", "-m", "beside it")
    beside = sh(made, "rev-parse", "HEAD")
    ref = remove(repo).kept.ref
    for commit in (on_branch, beside):
        sh(repo, "merge-base", "--is-ancestor", commit, ref)


def test_a_directory_that_is_gone_already_is_no_obstacle(repo: Path, made: Path) -> None:
    sh(made, "commit", "-q", "--allow-empty", "-m", "work")
    shutil.rmtree(made)
    assert remove(repo).describe() == [
        f"worktree {made}: was gone already",
        f"branch {NAME}: kept as archive/{NAME}",
    ]


def test_a_locked_worktree_and_a_repository_inside_are_refused(repo: Path, made: Path) -> None:
    sh(repo, "worktree", "lock", "--reason", "mine", str(made))
    with pytest.raises(OutsideError, match="locked: mine"):
        remove(repo)
    sh(repo, "worktree", "unlock", str(made))
    sh(repo, "worktree", "lock", str(made))
    with pytest.raises(OutsideError, match="locked: nobody said why"):
        remove(repo)
    sh(repo, "worktree", "unlock", str(made))
    make_repository(made / "inner", {"z.txt": "z\n"})
    with pytest.raises(OutsideError, match="another git repository"):
        remove(repo)
    assert (made / "inner" / "z.txt").exists()


def test_commits_in_a_submodule_that_nobody_else_has_are_refused(
    repo: Path, tmp_path: Path
) -> None:
    inner = make_repository(tmp_path / "inner", {"z.txt": "z\n"})
    sh(repo, "submodule", "add", "-q", str(inner), "sub")
    sh(repo, "commit", "-qm", "a submodule")
    with hold_run_worktree(find_project(str(repo)), "bugfix", ABOUT, lambda _: None) as where:
        pass
    place = Path(where.workspace) / "sub"
    sh(Path(where.workspace), "submodule", "update", "-q", "--init")
    sh(place, "commit", "-q", "--allow-empty", "-m", "only here")
    with pytest.raises(OutsideError, match="nowhere else"):
        remove(repo)
    sh(place, "push", "-q", "origin", "HEAD:refs/heads/other")
    remove(repo)
    assert not place.exists()


def test_a_checkout_of_a_person_is_never_removed(repo: Path) -> None:
    mine = replace(ENDED, run=replace(ENDED.run, own_worktree=False, worktree="."))
    with pytest.raises(UsageError, match="checkout of yours"):
        remove(repo, mine)


def test_a_worktree_that_is_gone_comes_back_with_all_that_was_committed(
    repo: Path, made: Path
) -> None:
    (made / "a.txt").write_text("committed\n")
    sh(made, "commit", "-qam", "work")
    said: list[str] = []
    shutil.rmtree(made)
    restore_run_worktree(find_project(str(repo)), ENDED.run, said.append)
    assert (made / "a.txt").read_text() == "committed\n"
    remove(repo)
    restore_run_worktree(find_project(str(repo)), ENDED.run, said.append)
    assert (made / "a.txt").read_text() == "committed\n"
    assert "was gone" in said[0]
