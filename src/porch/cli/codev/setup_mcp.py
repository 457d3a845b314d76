"""Whether agents shall have the commands of porch as tools: only where somebody asks for it."""

import os
from collections.abc import Iterator, Sequence

from porch.cli.codev.person_questions import ask_person
from porch.cli.command import make_argument

MCP = make_argument(
    "--mcp",
    action="append",
    choices=("claude", "codex"),
    help="let this agent call porch as MCP tools; can be repeated",
)


def ask_for_mcp(agents: Sequence[str]) -> list[str]:
    """Of those who are installed; the default is no."""
    from porch.fleet.setup.mcp_entries import AGENTS, CLAUDE_FILE, CODEX_FILE, find_codex_home

    files = {"claude": CLAUDE_FILE, "codex": os.path.join(find_codex_home(os.environ), CODEX_FILE)}
    found = [name for name in AGENTS if name in agents]
    where = " and ".join(files[name] for name in found)
    question = f"Let {' and '.join(found)} call porch as MCP tools ({where})?"
    return found if found and ask_person(question, False) else []


def install_for_codex(chosen: Sequence[str]) -> Iterator[str]:
    """The entry of codex, which is in the home of the person; in words what became of it."""
    from porch.fleet.setup import mcp_entries

    if "codex" not in chosen:
        return
    home = mcp_entries.find_codex_home(os.environ)
    path = os.path.join(home, mcp_entries.CODEX_FILE)
    planned = mcp_entries.plan_codex_entry(home)
    mcp_entries.write_codex_entry(home, planned)
    if planned.is_change:
        yield f"wrote [mcp_servers.porch] into {path}"
    else:
        yield f"left {path} alone: {planned.note or 'it starts porch already'}"


def describe_missing_package(chosen: Sequence[str]) -> Iterator[str]:
    from porch.fleet.setup.mcp_package import find_package_fault

    fault = find_package_fault() if chosen else None
    if fault is not None:
        yield f"{fault.findings[0].message}: {fault.findings[0].fix}"
