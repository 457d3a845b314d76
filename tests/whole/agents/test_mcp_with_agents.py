"""The real command lines call a tool of `porch mcp`, set up as its page says: the answer comes."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.real_agents import Room
from tests.repositories import make_repository
from tests.standin.steps import call, say
from tests.standin.test_standin import HABITS, Desk
from tests.standin.vendors import Vendors

PAGE = (Path(__file__).parents[3] / "docs/how-to/mcp.md").read_text()
BLOCKS = re.findall(r"```(?:json|toml)\n(.*?)```", PAGE, re.DOTALL)
SNIPPETS = dict(zip(("claude", "codex", "gemini"), BLOCKS, strict=False))
TOOLS = {
    "claude": "mcp__porch__envoy_plan_status",
    "codex": "mcp__porch/envoy_plan_status",
    "gemini": "mcp_porch_envoy_plan_status",
}


@pytest.fixture
def desk(clean_room: Room, tmp_path: Path) -> Desk:
    return Desk(clean_room, make_repository(tmp_path / "workspace", {"a.txt": "one\n"}, "feat/x"))


def configure(name: str, desk: Desk) -> tuple[str, ...]:
    """As the page says; the words are what a turn without a person needs beside that."""
    home, text = desk.room.place / "home", SNIPPETS[name]
    command = desk.room.place / "bin" / "porch"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m porch "$@"\n')
    command.chmod(0o755)
    if name == "claude":
        file = desk.workspace / ".mcp.json"
        file.write_text(text)
        return ("--mcp-config", str(file), "--allowedTools", "mcp__porch")
    if name == "codex":
        with (home / ".codex" / "config.toml").open("a") as config:
            config.write(text)
        return ()
    settings = home / ".gemini" / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), **json.loads(text)}))
    return ()


@pytest.mark.parametrize("name", HABITS)
def test_a_real_agent_calls_a_tool_and_gets_its_answer(
    name: str, desk: Desk, vendor: Vendors
) -> None:
    vendor.script("begin", call(TOOLS[name], {}), say("I have seen it."))
    told = desk.ask(name, "please begin", *configure(name, desk))
    assert (told.code, HABITS[name].final(told)) == (0, "I have seen it."), told
    answered = json.dumps(vendor.asked("begin")[-1].body)
    assert "feat/x" in answered
    assert "success" in answered
    assert not any("approve" in tool for tool in vendor.asked("begin")[0].tools)
    assert desk.room.is_empty()
