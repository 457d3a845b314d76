"""Variables that are read all at once are those of now."""

import os

import pytest

from porch.system.variables import read_environment


def test_a_variable_that_was_changed_added_or_removed_is_seen_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PORCH_TRIED", "one")
    before = read_environment()
    assert before == dict(os.environ)
    assert read_environment() is before, "nothing has changed, so nothing is read again"
    monkeypatch.setenv("PORCH_TRIED", "two")
    assert read_environment()["PORCH_TRIED"] == "two"
    assert before["PORCH_TRIED"] == "one", "who has asked before keeps what it was told"
    monkeypatch.delenv("PORCH_TRIED")
    assert "PORCH_TRIED" not in read_environment()
