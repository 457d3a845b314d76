"""What porch adds to files of others can be taken out again, and nothing else goes with it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.fleet.setup.additions import (
    WrittenFile,
    append_section,
    hash_content,
    is_shared,
    remove_additions,
)
from porch.fleet.setup.claude_settings import SETTINGS_FILE, merge_claude_settings
from porch.fleet.setup.json_additions import strip_additions
from porch.fleet.setup.mcp_entries import CLAUDE_FILE, add_claude_entry

PAGE = "AGENTS.md"
# Files of people hold any bytes; those that are no UTF-8 come as these characters.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r") | st.sampled_from("\udc80\n"))
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ALLOW = st.lists(st.sampled_from(["Bash(ls:*)", "Bash(git status:*)", "Bash(porch log:*)"]))
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": VALUE,
        "permissions": st.fixed_dictionaries({}, optional={"allow": ALLOW, "deny": VALUE}),
        "hooks": st.fixed_dictionaries(
            {}, optional={"UserPromptSubmit": st.lists(VALUE), "Stop": VALUE}
        ),
    },
)
SERVERS = st.fixed_dictionaries(
    {}, optional={"mcpServers": st.dictionaries(st.sampled_from("xyz"), VALUE), "other": VALUE}
)


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def written(before: str, after: str) -> WrittenFile:
    return WrittenFile(hash_content(encode(after)), encode(before))


@given(TEXT)
def test_a_page_is_byte_for_byte_what_it_was(before: str) -> None:
    after = append_section(before)
    left = remove_additions(PAGE, encode(after), written(before, after))
    assert (left.fate, left.data) == ("shortened", encode(before))


@given(TEXT, TEXT)
def test_around_a_section_everything_that_was_written_since_stays(first: str, last: str) -> None:
    text = f"{append_section(first)}{last}"
    left = remove_additions(PAGE, encode(text), written("", "another"))
    # A line without an end got one when the section came behind it.
    kept = [f"{first}{gap}{last}" for gap in ("", "\n")]
    assert left.fate == "shortened"
    assert left.data in map(encode, kept)


@pytest.mark.parametrize("indent", [None, 1, 4])
@given(SETTINGS, st.booleans(), st.booleans())
def test_settings_are_byte_for_byte_what_they_were(
    indent: int | None, document: dict[str, Any], with_hook: bool, with_permissions: bool
) -> None:
    before = json.dumps(document, indent=indent)
    after = merge_claude_settings(before, with_hook=with_hook, with_permissions=with_permissions)
    left = remove_additions(SETTINGS_FILE, encode(after), written(before, after))
    is_same = before == after
    assert (left.fate, left.data) == (("gone", b"") if is_same else ("shortened", encode(before)))


@given(SETTINGS, VALUE)
def test_of_settings_that_were_changed_since_only_what_was_added_goes(
    document: dict[str, Any], more: Any
) -> None:
    before = json.dumps(document)
    after = merge_claude_settings(before, with_permissions=True)
    now = json.dumps({**json.loads(after), "more": more})
    left = remove_additions(SETTINGS_FILE, encode(now), written(before, after))
    assert json.loads(left.data) == {**document, "more": more}


@given(SERVERS)
def test_servers_are_what_they_were_also_without_a_record(document: dict[str, Any]) -> None:
    before = json.dumps(document)
    after = add_claude_entry(before)
    exact = remove_additions(CLAUDE_FILE, encode(after), written(before, after))
    assert exact.data == encode(before)
    unknown = remove_additions(CLAUDE_FILE, encode(after), None)
    kept = {key: value for key, value in document.items() if (key, value) != ("mcpServers", {})}
    assert json.loads(unknown.data or b"{}") == kept


@pytest.mark.parametrize(
    "path, text",
    [(PAGE, "# Mine\n"), (SETTINGS_FILE, '{"model": "opus"}'), (CLAUDE_FILE, "{}"), (PAGE, "")],
)
def test_where_nothing_of_porch_is_nothing_goes(path: str, text: str) -> None:
    for record in (None, WrittenFile("0"), written("", text)):
        assert remove_additions(path, encode(text), record).fate == "gone"


def test_a_page_that_cannot_be_told_apart_is_left_alone() -> None:
    twice = append_section(append_section("# Mine\n"))
    assert remove_additions(PAGE, encode(twice), None).fate == "kept"
    assert remove_additions(SETTINGS_FILE, b"{", None).note == "it is not a JSON object"


def test_a_record_whose_earlier_content_is_no_json_adds_nothing() -> None:
    record = WrittenFile("0", b"{")
    text = encode(merge_claude_settings("", with_permissions=True))
    assert remove_additions(SETTINGS_FILE, text, record).fate == "gone"


def test_an_entry_that_is_another_one_by_now_is_somebodys_own() -> None:
    after = {"a": {"b": {"x": 1}}, "l": {"m": [1, 2]}}
    now = {"a": {"b": {"x": 2}}, "l": {"m": [1, 3]}, "z": 0}
    assert strip_additions(now, {}, after) == {"a": {"b": {"x": 2}}, "l": {"m": [3]}, "z": 0}
    assert strip_additions({"a": 1, "l": {}}, {}, after) == {"a": 1}
    assert strip_additions(after, {"a": {}}, after) == {"a": {}}


def test_only_pages_at_the_top_are_shared() -> None:
    assert is_shared("CLAUDE.md")
    assert not is_shared("docs/AGENTS.md")
    assert not is_shared("codev/config.toml")
