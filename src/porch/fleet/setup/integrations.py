"""What a set-up adds only where somebody asks for it by name: `codev init --with NAMES`."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from porch.errors import UsageError, suggest_name

# Its own commands of these names would be replaced, so nobody gets them who did not name them.
CLAUDE_COMMANDS = "claude-commands"
INTEGRATIONS: Mapping[str, str] = {
    "claude": "a skill and the hook for Claude Code, and porch as MCP tools",
    CLAUDE_COMMANDS: "/plan and /continue of envoy, instead of Claude Code's own",
    "codex": "AGENTS.md, and porch as MCP tools in your own settings of codex",
    "envoy": "the steps of `envoy protocol`, and specialists for Claude Code",
    "hooks": "the hook that tells Claude Code which decisions wait for you",
    "agents-md": "a section of AGENTS.md that says how to work in a run",
    "protocols": "all packaged protocols, and texts for questions in prompts",
}
_INCLUDED: Mapping[str, tuple[str, ...]] = {"claude": ("hooks",), "codex": ("agents-md",)}
# By what one sees that a project uses an agent, or follows a page for agents.
_SIGNS: Mapping[str, tuple[str, ...]] = {
    "claude": (".claude", "CLAUDE.md", ".mcp.json"),
    "codex": (".codex",),
    "envoy": (".claude",),
    "agents-md": ("AGENTS.md",),
}


def read_integrations(values: Iterable[str]) -> frozenset[str]:
    """The names in these lists, with what belongs to them; UsageError for a name that is none."""
    names = [word.strip() for value in values for word in value.split(",")]
    for name in names:
        if name not in INTEGRATIONS:
            known = "".join(f"\n  {each:<16}{about}" for each, about in INTEGRATIONS.items())
            raise UsageError(
                f"--with does not know '{name}'",
                fix=f"{suggest_name(name, [*INTEGRATIONS])}known names: {known}",
                code="unknown-integration",
            )
    return include_others(names)


def include_others(names: Sequence[str]) -> frozenset[str]:
    return frozenset((*names, *(other for name in names for other in _INCLUDED.get(name, ()))))


def list_offers(root: str, agents: Sequence[str]) -> Iterator[str]:
    """What is worth a question here: the project or the machine uses the agent."""
    for name, signs in _SIGNS.items():
        is_used = any(os.path.lexists(os.path.join(root, sign)) for sign in signs)
        if name in agents or is_used:
            yield name
