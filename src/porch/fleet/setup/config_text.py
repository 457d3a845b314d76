"""The text of a new `codev/config.toml`: what was found, with comments that say what it is for."""

import json
from collections.abc import Iterable, Iterator, Sequence

from porch.fleet.setup.project_commands import NAMES, FoundCommand
from porch.fleet.setup.worktree_needs import WorktreeNeeds
from porch.run.agents.agent_list import choose_worker

_USES = {
    "build": "may be absent; then nothing is built before tests",
    "test": "spider, change, tick and bugfix do not begin without it",
    "lint": "may be absent",
}
_HEAD = """\
# Settings of this project for porch. Every key has a default; `porch settings` prints all of them,
# and `porch settings --schema` the schema for editors. Your own settings, for all projects, are in
# ~/.config/porch/config.toml. What is written here has priority over them.

# The commands with which porch measures work. They run in a shell, at the top of the checkout.
[commands]
"""
_REST = """
# Who works where a run does not name an agent: claude, codex, gemini, or one of your own.
[agent]
{worker}

# Who reviews, instead of the agents that are installed and logged in when a run begins.
[panel]
# models = ["claude"]

# When one of these is reached, porch asks a person before it goes on. Without it there is no limit.
[budget]
# max_usd = 20

# What a new worktree needs before anything can be built in it.
[worktree]
{setup}
# copy = [".env"]
{link}
"""


def render_config(
    found: Iterable[FoundCommand],
    agents: Sequence[str] = (),
    needs: WorktreeNeeds = WorktreeNeeds(),  # noqa: B008 - it cannot be changed
) -> str:
    """`agents` are those of the machine; only what would not work without a line gets one."""
    known = {each.name: each for each in found}
    commands = "".join(line for n in NAMES for line in _command_lines(n, known.get(n)))
    worker = choose_worker(agents)
    rest = _REST.format(
        worker=f"name = {json.dumps(worker)}" if worker else '# name = "claude"',
        setup=_list_line("setup", needs.setup, "npm ci"),
        link=_list_line("link", needs.link, "node_modules"),
    )
    return _HEAD + commands + rest


def _list_line(key: str, values: Sequence[str], example: str) -> str:
    said = json.dumps([*values] or [example], ensure_ascii=False)
    return f"{key} = {said}" if values else f"# {key} = {said}"


def _command_lines(name: str, found: FoundCommand | None) -> Iterator[str]:
    origin = f"from {found.file}" if found and found.file else _USES[name]
    yield f"# {name}: {origin}\n"
    # A text of JSON is a text of TOML.
    said = json.dumps(found.command, ensure_ascii=False) if found else '"your command"'
    yield f"{name} = {said}\n" if found else f"# {name} = {said}\n"
