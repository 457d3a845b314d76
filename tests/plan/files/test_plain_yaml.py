"""Plain YAML is read and written as the library does it, or left to the library."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from porch.errors import DefinitionError
from porch.plan.files import plain_yaml, yaml_edit
from porch.text.nodes import plain_value
from porch.text.yaml_tree import read_yaml

texts = st.one_of(
    st.sampled_from(
        [
            *("", "a", "web", "feature/x--implementation-1", "yes", "No", "null", "1", "0012"),
            *("2026-11-16T17:40:00.190Z", "a: b", "a #b", " a", "a ", "-", "- a", "~", ".", "é"),
            *("one\ntwo", "one\n\ntwo\n", "one\n two\n", " one\ntwo", "one\ntwo\n\n", "one \ntwo"),
            *("x\ny: z\n- w\n", "\n", "a\n", "é\nü", "a\tb\nc", "# a\nb", "'", '"', "\\", "a\\nb"),
            *(
                "inf",
                "nan",
                "e5",
                "a" * 200,
                "x y z",
                "a  b",
                "\u2028",
                "\x85",
                "\ufeff",
                "|",
                "|-",
            ),
        ]
    ),
    st.text(max_size=12),
    st.text(st.sampled_from('ab1 .-_/:#"\\\n|>[]{}'), max_size=12),
)
scalars = st.none() | st.booleans() | st.integers() | texts | st.floats(allow_nan=False)
keys = st.sampled_from(["a", "b", "number", "_x", "on", "y", "null", "Key9", "k" * 90, "é", "a b"])
values: st.SearchStrategy[Any] = st.recursive(
    scalars | st.just([]) | st.just({}),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
fields = st.dictionaries(keys, values, max_size=5)
lines = st.sampled_from(
    [
        *("a: b", "a:", "b: 1", "b: |", "b: |-", "c: []", "c: {}", 'd: "x"', "d: 'x'", "e: null"),
        *("- x", "- a: 1", "- 1", "-", "- - x", "  a: 1", "  b: x", "  - x", "  x", "    y", ""),
        *(
            "# c",
            "a: b # c",
            "f: ~",
            "f: yes",
            "f: &x 1",
            "f: *x",
            "g: |+",
            "g: >",
            "<<: 1",
            "....",
        ),
        *(
            "---",
            "...",
            "? a",
            ": b",
            "a : b",
            "a:  b",
            "a: b ",
            "h: 0x1",
            "h: 1_0",
            "h: 01",
            "h: -0",
        ),
        *("h: 1.0", "h: -5", "h: 12345678901234567890", "\t", "i: a b", "i: a: b", "i: [1]", "%a"),
        *("    b: 2", "  c:", "   d: 1", "  - a: 1", "    b: |", "      z", " e: 1"),
    ]
)
documents = st.lists(lines, max_size=8).map(lambda each: "".join(f"{line}\n" for line in each))


def read_by_library(text: str) -> Any:
    try:
        return plain_value(read_yaml(text, "f"))
    except DefinitionError:
        return "refused"


@given(documents)
@example("a: |\n  x\n\n  y\nb: 1\n")
@example("a: |\n  x\n\n")
@example("a:\n- b: 1\n  c:\n  - d: 2\n    e: x\n")
def test_what_is_read_plainly_is_what_the_library_reads(text: str) -> None:
    found = plain_yaml.parse_plain_fields(text)
    if found is not None and text:
        assert repr(found) == repr(read_by_library(text))


@given(fields)
def test_what_is_written_plainly_is_what_the_library_writes(given_: dict[str, Any]) -> None:
    found = plain_yaml.render_plain_fields(given_)
    if found is not None and given_:
        assert found == yaml_edit.dump_yaml(given_)


@given(fields)
def test_what_the_library_writes_is_read_as_it_was_or_not_at_all(given_: dict[str, Any]) -> None:
    found = plain_yaml.parse_plain_fields(yaml_edit.dump_yaml(given_))
    assert found is None or repr(found) == repr(given_)


@given(documents | fields.map(yaml_edit.dump_yaml), fields)
def test_what_is_changed_plainly_is_what_the_library_makes_of_it(
    text: str, changes: dict[str, Any]
) -> None:
    found = plain_yaml.render_plain_changes(text, changes)
    if found is not None and text and changes:
        assert found == yaml_edit.render_with_fields(text, changes)


OURS: dict[str, Any] = {
    "number": 1,
    "variant": None,
    "description": "Reads dates.\n\nAll of them: also these.\n",
    "relevant_files": ["src/dates.py", "tests/test_dates.py"],
    "walkthrough": [{"iteration": 1, "approach": "one\ntwo", "changes": [], "decisions": ["x"]}],
    "owner": {"host": "vm", "pid": 26260, "born": "1272159"},
    "planned_at": "2026-11-16T17:40:00.190Z",
    "in_progress": False,
}


def test_the_fields_of_a_prompt_need_no_library() -> None:
    text = plain_yaml.render_plain_fields(OURS)
    assert text is not None
    assert plain_yaml.parse_plain_fields(text) == OURS
    changes = {"owner": None, "status": "merged", "walkthrough": [*OURS["walkthrough"], {"a": 1}]}
    assert plain_yaml.render_plain_changes(text, changes) is not None


@pytest.mark.parametrize(
    "text",
    ["a: 1\n# why\n", "a: 1\n\nb: 2\n", "a: 'x'\n", "a: 1", "a: é\n", "a: {}\n", "a: 1\na: 2\n"],
)
def test_what_people_have_made_of_it_is_left_to_the_library(text: str) -> None:
    assert plain_yaml.parse_plain_fields(text) is None
    assert plain_yaml.render_plain_changes(text, {"b": 1}) is None
