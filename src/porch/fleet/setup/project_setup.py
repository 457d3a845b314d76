"""All that `codev init` and `codev adopt` put into a project: planned first, then written.

That is little: the settings and the protocol that runs follow by default. The rest is added where
somebody asks for it by name.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import UsageError
from porch.fleet.setup import claude_settings, package_files
from porch.fleet.setup.additions import append_section
from porch.fleet.setup.additive_files import (
    PlannedFile,
    plan_extended_file,
    plan_new_file,
    read_existing,
    write_planned_file,
)
from porch.fleet.setup.claude_settings import SETTINGS_FILE, merge_claude_settings
from porch.fleet.setup.config_text import render_config
from porch.fleet.setup.integrations import CLAUDE_COMMANDS
from porch.fleet.setup.mcp_entries import plan_claude_entry
from porch.fleet.setup.project_commands import FoundCommand, find_commands
from porch.fleet.setup.protocol_copies import load_every_copy, load_protocol_copy
from porch.fleet.setup.setup_record import record_planned
from porch.fleet.setup.worktree_needs import WorktreeNeeds, find_needs
from porch.run.agents import agent_list
from porch.run.settings import PROJECT_FILE, Settings

_MARK = "<!-- porch: begin -->"
_EXECUTABLE = 0o755


class SetupChoices(Struct, frozen=True):
    """What a person decided before anything is written."""

    commands: Sequence[FoundCommand] = ()
    needs: WorktreeNeeds = WorktreeNeeds()
    permissions: bool = False
    agents: Sequence[str] = ()  # those that the machine has
    mcp: Sequence[str] = ()  # those that shall start `porch mcp`
    integrations: Collection[str] = ()
    protocol: str = Settings().protocol  # that of a run that names none


def plan_setup(root: str, chosen: SetupChoices) -> list[PlannedFile]:
    """Every file, with what would happen to it; nothing is changed."""
    wanted = chosen.integrations
    copies = load_every_copy() if "protocols" in wanted else load_protocol_copy(chosen.protocol)
    return [
        plan_settings(root, chosen),
        *plan_protocols(root, copies),
        *_plan_all(root, _load_integration_files(wanted)),
        *_plan_parts_of_claude(root, "hooks" in wanted, chosen.permissions),
        *([_plan_agents_page(root)] if "agents-md" in wanted else ()),
        *([plan_claude_entry(root)] if "claude" in chosen.mcp else ()),
    ]


def _load_integration_files(wanted: Collection[str]) -> dict[str, bytes]:
    """Files of ours alone: those of Claude Code lie in a directory for each kind."""
    found = dict(package_files.load_step_files()) if "envoy" in wanted else {}
    kinds = {"claude": "skills", CLAUDE_COMMANDS: "commands", "envoy": "agents"}
    fronts = tuple(f".claude/{kind}/" for name, kind in kinds.items() if name in wanted)
    files = package_files.load_claude_directory().items()
    found |= {path: data for path, data in files if path.startswith(fronts)}
    if "protocols" in wanted:
        found[package_files.QUESTIONS_PAGE] = package_files.load_questions_page()
    return found


def find_choices(root: str) -> SetupChoices:
    """What the project and the machine have, and nothing that a person has to ask for."""
    commands = find_commands(root)
    needs = find_needs(root, commands)
    return SetupChoices(commands, needs, agents=agent_list.find_agents())


def plan_settings(root: str, chosen: SetupChoices) -> PlannedFile:
    return plan_new_file(root, PROJECT_FILE, render_settings(chosen))


def render_settings(chosen: SetupChoices) -> bytes:
    """The settings with what was found."""
    return render_config(chosen.commands, chosen.agents, chosen.needs).encode()


def write_setup(root: str, planned: Sequence[PlannedFile]) -> None:
    record_planned(root, planned)
    for each in planned:
        write_planned_file(root, each)


def plan_hook(root: str) -> list[PlannedFile]:
    """The script, and the entry with which Claude Code calls it."""
    return [*_plan_parts_of_claude(root, True, False)]


def _plan_parts_of_claude(
    root: str, with_hook: bool, with_permissions: bool
) -> Iterator[PlannedFile]:
    if with_hook:
        script = package_files.load_hook()
        yield plan_new_file(root, claude_settings.HOOK, script, _EXECUTABLE)
    if with_hook or with_permissions:
        yield _plan_settings_of_claude(root, with_hook, with_permissions)


def _plan_settings_of_claude(root: str, with_hook: bool, with_permissions: bool) -> PlannedFile:
    """A file that is no JSON is left alone: what it should say is not ours to guess."""
    text = (read_existing(root, SETTINGS_FILE) or b"").decode("utf-8", "surrogateescape")
    try:
        merged = merge_claude_settings(text, with_hook=with_hook, with_permissions=with_permissions)
    except UsageError as error:
        return PlannedFile(SETTINGS_FILE, b"", "kept", note=error.findings[0].message)
    return plan_extended_file(root, SETTINGS_FILE, merged.encode("utf-8", "surrogateescape"))


def _plan_all(root: str, files: Mapping[str, bytes]) -> Iterator[PlannedFile]:
    yield from (plan_new_file(root, path, data) for path, data in files.items())


def plan_protocols(root: str, files: Mapping[str, bytes]) -> Iterator[PlannedFile]:
    """A protocol that the project has changed is its own: nothing is added beside its files."""
    planned = list(_plan_all(root, files))
    changed = {_directory_of(each) for each in planned if each.fate == "kept"}
    for each in planned:
        is_own = _directory_of(each) in changed and each.fate == "new"
        yield replace(each, fate="kept", note="not added to your own protocol") if is_own else each


def _directory_of(planned: PlannedFile) -> str:
    return "/".join(planned.path.split("/")[:3])


def _plan_agents_page(root: str) -> PlannedFile:
    """A section that is there already may have been edited, and is left alone."""
    path, section = find_agents_page(root), package_files.load_agents_section()
    there = read_existing(root, path)
    text = (there or b"").decode("utf-8", "surrogateescape")
    if _MARK in text:
        return PlannedFile(path, there or b"", "same" if section.strip() in text else "kept")
    merged = append_section(text).encode("utf-8", "surrogateescape")
    return plan_extended_file(root, path, merged)


def find_agents_page(root: str) -> str:
    """Many projects keep one page for all agents, as a link from AGENTS.md to CLAUDE.md."""
    path = os.path.join(root, package_files.AGENTS_PAGE)
    real, top = os.path.realpath(path), os.path.realpath(root)
    is_page = os.path.dirname(real) == top and os.path.isfile(real)
    return os.path.basename(real) if is_page else package_files.AGENTS_PAGE


def list_written_paths(planned: Sequence[PlannedFile]) -> list[str]:
    """Where the changes lie, as few words as `git add` needs."""
    tops = (each.path.split("/")[0] for each in planned if each.is_change)
    return sorted(dict.fromkeys(tops))


def find_project_root(start: str) -> str:
    """The top of the checkout, or the directory itself where there is none."""
    here = os.path.abspath(start)
    parent = here
    while not os.path.lexists(os.path.join(parent, ".git")):
        if os.path.dirname(parent) == parent:
            return here
        parent = os.path.dirname(parent)
    return parent
