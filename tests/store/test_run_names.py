"""Which word means a run, and where commands name one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.store import run_names

WORDS = ("porch", "af", "approve", "x1", "0073", "'a b'", "0073-x", ".", ",", "_", "é", "\n", "-")


@pytest.mark.parametrize(
    "text, told",
    [
        ("porch approve 0073 go", "porch approve 0073-x go"),
        ("say `porch stop 0073`, or af stop 0073", "say `porch stop 0073-x`, or af stop 0073-x"),
        ("porch approve 0073-y go", "porch approve 0073-y go"),
        ("porch approve 0073.1", "porch approve 0073.1"),
        ("teleporch stop 0073", "teleporch stop 0073"),
        ("_af stop 0073", "_af stop 0073"),
        ("porch 0073, and 0073 porch", "porch 0073, and 0073 porch"),
        ("porch  stop 0073", "porch  stop 0073"),
        ("porch Stop 0073", "porch Stop 0073"),
        ("0073", "0073"),
        ("", ""),
    ],
)
def test_a_run_is_renamed_where_a_command_names_it(text: str, told: str) -> None:
    assert run_names.rename_in_commands(text, "0073", "0073-x") == told
    assert run_names.rename_in_commands(text, "0073", "0073") == text
    assert run_names.rename_in_commands(text, "", "0073-x") == text


@given(st.lists(st.sampled_from((*WORDS, " ", "porch stop ")), max_size=12), st.data())
def test_it_is_found_where_a_pattern_would_find_it(parts: list[str], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(("", " "))).join(parts)
    id_ = data.draw(st.sampled_from(("0073", "a b", "x1")))
    old = re.escape(run_names.quote_word(id_))
    by_pattern = re.sub(rf"\b((?:porch|af) [a-z]+) {old}(?![\w.-])", r"\1 9-z", text)
    assert run_names.rename_in_commands(text, id_, "9-z") == by_pattern
