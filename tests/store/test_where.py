"""Where a command stands: checkouts, worktrees, bare repositories, and no repository at all."""

import subprocess
from pathlib import Path

import pytest

from porch.store import where as places


def git(directory: Path, *words: str) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@localhost"]
    subprocess.run(["git", *identity, *words], cwd=directory, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    path = tmp_path / "main"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    git(path, "commit", "-q", "--allow-empty", "-m", "begin")
    return path


def test_a_checkout_keeps_its_state_inside_the_git_directory(checkout: Path) -> None:
    (checkout / "deep" / "er").mkdir(parents=True)
    where = places.find_project(str(checkout / "deep" / "er"))
    assert where.root == where.workspace == where.base == str(checkout)
    assert where.state_dir == str(checkout / ".git" / "porch")
    assert not where.is_bare


def test_a_linked_worktree_shares_the_state_of_its_main_checkout(checkout: Path) -> None:
    linked = checkout / "worktrees" / "one"
    git(checkout, "worktree", "add", "-q", str(linked))
    where = places.find_project(str(linked))
    assert where.workspace == str(linked)
    assert where.root == str(checkout)
    assert where.state_dir == str(checkout / ".git" / "porch")


def test_worktrees_of_a_bare_repository_share_one_base(checkout: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(checkout), str(bare))
    git(bare, "worktree", "add", "-q", str(tmp_path / "one"), "main")
    where = places.find_project(str(tmp_path / "one"))
    assert where.is_bare
    assert where.base == str(bare) == places.find_project(str(bare)).base
    assert where.root == where.workspace == str(tmp_path / "one")


def test_a_submodule_is_a_project_of_its_own(checkout: Path, tmp_path: Path) -> None:
    inner = tmp_path / "outer"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(checkout), "sub")
    where = places.find_project(str(inner / "sub"))
    assert where.root == where.base == str(inner / "sub")
    assert not where.is_bare


def test_outside_a_repository_the_directory_with_codev_is_the_root(tmp_path: Path) -> None:
    (tmp_path / "codev").mkdir()
    (tmp_path / "src").mkdir()
    where = places.find_project(str(tmp_path / "src"))
    assert where.root == str(tmp_path)
    assert where.state_dir == str(tmp_path / "codev" / ".porch")
    assert where.common_dir == ""


def test_outside_everything_the_start_is_the_root(tmp_path: Path) -> None:
    assert places.find_project(str(tmp_path)).root == str(tmp_path)


def test_a_worktree_whose_git_file_is_empty_is_still_a_place(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("")
    assert places.find_project(str(tmp_path)).workspace == str(tmp_path)


def test_only_directories_with_a_first_record_are_runs(checkout: Path) -> None:
    where = places.find_project(str(checkout))
    assert where.runs() == []
    for name in ("0002-b", "0001-a", "0003-empty"):
        Path(where.run_dir(name)).mkdir(parents=True)
    for name in ("0002-b", "0001-a"):
        (Path(where.run_dir(name)) / "journal.jsonl").write_text("{}\n")
    (Path(where.run_dir("0003-empty")) / "journal.jsonl").write_text('{"v":1')
    assert where.runs() == ["0001-a", "0002-b"]
