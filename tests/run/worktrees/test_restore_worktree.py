"""A worktree that is gone is made again: where it stood, with its set-up, or it is said how."""

import shutil
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.errors import OutsideError
from porch.machine.state import Run, RunState
from porch.run.definitions.subject_names import RunSubject
from porch.run.worktrees.make import hold_run_worktree
from porch.run.worktrees.remove import remove_run_worktree
from porch.run.worktrees.restore import restore_run_worktree
from porch.store.removed_worktrees import read_removed_place
from porch.store.where import find_project
from porch.store.worktree_records import read_record
from porch.testing import kill_python_at
from tests.repositories import sh
from tests.trust import trust_settings

NAME = "bugfix_142"
ABOUT = RunSubject(NAME, "142", "x", f"codev/executions/{NAME}", "")
STOPPED = RunState(
    run=Run(name=NAME, id="142", worktree=f"worktrees/{NAME}", own_worktree=True, branch=NAME),
    paused=True,
)
SETTINGS = '[worktree]\ncopy = [".env"]\nsetup = ["test ! -e ../../broken", "echo 1 > built.log"]\n'
KILLED = (
    "import sys; from porch.machine.state import Run, RunState;"
    "from porch.run.worktrees.remove import remove_run_worktree;"
    "from porch.store.where import find_project;"
    f"run = Run(name={NAME!r}, worktree='worktrees/{NAME}', own_worktree=True, branch={NAME!r});"
    "remove_run_worktree(find_project(sys.argv[1]), RunState(run=run, paused=True))"
)
pytestmark = pytest.mark.usefixtures("git_home")


@pytest.fixture
def made(repo: Path) -> Path:
    (repo / ".env").write_text("KEY\n")
    (repo / "codev").mkdir()
    (repo / "codev" / "config.toml").write_text(SETTINGS)
    trust_settings(repo)
    with hold_run_worktree(find_project(str(repo)), "bugfix", ABOUT, lambda _: None) as where:
        pass
    Path(where.run_dir(NAME)).mkdir(parents=True)
    return Path(where.workspace)


def clean_up(repo: Path) -> list[str]:
    return remove_run_worktree(find_project(str(repo)), STOPPED).describe()


def restore(repo: Path, run: Run = STOPPED.run) -> list[str]:
    said: list[str] = []
    restore_run_worktree(find_project(str(repo)), run, said.append)
    return said


def test_what_was_not_committed_is_there_again_after_a_cleanup_and_nothing_is_called_lost(
    repo: Path, made: Path
) -> None:
    (made / "new.txt").write_text("untracked\n")
    told = clean_up(repo)
    assert told[-1] == "the run is stopped; `af resume 142` makes its worktree again"
    said = restore(repo)
    assert (made / "new.txt").read_text() == "untracked\n"
    assert "was cleaned up" in said[0]
    assert "lost" not in said[0]


def test_files_that_porch_copied_are_in_no_commit_that_a_cleanup_makes(
    repo: Path, made: Path
) -> None:
    (made / "new.txt").write_text("untracked\n")
    clean_up(repo)
    assert sh(repo, "ls-tree", "--name-only", f"archive/{NAME}").split() == [
        ".gitignore",
        "a.txt",
        "new.txt",
    ]


def test_a_run_goes_on_where_its_last_cleanup_left_it_and_not_at_an_older_archive(
    repo: Path, made: Path
) -> None:
    for text in ("first", "second", "third"):
        (made / "a.txt").write_text(f"{text}\n")
        sh(made, "commit", "-qam", text)
        clean_up(repo)
        restore(repo)
        assert (made / "a.txt").read_text() == f"{text}\n"


def test_a_run_without_a_commit_of_its_own_goes_on_after_a_cleanup(repo: Path, made: Path) -> None:
    assert "deleted; main has its commits" in clean_up(repo)[1]
    restore(repo)
    assert (made / "a.txt").read_text() == "one\n"
    assert sh(made, "branch", "--show-current") == NAME


@pytest.mark.parametrize(
    "point", ["worktree.after-archive", "worktree.after-aside", "worktree.after-remove"]
)
def test_after_a_killed_cleanup_the_run_still_has_what_was_not_committed(
    repo: Path, made: Path, point: str
) -> None:
    (made / "new.txt").write_text("untracked\n")
    dead = kill_python_at(point, KILLED, str(repo))
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    clean_up(repo)
    restore(repo)
    assert (made / "new.txt").read_text() == "untracked\n"


def test_a_worktree_that_is_made_again_has_its_files_its_set_up_and_its_ports(
    repo: Path, made: Path
) -> None:
    where = find_project(str(repo))
    clean_up(repo)
    restore(repo)
    assert (made / ".env").read_text() == "KEY\n"
    assert (made / "built.log").exists()
    record = read_record(where, NAME)
    assert record is not None
    assert record.port_base
    assert record.placed == (".env",)
    shutil.rmtree(made)
    restore(repo)
    assert (made / "built.log").exists()
    assert read_record(where, NAME) == record


def test_a_worktree_that_cannot_be_set_up_again_is_not_left_as_if_it_were_ready(
    repo: Path, made: Path
) -> None:
    (made / "new.txt").write_text("untracked\n")
    clean_up(repo)
    (repo / "broken").touch()
    with pytest.raises(OutsideError):
        restore(repo)
    assert not made.exists()
    (repo / "broken").unlink()
    restore(repo)
    assert (made / "built.log").exists()
    assert (made / "new.txt").exists()
    assert read_removed_place(find_project(str(repo)).run_dir(NAME)) is None


def test_a_branch_that_is_gone_without_a_commit_in_the_journal_is_told_with_its_beginning(
    repo: Path, made: Path
) -> None:
    base = sh(repo, "rev-parse", "main")
    delete(repo, made)
    with pytest.raises(OutsideError) as caught:
        restore(repo, replace(STOPPED.run, base_commit=base))
    fix = caught.value.findings[0].fix
    assert f"committed nothing and began at {base[:12]}: git branch {NAME} {base}" in fix
    with pytest.raises(OutsideError, match=f"git branch {NAME} COMMIT"):
        restore(repo)


def delete(repo: Path, made: Path) -> None:
    shutil.rmtree(made)
    sh(repo, "worktree", "prune")
    sh(repo, "branch", "-D", NAME)
