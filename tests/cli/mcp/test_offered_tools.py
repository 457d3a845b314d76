"""What decides or steers is no tool; every other command of envoy is one, without being listed."""

import argparse
import re

import jsonschema
import pytest

from porch.cli.mcp.offered_tools import PORCH_COMMANDS, OfferedTool, list_offered_tools
from porch.cli.rows import PROGRAMS, CommandRow
from porch.cli.table import load_command
from tests.cli.test_rows import AGENTS_MAY

TOOLS = list_offered_tools()
CALLS = {tool.call: tool for tool in TOOLS.values()}
ROWS = {f"{program} {row.words}": row for program, rows in PROGRAMS.items() for row in rows}


@pytest.mark.parametrize("call, row", ROWS.items(), ids=list(ROWS))
def test_no_tool_decides_or_steers(call: str, row: CommandRow) -> None:
    if row.for_people:
        assert call not in CALLS
        return
    tool = CALLS.get(call)
    offered = set(tool.input_schema()["properties"]) if tool else set()
    hidden = {
        argument.dest
        for argument in load_command(row).arguments
        if argument.options.get("help") is argparse.SUPPRESS
    }
    forced = {name for name in offered if "force" in name}
    assert not offered & {*row.people_options, *hidden, "as_person", "script"}
    assert forced == set(), "X10"


def test_every_command_of_envoy_that_agents_may_call_is_a_tool() -> None:
    wanted = {f"envoy {row.words}" for row in PROGRAMS["envoy"] if not row.for_people}
    assert set(CALLS) == wanted | {f"porch {words}" for words in PORCH_COMMANDS}


def test_whatever_is_said_to_change_nothing_changes_nothing() -> None:
    shown = {
        f"{program} {words}"
        for program, reasons in AGENTS_MAY.items()
        for words in reasons.get("it only shows", ())
    }
    assert {tool.call for tool in TOOLS.values() if tool.only_shows} == shown & set(CALLS)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_a_tool_is_named_and_described_as_clients_take_it(tool: OfferedTool) -> None:
    # Claude Code puts `mcp__porch__` before it, and no name may have more than 64 characters.
    assert re.fullmatch(r"[a-z0-9_]{1,52}", tool.name)
    schema = tool.input_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    own = {argument.dest for argument in tool.arguments}
    assert set(schema["properties"]) == own | {"directory"}
    assert "directory" not in own
    assert set(schema["required"]) <= own
    assert "%(" not in str(schema)


def test_the_schema_of_a_tool_is_that_of_its_arguments() -> None:
    schema = TOOLS["envoy_knowledge_search"].input_schema()
    assert schema["required"] == ["phrase"]
    described = schema["properties"]
    assert (described["phrase"]["type"], described["phrase"]["items"]) == (
        "array",
        {"type": "string"},
    )
    assert described["limit"]["type"] == "integer"
    assert described["metadata_only"]["type"] == "boolean"
    claim = TOOLS["envoy_plan_verify_prompt"].input_schema()["properties"]["claim"]
    assert claim["enum"] == ["merged", "put-aside"]


def test_patterns_choose_tools_by_name() -> None:
    chosen = list_offered_tools(["porch_*", "envoy_plan_next"])
    assert set(chosen) == {f"porch_{words}" for words in PORCH_COMMANDS} | {"envoy_plan_next"}
