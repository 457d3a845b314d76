"""The entries that start `porch mcp`: added beside everything that is there, never in its place."""

import json
import tomllib
from pathlib import Path

import pytest

from porch.fleet.setup import mcp_entries
from porch.fleet.setup.additive_files import write_planned_file

OTHER = {"model": "opus", "mcpServers": {"docs": {"command": "docs-server"}}}


def test_claude_gets_an_entry_beside_those_that_it_has(tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text(json.dumps(OTHER))
    write_planned_file(str(tmp_path), mcp_entries.plan_claude_entry(str(tmp_path)))
    read = json.loads(file.read_text())
    assert read["mcpServers"].pop("porch") == {"command": "porch", "args": ["mcp"]}
    assert read == OTHER
    assert mcp_entries.plan_claude_entry(str(tmp_path)).fate == "same"
    assert mcp_entries.list_entries(str(tmp_path), "nowhere") == [("claude", ".mcp.json")]


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}'])
def test_a_file_that_claude_did_not_write_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_text(text)
    planned = mcp_entries.plan_claude_entry(str(tmp_path))
    assert (planned.fate, "docs/how-to/mcp.md" in planned.note) == ("kept", True)
    write_planned_file(str(tmp_path), planned)
    assert (tmp_path / ".mcp.json").read_text() == text


def test_an_entry_of_the_same_name_is_somebodys_own(tmp_path: Path) -> None:
    own = '{"mcpServers": {"porch": {"command": "/opt/porch", "args": ["mcp", "--list"]}}}'
    (tmp_path / ".mcp.json").write_text(own)
    assert mcp_entries.plan_claude_entry(str(tmp_path)).fate == "same"


@pytest.mark.parametrize("text", ["", 'model = "x"', "# mine\n[mcp_servers.docs]\ncommand='d'\n"])
def test_codex_gets_a_section_behind_all_that_it_has(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    mcp_entries.write_codex_entry(str(tmp_path), mcp_entries.plan_codex_entry(str(tmp_path)))
    after = (tmp_path / "config.toml").read_text()
    assert after.startswith(text)
    assert tomllib.loads(after)["mcp_servers"]["porch"]["required"] is True
    assert mcp_entries.plan_codex_entry(str(tmp_path)).fate == "same"
    (entry,) = mcp_entries.list_entries("nowhere", str(tmp_path))
    assert entry == ("codex", str(tmp_path / "config.toml"))


@pytest.mark.parametrize("text", ["model = ", 'mcp_servers = {docs = {command = "d"}}\n'])
def test_a_file_to_which_no_section_can_be_added_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    assert mcp_entries.plan_codex_entry(str(tmp_path)).fate == "kept"
    assert mcp_entries.list_entries("nowhere", str(tmp_path)) == []


def test_a_link_in_the_home_of_codex_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("")
    (tmp_path / "config.toml").symlink_to(tmp_path / "real.toml")
    assert mcp_entries.plan_codex_entry(str(tmp_path)).fate == "kept"
