"""Directories for an instant: private, gone afterwards, wherever the system keeps such things."""

import os
from pathlib import Path

import pytest

from porch.system.scratch import copy_with_times, scratch_directory


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_scratch_directory_is_private_and_goes_with_all_that_is_in_it(place: Path) -> None:
    with scratch_directory("porch-x-") as made:
        assert Path(made).parent == place
        assert os.stat(made).st_mode & 0o777 == 0o700
        Path(made, "file").write_text("x")
        Path(made, "inner").mkdir()
        Path(made, "inner", "file").write_text("x")
    assert os.listdir(place) == []


def test_it_goes_also_if_somebody_fails_inside(place: Path) -> None:
    with pytest.raises(KeyError), scratch_directory("porch-x-"):
        raise KeyError
    assert os.listdir(place) == []


def test_where_the_named_place_is_gone_another_one_is_found(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(place / "gone"))
    with scratch_directory("porch-x-") as made:
        assert os.path.isdir(made)


def test_a_copy_has_the_bytes_and_the_times(place: Path) -> None:
    (place / "a").write_bytes(b"one\r\n\0")
    os.utime(place / "a", ns=(1_234_567_891, 2_345_678_912))
    copy_with_times(str(place / "a"), str(place / "b"))
    assert (place / "b").read_bytes() == b"one\r\n\0"
    assert (place / "b").stat().st_mtime_ns == 2_345_678_912
