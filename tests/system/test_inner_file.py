"""A file below a directory: read without ever leaving it."""

import os
from pathlib import Path

import pytest

from porch.system.inner_file import read_inner_file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    (tmp_path / "root/a").mkdir(parents=True)
    (tmp_path / "root/a/b.txt").write_text("text")
    return tmp_path / "root"


def test_a_regular_file_is_read_with_its_size(root: Path) -> None:
    found = read_inner_file(str(root), "a/b.txt", 4)
    assert found is not None
    assert (found.size, found.data) == (4, b"text")
    large = read_inner_file(str(root), "a/b.txt", 3)
    assert large is not None
    assert (large.size, large.data) == (4, None)


@pytest.mark.parametrize(
    "path",
    [
        *("../outside/secret", "a/../../outside/secret", "/etc/passwd", "", "a", "a//b.txt"),
        *("./a/b.txt", "a/none", "a/b.txt/c", "a\0b"),
    ],
)
def test_a_way_that_is_not_plain_leads_nowhere(root: Path, path: str) -> None:
    assert read_inner_file(str(root), path, 100) is None


def test_no_link_is_followed_and_nobody_waits_for_a_pipe(root: Path) -> None:
    (root / "file").symlink_to(root.parent / "outside/secret")
    (root / "inner").symlink_to("a/b.txt")
    (root / "directory").symlink_to(root.parent / "outside")
    os.mkfifo(root / "pipe")
    for path in ("file", "inner", "directory/secret", "pipe"):
        assert read_inner_file(str(root), path, 100) is None
    assert read_inner_file(str(root / "gone"), "x", 100) is None
