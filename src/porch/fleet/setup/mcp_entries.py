"""The entries with which claude and codex start `porch mcp`: added on request, never changed.

That of claude belongs to the project. That of codex lies in the home of the person: codex reads no
file of a project that it was not told to trust.
"""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from porch.errors import PorchError, UsageError
from porch.fleet.setup.additive_files import (
    PlannedFile,
    plan_extended_file,
    read_existing,
    write_planned_file,
)
from porch.fleet.setup.small_files import read_small_file

CLAUDE_FILE = ".mcp.json"
CODEX_FILE = "config.toml"
AGENTS = ("claude", "codex")
_SERVER = {"command": "porch", "args": ["mcp"]}
_KEY = "mcpServers"
# Without `required`, codex gives a server one second and then begins without its tools.
_CODEX_ENTRY = """\
[mcp_servers.porch]
command = "porch"
args = ["mcp"]
required = true
tool_timeout_sec = 600
"""


def find_codex_home(environ: Mapping[str, str]) -> str:
    return environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")


def plan_claude_entry(root: str) -> PlannedFile:
    """Another entry of the same name is somebody's own, and stays."""
    text = (read_existing(root, CLAUDE_FILE) or b"").decode("utf-8", "surrogateescape")
    try:
        merged = add_claude_entry(text)
    except UsageError as error:
        return _kept_file(CLAUDE_FILE, error.findings[0].message)
    return plan_extended_file(root, CLAUDE_FILE, merged.encode("utf-8", "surrogateescape"))


def add_claude_entry(text: str) -> str:
    """The text with the entry, or the very same text; UsageError where it has another form."""
    document = _load_json(text)
    servers = document.setdefault(_KEY, {}) if document is not None else None
    if document is None or not isinstance(servers, dict):
        raise UsageError("it is not as Claude Code writes it", fix=f"correct {CLAUDE_FILE}")
    if "porch" in servers:
        return text
    servers["porch"] = _SERVER
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def plan_codex_entry(home: str) -> PlannedFile:
    """A section at the end of the file; all that stands before it stays as it is."""
    try:
        text = (read_existing(home, CODEX_FILE) or b"").decode()
        known = tomllib.loads(text).get("mcp_servers", {})
        if "porch" in known:
            return PlannedFile(CODEX_FILE, text.encode(), "same")
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        merged = text + gap + _CODEX_ENTRY
        tomllib.loads(merged)
    except (PorchError, ValueError, TypeError):
        return _kept_file(CODEX_FILE, "porch cannot add a section to it")
    return plan_extended_file(home, CODEX_FILE, merged.encode())


def write_codex_entry(home: str, planned: PlannedFile) -> None:
    write_planned_file(home, planned)


def list_entries(root: str, codex_home: str) -> Sequence[tuple[str, str]]:
    """Which agent starts the server, and the file that says so."""
    document = _load_json(read_small_file(root, CLAUDE_FILE)) or {}
    servers = document.get(_KEY)
    found = [("claude", CLAUDE_FILE)] if isinstance(servers, dict) and "porch" in servers else []
    try:
        settings = tomllib.loads(read_small_file(codex_home, CODEX_FILE))
    except ValueError:
        settings = {}
    if "porch" in (settings.get("mcp_servers") or ()):
        found.append(("codex", os.path.join(codex_home, CODEX_FILE)))
    return found


def _kept_file(path: str, why: str) -> PlannedFile:
    note = f"{why}; docs/how-to/mcp.md has the lines to add by hand"
    return PlannedFile(path, b"", "kept", note=note)


def _load_json(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
