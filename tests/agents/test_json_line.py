"""A line is read as `json` reads it, whichever of the two readers does."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.agents.json_line import parse_json_line

# What the quick reader refuses or could read differently.
LINES = (
    *("NaN", "-Infinity", "1e400", "-0", "-0.0", "1" * 400, "1" * 5000, "18446744073709551616"),
    *("-9223372036854775809", "0.1", "1e23", "8.5e-320", "01", "1.", ".5", "+1", "0x1"),
    *(r'"\ud800"', r'"\ud83d\ude00"', r'"\ud83d"', '"\ud800"', '"a\tb"', '"\x00"', '"\x7f"'),
    *(r'"\q"', r'"\/"', '"\u2028"', "'a'", "\ufeff1", " 1 ", "1\x0c", "1 2", "", "nul", "True"),
    *('{"a":1,"a":2}', '{"a":{"b":1},"a":{"c":2}}', "[1,]", '{"a":1,}', "{1:2}", "[", '{"a"'),
    *("[" * depth + "]" * depth for depth in (100, 500, 900, 2000, 100_000)),
    '{"type":"user","message":{"content":[{"type":"text","text":"\\u00e9 é \\ud83d"}]}}',
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def read_by(read: Any, line: str) -> str:
    """The value with its types; where there is none, only that."""
    try:
        return repr(read(line))
    except (ValueError, RecursionError) as error:
        return type(error).__name__


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_odd_lines_are_read_as_json_reads_them(line: str) -> None:
    assert read_by(parse_json_line, line) == read_by(json.loads, line)


@given(values, st.booleans())
def test_every_value_is_read_as_json_reads_it(value: Any, is_ascii: bool) -> None:
    line = json.dumps(value, ensure_ascii=is_ascii)
    assert read_by(parse_json_line, line) == read_by(json.loads, line)


@given(st.text(st.sampled_from('{}[]",:\\udD8ea0123.+-eE ntfrulsNI\t\x01é\ud800'), max_size=40))
def test_every_text_is_read_or_refused_as_json_does(line: str) -> None:
    assert read_by(parse_json_line, line) == read_by(json.loads, line)
