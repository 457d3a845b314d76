"""Two files change names in one step, or nothing happens."""

from pathlib import Path

import pytest

from porch.system import swap


def test_two_files_change_names_in_one_step(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    if not swap.swap_files(str(one), str(other)):
        pytest.skip("this file system cannot swap")
    assert (one.read_text(), other.read_text()) == ("2", "1")


def test_nothing_happens_where_there_is_nothing_to_swap_with(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.write_text("1")
    assert not swap.swap_files(str(one), str(tmp_path / "nobody"))
    assert one.read_text() == "1"


def test_a_system_without_the_call_never_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert swap._load_swap_call() is swap._cannot_swap
