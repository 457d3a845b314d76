"""Where git converts files, a comparison is one of what lies on disk then and now."""

from pathlib import Path

import pytest

from porch.git import measured_tree, tree_changes
from porch.tree.branches import raw_commits
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")


def changed(repo: Path, base: str) -> list[str]:
    now = measured_tree.measure_tree(str(repo))
    return [each.path for each in tree_changes.list_changed_paths(str(repo), base, now)]


def test_a_converted_file_that_nobody_touched_has_not_changed(repo: Path) -> None:
    (repo / ".gitattributes").write_text("*.txt text eol=crlf\n")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "line ends")
    (repo / "a.txt").unlink()
    sh(repo, "checkout", "-q", "a.txt")
    assert b"\r" in (repo / "a.txt").read_bytes()
    head = sh(repo, "rev-parse", "HEAD")
    assert changed(repo, head) == ["a.txt"]
    raw_commits.remember_raw_commit(str(repo))
    base = raw_commits.find_raw_commit(str(repo), head)
    assert changed(repo, base) == []
    (repo / "a.txt").write_bytes(b"one\n")
    assert changed(repo, base) == ["a.txt"]


def test_a_repository_without_conversions_needs_no_memory(repo: Path) -> None:
    head = sh(repo, "rev-parse", "HEAD")
    raw_commits.remember_raw_commit(str(repo))
    assert raw_commits.find_raw_commit(str(repo), head) == head
    sh(repo, "config", "core.autocrlf", "input")
    (repo / "b.txt").write_text("not clean")
    raw_commits.remember_raw_commit(str(repo))
    assert raw_commits.find_raw_commit(str(repo), head) == head
