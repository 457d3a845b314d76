"""A tool call is a command line in which no value can be taken for a flag."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.cli.arguments import read_command_arguments
from porch.cli.mcp.offered_tools import OfferedTool, is_list, is_switch, list_offered_tools
from porch.cli.mcp.tool_words import make_words
from porch.cli.rows import PROGRAMS
from porch.errors import UsageError

TOOLS = list_offered_tools()
PEOPLES = {
    f"{program} {row.words}": row.people_options
    for program, rows in PROGRAMS.items()
    for row in rows
}


def read(tool: OfferedTool, said: dict[str, Any]) -> dict[str, Any]:
    """What the command would be called with."""
    words = make_words(tool, said)
    return vars(read_command_arguments(tool.program, tool.command, words))


def test_every_kind_of_argument_arrives() -> None:
    search = read(TOOLS["envoy_knowledge_search"], {"phrase": ["a b", "-c"], "limit": 3})
    assert (search["phrase"], search["limit"], search["json"]) == (["a b", "-c"], 3, True)
    said = {"number": 2, "variant": "b", "files": "x", "debug": True, "context": "- a\n- b"}
    prompt = read(TOOLS["envoy_plan_write_prompt"], said)
    assert {name: prompt[name] for name in said} == {**said, "number": "2"}
    assert read(TOOLS["envoy_plan_next"], {"n": 4, "agent": None})["n"] == 4
    inputs = read(TOOLS["envoy_protocol"], {"name": "p", "input": ["a=1", "b=-2"], "raw": False})
    assert (inputs["input"], inputs["raw"]) == (["a=1", "b=-2"], False)


@settings(max_examples=50, deadline=None)
@given(tool=st.sampled_from(list(TOOLS.values())), data=st.data())
def test_no_text_becomes_a_flag(tool: OfferedTool, data: st.DataObject) -> None:
    flags = ["--force", "--as-person", "--script=x", "--", "-h", "--json", "-"]
    texts = st.sampled_from(flags) | st.text(st.characters(codec="utf-8"), min_size=1)
    said: dict[str, Any] = {
        each.dest: [text] if is_list(each) else text
        for each in tool.arguments
        if not is_switch(each) and "type" not in each.options and "choices" not in each.options
        for text in (data.draw(texts),)
    }
    said |= {each.dest: 1 for each in tool.arguments if each.options.get("type") in (int, float)}
    try:
        args = read(tool, said)
    except UsageError:
        return
    assert not any(args.get(name) for name in (*PEOPLES[tool.call], "as_person"))
    assert {name: args[name] for name in said if isinstance(said[name], str)} == {
        name: value for name, value in said.items() if isinstance(value, str)
    }


@pytest.mark.parametrize(
    "name, said, message",
    [
        ("envoy_plan_read_prompt", {}, "needs the argument 'number'"),
        ("envoy_plan_read_prompt", {"number": "1", "force": True}, "has no argument 'force'"),
        ("envoy_plan_read_prompt", {"number": True}, "'number' must be a text or a number"),
        ("envoy_plan_read_prompt", {"number": "a\0b"}, "'number' contains a zero byte"),
        ("envoy_plan_read_prompt", {"number": "", "variant": "b"}, "without 'number'"),
        ("envoy_plan_read_prompt", {"number": "--", "variant": "b"}, "'number' cannot be --"),
        ("envoy_knowledge_search", {"phrase": "cats"}, "'phrase' must be a list"),
        ("porch_status", {"tree": "yes"}, "'tree' must be true or false"),
    ],
)
def test_a_wrong_argument_is_named(name: str, said: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        make_words(TOOLS[name], said)
    assert refused.value.findings[0].fix
