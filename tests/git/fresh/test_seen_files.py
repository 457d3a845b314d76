"""New files and touched ones are looked for at the same time, and neither look misses any."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import worktrees
from porch.git.fresh import checkout_index
from porch.git.fresh.seen_files import SeenFiles, look_at_files
from porch.git.index.raw_index import SHA1_BYTES
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")


@pytest.fixture
def place(repo: Path) -> Path:
    for name in ("a", "b", "c"):
        (repo / name).write_text(name)
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "more")
    found = repo / "worktrees" / "w"
    worktrees.ensure_worktree(str(repo), str(found), "w", "HEAD")
    checkout_index.remember_checkout(str(found))
    return found


def look(
    place: Path, path: Path, list_new: Callable[[Callable[[], object]], str], data: bytes = b""
) -> SeenFiles | None:
    fresh = checkout_index.take_fresh_index(str(place))
    assert fresh is not None
    fresh = checkout_index.FreshIndex(data or fresh.data, fresh.stamp, fresh.since)
    return look_at_files(str(place), fresh, SHA1_BYTES, str(path), list_new)


def test_touched_files_are_looked_for_while_git_lists_the_new_ones(
    place: Path, tmp_path: Path
) -> None:
    index, states = tmp_path / "index", []
    (place / "b").write_text("x")

    def list_new(meanwhile: Callable[[], object]) -> str:
        states.append(index.read_bytes())
        meanwhile()
        states.append(index.read_bytes())
        return "new\0more\0"

    assert look(place, index, list_new) == SeenFiles(["b"], ["new", "more"])
    before, after = states
    assert before != after, "of what was touched it knows nothing any more"
    assert len(before) == len(after)
    assert index.read_bytes() == after


def test_if_git_cannot_list_them_there_is_no_index(place: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"

    def fail(meanwhile: Callable[[], object]) -> str:
        meanwhile()
        raise OutsideError("no list")

    assert look(place, index, fail) is None
    assert not os.path.exists(index)


def test_if_only_git_can_read_it_there_is_no_index(place: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"

    def list_new(meanwhile: Callable[[], object]) -> str:
        meanwhile()
        return ""

    assert look(place, index, list_new, b"DIRC" + bytes(100)) is None
    assert not os.path.exists(index)
