"""Flaky checks are counted over runs, and a file that is no such list counts as none."""

from pathlib import Path

import pytest

from porch.store.flaky_checks import count_flaky_check, describe_flaky_checks, read_flaky_checks


def test_flaky_checks_are_counted_over_runs(tmp_path: Path) -> None:
    for run in ("0001-a", "0001-a", "0002-b"):
        count_flaky_check(str(tmp_path), "spider", "tests", run)
    count_flaky_check(str(tmp_path), "tick", "lint", "0003-c")
    found = read_flaky_checks(str(tmp_path))
    assert found["spider/tests"] == {"times": 3, "runs": ["0001-a", "0002-b"]}
    (line,) = describe_flaky_checks(str(tmp_path), "spider")
    assert "'tests' was flaky 3 times in 2 runs" in line


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a/b": 1}', '{"a/b": {"times": "x"}}'])
def test_a_file_that_is_no_such_list_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "flaky.json").write_text(text)
    assert read_flaky_checks(str(tmp_path)) == {}
    count_flaky_check(str(tmp_path), "p", "c", "r")
    assert read_flaky_checks(str(tmp_path)) == {"p/c": {"times": 1, "runs": ["r"]}}
