"""The quick reader of messages sees in every line what the general one sees."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.agents import claude
from porch.agents.claude.message_lines import read_message_line

TEXT = {"type": "text", "text": "said"}
TOOL = {"type": "tool_use", "name": "Bash", "id": "t", "input": {"command": "make  test"}}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "printed\n", "is_error": False}
PARTS = {**RESULT, "content": [TEXT, {"type": "image"}, 7, {**TEXT, "text": 3}]}
DENIED = {
    **RESULT,
    "is_error": True,
    "content": "<tool_use_error>File is in a directory that is denied",
}
USAGE = {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 1, "more": {"a": [1]}}
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, 0, -1, 1.5, 2**53, 2**70, "", "<synthetic>", "m", [], [1], {}, True]
)


def odd(usual: dict[str, Any], *names: str) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping, mostly as it is; or something odd in it, or something missing."""
    return st.one_of(
        st.just(usual),
        st.builds(lambda name, value: {**usual, name: value}, st.sampled_from(names), ODD),
        st.sampled_from(names).map(lambda name: {k: v for k, v in usual.items() if k != name}),
    )


blocks = st.one_of(
    odd(TEXT, "type", "text"),
    odd(TOOL, "type", "name", "input"),
    odd(RESULT, "type", "content", "is_error"),
    st.sampled_from([PARTS, DENIED, {"type": "thinking", "thinking": "hm"}, {"type": "new"}, 7]),
    st.just({"type": "text", "text": "[structured-output-enforce] answer"}),
)
messages = st.builds(
    lambda content, usage, more: {"role": "r", "content": content, "usage": usage, **more},
    st.one_of(st.lists(blocks, max_size=3), ODD),
    st.one_of(odd(USAGE, *USAGE), ODD),
    st.dictionaries(st.sampled_from(["id", "model"]), ODD),
)
told = st.builds(
    lambda kind, message, more: {"type": kind, "message": message, **more},
    st.sampled_from(["assistant", "user", "system", None]),
    st.one_of(messages, ODD),
    st.dictionaries(st.sampled_from(["error", "parent_tool_use_id", "tool_use_result"]), ODD),
)


@given(told, st.booleans())
def test_a_message_means_the_same_to_both_readers(line: dict[str, Any], is_ascii: bool) -> None:
    text = json.dumps(line, ensure_ascii=is_ascii)
    assert claude.feed(text) == claude.read_any_line(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"user","type":"assistant","message":{"content":[]},"message":{"content":[7]}}',
        '{"type":"user","message":{"content":[]},"tool_use_result":NaN}',
        '{"type":"user","message":{"content":[]},"tool_use_result":"\\q"}',
        '{"type":"user","message":{"content":[]}',
        '{"type":"assistant","message":{"content":[{"type":"text","text":"\\ud800"}]}}',
        json.dumps({"type": "user", "message": {"content": [RESULT, DENIED]}}),
        json.dumps({"type": "user", "message": {"content": [RESULT, TEXT]}}),
        json.dumps({"type": "assistant", "error": "e", "message": {"content": [TEXT]}}),
        "",
        "[" * 5000,
    ],
)
def test_a_line_that_is_no_usual_message_is_read_in_the_general_way(text: str) -> None:
    assert claude.feed(text) == claude.read_any_line(text)


def test_usual_messages_are_read_quickly() -> None:
    """Otherwise nothing above would say anything about the quick reader."""
    message = {"id": "m", "model": "big", "content": [TEXT, TOOL], "usage": USAGE}
    for line in (
        {"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "s"},
        {"type": "user", "message": {"content": [RESULT, PARTS]}, "tool_use_result": {"a": 1}},
    ):
        assert read_message_line(json.dumps(line)) == claude.read_any_line(json.dumps(line))
