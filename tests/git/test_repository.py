"""Real repositories: what is measured and committed is exactly what was named."""

from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import measured_tree, repository
from tests.repositories import sh

TRAILER = "Porch-Effect: run-1/specify#1/git/commit/1"

pytestmark = pytest.mark.usefixtures("git_home")


def test_find_sees_where_a_subdirectory_stands(repo: Path) -> None:
    (repo / "sub").mkdir()
    found = repository.find_repository(str(repo / "sub"))
    real = str(repo.resolve())
    assert found == repository.Repository(real, f"{real}/.git", "main", bare=False, linked=False)


def test_find_answers_none_outside_of_any_repository(tmp_path: Path) -> None:
    assert repository.find_repository(str(tmp_path)) is None


def test_find_knows_a_linked_worktree_by_its_common_directory(repo: Path, tmp_path: Path) -> None:
    sh(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    found = repository.find_repository(str(tmp_path / "linked"))
    assert found is not None
    assert (found.linked, found.branch, found.bare) == (True, "side", False)
    assert found.common_dir == str((repo / ".git").resolve())


def test_find_knows_a_bare_repository(tmp_path: Path) -> None:
    sh(tmp_path, "init", "-q", "--bare", "bare.git")
    found = repository.find_repository(str(tmp_path / "bare.git"))
    assert found is not None
    assert (found.bare, found.toplevel, found.linked) == (True, None, False)


def test_find_has_no_toplevel_inside_the_git_directory(repo: Path) -> None:
    found = repository.find_repository(str(repo / ".git"))
    assert found is not None
    assert (found.bare, found.toplevel) == (False, None)


def test_find_has_no_branch_on_a_detached_head(repo: Path) -> None:
    sh(repo, "checkout", "-q", "--detach")
    found = repository.find_repository(str(repo))
    assert found is not None
    assert found.branch is None


def test_missing_git_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OutsideError, match="git was not found"):
        repository.find_repository(str(tmp_path))


def test_failure_shows_the_command_the_code_and_what_git_said(tmp_path: Path) -> None:
    told = r"(?s)`git rev-parse.*failed with exit code 128.*No such file"
    with pytest.raises(OutsideError, match=told):
        repository.find_repository(str(tmp_path / "nowhere"))


def test_variables_that_hooks_export_lead_nowhere_else(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other-index"))
    found = repository.find_repository(str(repo))
    assert found is not None
    assert found.common_dir == str((repo / ".git").resolve())
    measured_tree.measure_tree(str(repo))
    assert not (tmp_path / "other-index").exists()


def test_head_is_none_before_the_first_commit(empty: Path) -> None:
    assert repository.read_head(str(empty)) is None
    sh(empty, "commit", "-q", "--allow-empty", "-m", "x")
    assert repository.read_head(str(empty)) == sh(empty, "rev-parse", "HEAD")


def test_exclude_adds_each_pattern_once_and_keeps_the_rest(repo: Path) -> None:
    common = repo / ".git"
    (common / "info").mkdir(exist_ok=True)
    (common / "info" / "exclude").write_text("mine")
    repository.add_local_excludes(
        str(common), ["/worktrees/", "/codev/**/status.yaml", "/worktrees/"]
    )
    repository.add_local_excludes(str(common), ["/worktrees/", "mine"])
    text = (common / "info" / "exclude").read_text()
    assert text == "mine\n/worktrees/\n/codev/**/status.yaml\n"


def test_exclude_makes_the_file_where_there_is_none(tmp_path: Path) -> None:
    repository.add_local_excludes(str(tmp_path), ["x"])
    repository.add_local_excludes(str(tmp_path), [])
    assert (tmp_path / "info" / "exclude").read_text() == "x\n"
