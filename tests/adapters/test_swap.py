"""Redrawn files that need not outlive a power cut change names with the old ones."""

import os
from pathlib import Path

import pytest

from porch.adapters import atomic, swap


def test_two_files_change_names_in_one_step(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    if not swap.swap(str(one), str(other)):
        pytest.skip("this file system cannot swap")
    assert (one.read_text(), other.read_text()) == ("2", "1")


def test_nothing_happens_where_there_is_nothing_to_swap_with(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.write_text("1")
    assert not swap.swap(str(one), str(tmp_path / "nobody"))
    assert one.read_text() == "1"


@pytest.mark.parametrize("can_swap", [True, False])
def test_a_redrawn_file_is_the_new_one_and_nothing_stays_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_swap: bool
) -> None:
    if not can_swap:
        monkeypatch.setattr(swap, "_known", [swap._never])
    path = tmp_path / "status.yaml"
    for text in (b"first", b"second"):
        written = atomic.replace(str(path), text, sync=False)
        assert path.read_bytes() == text
        assert written.st_ino == os.stat(path).st_ino
    assert os.listdir(tmp_path) == ["status.yaml"]


def test_a_system_without_the_call_never_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert swap._found() is swap._never


def test_whoever_holds_the_old_file_open_reads_it_to_its_end(tmp_path: Path) -> None:
    path = str(tmp_path / "status.yaml")
    atomic.replace(path, b"old" * 1000, sync=False)
    with open(path, "rb") as reader:
        assert reader.read(3) == b"old"
        atomic.replace(path, b"new", sync=False)
        atomic.replace(path, b"newer", sync=False)
        assert reader.read() == b"old" * 999
