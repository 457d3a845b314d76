"""Written YAML means the same to every reader, and changes stay on their lines."""

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from porch.plan.files import front_matter, yaml_edit
from porch.text.formats import plain_value, read_yaml

# All that UTF-8 can carry, with a liking for what trips readers of YAML.
TEXTS = st.text(
    st.characters(codec="utf-8") | st.sampled_from("\n\r\t \x85\u2028\ufeff#:-|>'\"&*!%@`{}[],?~0"),
    max_size=40,
)


@given(st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3), max_leaves=4))
@example("a\n\n")
@example("\n a")
@example("a\x85\nb")
@example("- a\n---\nb\n")
def test_every_text_comes_back_out_of_every_reader(value: Any) -> None:
    text = yaml_edit.dump_yaml({"a": value, "b": [{"c": value}], "d": 1})
    wanted = {"a": value, "b": [{"c": value}], "d": 1}
    assert plain_value(read_yaml(text, "x.yaml")) == wanted
    assert yaml.safe_load(text) == wanted
    moved = "top:\n" + yaml_edit.indent_lines(text, 4)
    assert plain_value(read_yaml(moved, "x.yaml")) == {"top": wanted}


@pytest.mark.parametrize("word", ["yes", "No", "on", "1.10", "0o7", "12:30", "~", "", "2024-01-02"])
def test_words_that_mean_something_to_some_reader_are_quoted(word: str) -> None:
    assert yaml_edit.dump_yaml({"a": word}) == f'a: "{word}"\n'


def test_lines_are_written_as_lines() -> None:
    assert yaml_edit.dump_yaml({"a": "First.\n\n  Then.\n"}) == "a: |\n  First.\n\n    Then.\n"


def test_one_value_in_two_places_is_written_twice() -> None:
    shared = ["x"]
    assert "&" not in yaml_edit.dump_yaml({"a": shared, "b": shared})


def test_edits_for_one_place_keep_their_order() -> None:
    edits = [
        yaml_edit.TextEdit(1, 1, "x"),
        yaml_edit.TextEdit(1, 1, "y"),
        yaml_edit.TextEdit(1, 2, "z"),
    ]
    assert yaml_edit.apply_edits("abc", edits) == "axyzc"


def test_a_field_of_a_nested_mapping_is_added_at_its_end() -> None:
    text = "a:\n  - b: 1\n    c: 2  # two\n  # next\n  - b: 3\n"
    root = yaml_edit.compose_yaml(text)
    assert isinstance(root, yaml.MappingNode)
    item = root.value[0][1].value[0]
    edits = yaml_edit.list_field_edits(text, item, {"b": [5], "d": "x\ny"})
    wanted = (
        "a:\n  - b:\n    - 5\n    c: 2  # two\n    d: |-\n      x\n      y\n  # next\n  - b: 3\n"
    )
    assert yaml_edit.apply_edits(text, edits) == wanted


def test_fields_in_braces_are_written_anew() -> None:
    page = "---\n{status: a, number: 1}\n---\n\nBody.\n"
    changed = front_matter.render_changed_page(page, "1.md", {"status": "b"})
    assert changed == "---\nstatus: b\nnumber: 1\n---\n\nBody.\n"
