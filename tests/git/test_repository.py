"""Real repositories: what is measured and committed is exactly what was named."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import repository
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
    repository.hash_working_tree(str(repo))
    assert not (tmp_path / "other-index").exists()


def test_tree_of_a_clean_checkout_is_the_committed_one(repo: Path) -> None:
    assert repository.hash_working_tree(str(repo)) == sh(repo, "rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("name", ["a.txt", "new.txt", "dir/deep.txt", "späce ü.txt"])
def test_tree_moves_with_tracked_and_untracked_content_and_back(repo: Path, name: str) -> None:
    before, path = repository.hash_working_tree(str(repo)), repo / name
    old = path.read_bytes() if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    path.write_text("changed")
    assert repository.hash_working_tree(str(repo)) != before
    path.write_bytes(old) if old is not None else path.unlink()
    assert repository.hash_working_tree(str(repo)) == before


@pytest.mark.parametrize("exclude", [(), ("own",)])
def test_tree_sees_a_change_of_the_same_size_in_the_same_instant(
    repo: Path, exclude: tuple[str, ...]
) -> None:
    """Git compares sizes and seconds, and knows by the age of the index where that is no proof."""
    begun = 0
    while begun != int(time.time()):
        begun = int(time.time())
        (repo / "a.txt").write_text("one")
        sh(repo, "add", "a.txt")
        (repo / "a.txt").write_text("two")
    time.sleep(1.01)
    assert repository.hash_working_tree(str(repo), exclude) != sh(repo, "write-tree")


def test_tree_moves_when_a_file_goes(repo: Path) -> None:
    before = repository.hash_working_tree(str(repo))
    (repo / "a.txt").unlink()
    assert repository.hash_working_tree(str(repo)) != before


def test_tree_does_not_see_ignored_files_or_what_is_staged(repo: Path) -> None:
    (repo / "b.txt").write_text("b")
    before = repository.hash_working_tree(str(repo))
    (repo / "x.log").write_text("noise")
    sh(repo, "add", "b.txt")
    assert repository.hash_working_tree(str(repo)) == before


@pytest.mark.parametrize("pattern", ["own", "own/*/status.yaml", "own/1/status.yaml"])
def test_tree_leaves_out_what_porch_writes_itself(repo: Path, pattern: str) -> None:
    status = repo / "own" / "1" / "status.yaml"
    status.parent.mkdir(parents=True)
    before = repository.hash_working_tree(str(repo), [pattern])
    for text in ("first", "second"):
        status.write_text(text)
        assert repository.hash_working_tree(str(repo), [pattern]) == before
        sh(repo, "add", "-A")
        sh(repo, "commit", "-qm", text)
        assert repository.hash_working_tree(str(repo), [pattern]) == before
    assert repository.hash_working_tree(str(repo)) != before


def test_tree_touches_neither_the_index_nor_the_objects(repo: Path) -> None:
    (repo / "new.txt").write_text("n" * 100)
    (repo / "a.txt").write_text("two\n")

    def inside() -> dict[str, bytes]:
        files = (path for path in (repo / ".git").rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files}

    before = inside()
    repository.hash_working_tree(str(repo))
    assert repository.count_lines_since(str(repo), "HEAD") == (2, 1)
    assert inside() == before


def test_tree_works_before_the_first_commit(empty: Path) -> None:
    nothing = repository.hash_working_tree(str(empty), ["status.yaml"])
    (empty / "a").write_text("a")
    assert repository.hash_working_tree(str(empty), ["status.yaml"]) != nothing


def test_tree_is_the_whole_one_from_a_subdirectory_or_a_linked_worktree(
    repo: Path, tmp_path: Path
) -> None:
    sh(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    assert repository.hash_working_tree(str(tmp_path / "linked")) == repository.hash_working_tree(
        str(repo)
    )
    (repo / "sub").mkdir()
    assert repository.hash_working_tree(str(repo / "sub")) == repository.hash_working_tree(
        str(repo)
    )


def test_tree_survives_embedded_repositories_with_and_without_commits(repo: Path) -> None:
    plain = repository.hash_working_tree(str(repo))
    for name in ("blank", "full"):
        sh(repo, "init", "-q", name)
        (repo / name / "file").write_text(name)
    assert repository.hash_working_tree(str(repo)) == plain
    sh(repo / "full", "add", "-A")
    sh(repo / "full", "commit", "-qm", "inner")
    assert repository.hash_working_tree(str(repo)) != plain


def test_tree_survives_submodules(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    sh(tmp_path, "init", "-q", "other")
    sh(other, "commit", "-q", "--allow-empty", "-m", "x")
    sh(repo, "submodule", "add", "-q", str(other), "mod")
    before = repository.hash_working_tree(str(repo))
    sh(repo / "mod", "commit", "-q", "--allow-empty", "-m", "y")
    assert repository.hash_working_tree(str(repo)) != before


def test_tree_survives_a_conflict_in_the_index(repo: Path) -> None:
    sh(repo, "checkout", "-qb", "side")
    (repo / "a.txt").write_text("side\n")
    sh(repo, "commit", "-qam", "side")
    sh(repo, "checkout", "-q", "main")
    (repo / "a.txt").write_text("main\n")
    sh(repo, "commit", "-qam", "main")
    subprocess.run(["git", "merge", "-q", "side"], cwd=repo, check=False, capture_output=True)
    assert sh(repo, "ls-files", "-u")
    repository.hash_working_tree(str(repo))
    with pytest.raises(OutsideError, match="merge is in progress"):
        repository.commit_paths(str(repo), ["a.txt"], "no", TRAILER)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_tree_that_cannot_be_read_is_no_tree(repo: Path) -> None:
    (repo / "secret").write_text("x")
    (repo / "secret").chmod(0)
    with pytest.raises(OutsideError, match="Permission denied"):
        repository.hash_working_tree(str(repo))


def test_numstat_counts_untracked_files_and_lines_called_binary(repo: Path) -> None:
    base = repository.read_head(str(repo))
    assert base is not None
    (repo / ".gitattributes").write_text("*.py binary\n")
    (repo / "new.py").write_text("x\n" * 40)
    (repo / "a.txt").unlink()
    sh(repo, "add", "new.py")
    (repo / "raw").write_bytes(b"\0\n@@ -1,9 +1,9 @@\n")
    assert repository.count_lines_since(str(repo), base) == (43, 1)
    assert repository.count_lines_since(str(repo), base, ["new.py", "raw"]) == (1, 1)


@pytest.mark.parametrize("base", ["no-such-commit", "--output=x", ""])
def test_numstat_against_an_unknown_base_is_not_measured(repo: Path, base: str) -> None:
    assert repository.count_lines_since(str(repo), base) is None


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
