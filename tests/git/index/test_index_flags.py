"""Flags that hide a file from git are taken away before porch commits."""

from pathlib import Path

import pytest

from porch.git.index import raw_index
from porch.git.index.index_flags import clear_index_flags
from porch.git.index.raw_index import has_flags
from porch.git.worktrees import list_changed_paths
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")


@pytest.mark.parametrize("flags", [["--skip-worktree"], ["--assume-unchanged"]])
def test_v3_a_file_that_git_was_told_to_overlook_is_seen_again(
    repo: Path, flags: list[str]
) -> None:
    sh(repo, "update-index", *flags, "a.txt")
    (repo / "a.txt").write_text("two\n")
    assert list_changed_paths(str(repo)) == []
    assert clear_index_flags(str(repo)) == ["a.txt"]
    assert list_changed_paths(str(repo)) == ["a.txt"]
    assert clear_index_flags(str(repo)) == []


@pytest.mark.parametrize("version", ["2", "4"])
def test_an_index_without_flags_is_known_by_its_bytes(repo: Path, version: str) -> None:
    for number in range(30):
        (repo / ("n" * number + ".txt")).write_text("x")
    sh(repo, "add", "-A")
    sh(repo, "update-index", "--index-version", version)
    index = repo / ".git" / "index"
    assert has_flags(index.read_bytes(), 20) == (version == "4")
    assert clear_index_flags(str(repo)) == []
    sh(repo, "update-index", "--assume-unchanged", "nnn.txt")
    assert has_flags(index.read_bytes(), 20)
    assert clear_index_flags(str(repo)) == ["nnn.txt"]
    assert not has_flags(b"", 20)
    assert has_flags(index.read_bytes()[:60], 20)


def test_an_index_in_two_parts_is_left_to_git_itself(repo: Path) -> None:
    index = (repo / ".git" / "index").read_bytes()
    assert not raw_index.may_overlook_files(index, raw_index.SHA1_BYTES)
    assert not raw_index.may_have_repositories(index)
    sh(repo, "update-index", "--split-index")
    index = (repo / ".git" / "index").read_bytes()
    assert raw_index.may_overlook_files(index, raw_index.SHA1_BYTES)
    assert raw_index.may_have_repositories(index)


def test_a_repository_inside_is_seen_in_an_index_of_any_version(repo: Path) -> None:
    head = sh(repo, "rev-parse", "HEAD")
    sh(repo, "update-index", "--add", "--cacheinfo", f"160000,{head},inner")
    for version in ("2", "3", "4"):
        sh(repo, "update-index", "--index-version", version)
        assert raw_index.may_have_repositories((repo / ".git" / "index").read_bytes())


def test_few_names_are_read_from_an_index_and_many_are_not(repo: Path) -> None:
    (repo / "ünï.txt").write_text("x")
    sh(repo, "add", "-A")
    index = (repo / ".git" / "index").read_bytes()
    names = {name.encode() for name in sh(repo, "ls-files", "-z").split("\0") if name}
    assert raw_index.list_few_names(index, raw_index.SHA1_BYTES, 100) == names
    assert raw_index.list_few_names(index, raw_index.SHA1_BYTES, 1) is None
    assert raw_index.list_few_names(index[:90], raw_index.SHA1_BYTES, 100) is None
    assert raw_index.list_few_names(b"", raw_index.SHA1_BYTES, 100) is None
    sh(repo, "update-index", "--index-version", "4")
    index = (repo / ".git" / "index").read_bytes()
    assert raw_index.list_few_names(index, raw_index.SHA1_BYTES, 100) is None
