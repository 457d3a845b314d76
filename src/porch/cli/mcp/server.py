"""Serves the tools over standard input and output, with the official SDK, until the client goes."""

import json
import os
from collections.abc import Mapping
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)

from porch import __version__
from porch.cli.mcp.offered_tools import DIRECTORY, OfferedTool
from porch.cli.mcp.tool_answer import ToolAnswer
from porch.cli.mcp.tool_process import run_command
from porch.cli.mcp.tool_words import make_words
from porch.errors import PorchError, UsageError

INSTRUCTIONS = (
    "Every tool is a command of porch or envoy and answers with the JSON object that the command"
    " prints. In a worktree, give its path as `directory`. Decisions are for people and are not"
    " offered here: `porch_pending` shows what waits for them. A gate can wait for hours: give"
    " `wait` in seconds, less than your tool timeout, and call again."
)


def serve_tools(tools: Mapping[str, OfferedTool]) -> None:
    anyio.run(_serve_until_closed, make_server(tools))


def make_server(tools: Mapping[str, OfferedTool]) -> "Server[Any]":
    listed = ListToolsResult(tools=[_describe_tool(tool) for tool in tools.values()])

    async def list_tools(_context: object, _params: object) -> ListToolsResult:
        return listed

    async def call_tool(_context: object, params: CallToolRequestParams) -> CallToolResult:
        return _make_result(await _answer_call(tools, params.name, params.arguments or {}))

    return Server(
        "porch",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _serve_until_closed(server: "Server[Any]") -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _describe_tool(tool: OfferedTool) -> Tool:
    return Tool(
        name=tool.name,
        description=f"{tool.command.help} (`{tool.call}`)",
        input_schema=tool.input_schema(),
        annotations=ToolAnnotations(
            read_only_hint=tool.only_shows, destructive_hint=False, open_world_hint=False
        ),
    )


async def _answer_call(
    tools: Mapping[str, OfferedTool], name: str, given: Mapping[str, Any]
) -> ToolAnswer:
    try:
        tool = _find_tool(tools, name)
        words, directory = make_words(tool, given), _find_directory(given)
    except PorchError as error:
        return _refusal(error)
    return await run_command(tool.program, words, directory)


def _find_tool(tools: Mapping[str, OfferedTool], name: str) -> OfferedTool:
    if name in tools:
        return tools[name]
    raise UsageError(
        f"there is no tool {name!r}",
        fix="what decides or steers is for people; the list of tools has all others",
        code="unknown-tool",
    )


def _find_directory(given: Mapping[str, Any]) -> str:
    directory = given.get(DIRECTORY) or os.getcwd()
    if not isinstance(directory, str) or "\0" in directory or not os.path.isdir(directory):
        raise UsageError(
            f"'{directory}' is not a directory",
            fix="give the path of a worktree or of the project as `directory`",
            code="tool-arguments",
        )
    return directory


def _refusal(error: PorchError) -> ToolAnswer:
    findings = [finding.as_json() for finding in error.findings]
    data = {"error": {"exit": error.exit_code, "findings": findings}}
    return ToolAnswer(json.dumps(data, ensure_ascii=False), data, True, error.exit_code)


def _make_result(answer: ToolAnswer) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=answer.text)],
        structured_content=answer.data,
        is_error=answer.is_error,
        _meta={"porch/exit": answer.exit_code},
    )
