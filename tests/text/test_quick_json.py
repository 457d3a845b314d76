"""JSON is read as `json` reads it, by less than that has to load."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.text import quick_json

LINES = (
    *("1", " 1 ", "-0.0", "1e400", "NaN", "-Infinity", "1" * 400, "01", "1.", "+1", "1 2", "", " "),
    *('"a"', '"a', r'"\ud800"', r'"\q"', '"a\tb"', "'a'", "nul", "true", "[1,]", '{"a":1,"a":2}'),
    *('{"a":1,}', "{1:2}", "[", '{"a"', "\ufeff1", "1\x0c", "\u00a01", "[" * 100_000),
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def read_by(read: Callable[[str], Any], line: str) -> str:
    """The value with its types; where there is none, only that."""
    try:
        return repr(read(line))
    except (ValueError, RecursionError) as error:
        return "ValueError" if isinstance(error, ValueError) else "RecursionError"


def first_by_json(line: str) -> Any:
    return json.JSONDecoder().raw_decode(line)[0]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_odd_texts_are_read_or_refused_as_json_does(line: str) -> None:
    assert read_by(quick_json.parse_value, line) == read_by(json.loads, line)
    assert read_by(quick_json.parse_first_value, line) == read_by(first_by_json, line)


@given(values, st.booleans())
def test_every_value_is_read_as_json_reads_it(value: Any, is_ascii: bool) -> None:
    line = json.dumps(value, ensure_ascii=is_ascii)
    assert read_by(quick_json.parse_value, line) == read_by(json.loads, line)
    assert read_by(quick_json.parse_first_value, f"{line},") == read_by(first_by_json, f"{line},")


def test_where_the_part_in_c_is_missing_json_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    assert quick_json._find_scanner()('{"a": [1]} ', 0) == ({"a": [1]}, 10)
