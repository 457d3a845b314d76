"""Which commands are tools, and what each takes: read from the rows, so a new one joins by itself.

What decides or steers is left out here, and a second time by the command itself, which is told
that an agent calls.
"""

import argparse
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from porch.cli.rows import PROGRAMS, CommandRow
from porch.cli.verbs import Argument, CliCommand

# Of `porch`, what an agent needs in the middle of its work; of `envoy`, which is made for agents,
# everything. `run` and `resume` start agents themselves, which a tool of an agent must not.
PORCH_COMMANDS = ("status", "pending", "next", "done", "check", "explain", "ask")
# They draw on a terminal, or speak to a hook, until somebody ends them.
_TERMINAL_OPTIONS = frozenset(("watch", "hook"))
# What sets a rule aside is for people, also where it is only about files.
_BY_FORCE = frozenset(("force", "force_orphans"))
# Clients ask less about a tool that changes nothing.
_SHOWING = frozenset(
    (
        *("porch status", "porch pending", "porch explain", "porch next"),
        *("envoy protocol", "envoy plan protocol", "envoy plan status", "envoy plan check"),
        *("envoy plan get-full-plan", "envoy plan read-prompt", "envoy plan next"),
        *("envoy plan audit", "envoy plan validate-dependencies", "envoy plan verify-prompt"),
        *("envoy plan get-prompt-walkthrough", "envoy plan get-all-walkthroughs"),
        *("envoy plan get-findings", "envoy plan get-finding-approach"),
        *("envoy plan read-design-manifest", "envoy git get-base-branch"),
        *("envoy git is-base-branch", "envoy git diff-base"),
        *("envoy knowledge search", "envoy knowledge status"),
    )
)
DIRECTORY = "directory"


class OfferedTool(NamedTuple):
    """A command as a tool; `arguments` are those of it that an agent may give."""

    program: str
    command: CliCommand
    arguments: tuple[Argument, ...]

    @property
    def name(self) -> str:
        """Clients take letters, digits and underscores only."""
        return f"{self.program}_{self.command.name}".replace(" ", "_").replace("-", "_")

    @property
    def call(self) -> str:
        return f"{self.program} {self.command.name}"

    @property
    def only_shows(self) -> bool:
        return self.call in _SHOWING

    def input_schema(self) -> dict[str, Any]:
        described = {each.dest: _describe_argument(each) for each in self.arguments}
        where = "the directory to work in, for example a worktree; the server's own if left out"
        return {
            "type": "object",
            "properties": {**described, DIRECTORY: {"type": "string", "description": where}},
            "required": [each.dest for each in self.arguments if is_required(each)],
            "additionalProperties": False,
        }


def list_offered_tools(patterns: Sequence[str] = ()) -> dict[str, OfferedTool]:
    """By their names; with patterns, only those that fit one of them."""
    tools = {tool.name: tool for tool in _load_tools()}
    if not patterns:
        return tools
    return {
        name: tool
        for name, tool in tools.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }


def is_required(argument: Argument) -> bool:
    if is_option(argument):
        return bool(argument.options.get("required"))
    return argument.options.get("nargs") not in ("?", "*")


def is_option(argument: Argument) -> bool:
    return argument.names[0].startswith("-")


def is_list(argument: Argument) -> bool:
    return argument.options.get("action") == "append" or argument.options.get("nargs") in ("*", "+")


def is_switch(argument: Argument) -> bool:
    return argument.options.get("action") == "store_true"


def _load_tools() -> Iterator[OfferedTool]:
    from porch.cli.table import load_command

    for program, row in _offered_rows():
        command = load_command(row)
        allowed = tuple(each for each in command.arguments if _is_allowed(row, each))
        yield OfferedTool(program, command, allowed)


def _offered_rows() -> Iterator[tuple[str, CommandRow]]:
    for row in PROGRAMS["porch"]:
        if row.words in PORCH_COMMANDS and not row.for_people:
            yield "porch", row
    for row in PROGRAMS["envoy"]:
        if not row.for_people:
            yield "envoy", row


def _is_allowed(row: CommandRow, argument: Argument) -> bool:
    """A file in place of a text is for command lines, where a text may be too long."""
    is_hidden = argument.options.get("help") is argparse.SUPPRESS
    is_for_people = argument.dest in {*row.people_options, *_BY_FORCE}
    is_elsewhere = argument.instead_of is not None or argument.dest in _TERMINAL_OPTIONS
    return not (is_hidden or is_for_people or is_elsewhere)


def _describe_argument(argument: Argument) -> dict[str, Any]:
    one = _describe_value(argument)
    shape = {"type": "array", "items": one} if is_list(argument) else one
    told = str(argument.options.get("help", "")).replace("%(default)s", _default_of(argument))
    return {**shape, "description": told} if told else shape


def _describe_value(argument: Argument) -> dict[str, Any]:
    if is_switch(argument):
        return {"type": "boolean"}
    kinds: dict[Any, str] = {int: "integer", float: "number"}
    choices = argument.options.get("choices")
    listed = {"enum": list(choices)} if choices else {}
    return {"type": kinds.get(argument.options.get("type"), "string"), **listed}


def _default_of(argument: Argument) -> str:
    return str(argument.options.get("default", ""))
