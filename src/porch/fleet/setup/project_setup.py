"""All that `codev init` and `codev adopt` put into a project: planned first, then written."""

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import UsageError
from porch.fleet.setup import claude_settings, package_files
from porch.fleet.setup.additive_files import (
    PlannedFile,
    plan_extended_file,
    plan_new_file,
    read_existing,
    write_planned_file,
)
from porch.fleet.setup.claude_settings import SETTINGS_FILE, merge_claude_settings
from porch.fleet.setup.config_text import render_config
from porch.fleet.setup.mcp_entries import plan_claude_entry
from porch.fleet.setup.project_commands import FoundCommand
from porch.run.settings import PROJECT_FILE

_MARK = "<!-- porch: begin -->"
_EXECUTABLE = 0o755


class SetupChoices(Struct, frozen=True):
    """What a person decided before anything is written."""

    commands: Sequence[FoundCommand] = ()
    permissions: bool = False
    agents: Sequence[str] = ()  # those that the machine has
    mcp: Sequence[str] = ()  # those that shall start `porch mcp`


def plan_setup(root: str, chosen: SetupChoices) -> list[PlannedFile]:
    """Every file, with what would happen to it; nothing is changed."""
    return [
        plan_new_file(root, PROJECT_FILE, _config_of(chosen)),
        *_plan_protocols(root, package_files.load_protocol_files()),
        *_plan_all(root, package_files.load_step_files()),
        *_plan_all(root, package_files.load_claude_directory()),
        plan_new_file(root, package_files.QUESTIONS_PAGE, package_files.load_questions_page()),
        plan_hook(root),
        plan_claude_settings(root, with_permissions=chosen.permissions),
        _plan_agents_page(root),
        *([plan_claude_entry(root)] if "claude" in chosen.mcp else []),
    ]


def _config_of(chosen: SetupChoices) -> bytes:
    return render_config(chosen.commands, chosen.agents).encode()


def write_setup(root: str, planned: Sequence[PlannedFile]) -> None:
    for each in planned:
        write_planned_file(root, each)


def plan_hook(root: str) -> PlannedFile:
    return plan_new_file(root, claude_settings.HOOK, package_files.load_hook(), _EXECUTABLE)


def plan_claude_settings(root: str, *, with_permissions: bool) -> PlannedFile:
    """A file that is no JSON is left alone: what it should say is not ours to guess."""
    text = (read_existing(root, SETTINGS_FILE) or b"").decode("utf-8", "replace")
    try:
        merged = merge_claude_settings(text, with_permissions=with_permissions)
    except UsageError as error:
        return PlannedFile(SETTINGS_FILE, b"", "kept", note=error.findings[0].message)
    return plan_extended_file(root, SETTINGS_FILE, merged.encode())


def _plan_all(root: str, files: Mapping[str, bytes]) -> Iterator[PlannedFile]:
    yield from (plan_new_file(root, path, data) for path, data in files.items())


def _plan_protocols(root: str, files: Mapping[str, bytes]) -> Iterator[PlannedFile]:
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
    path, section = _find_agents_page(root), package_files.load_agents_section()
    there = read_existing(root, path)
    text = (there or b"").decode("utf-8", "surrogateescape")
    if _MARK in text:
        return PlannedFile(path, there or b"", "same" if section.strip() in text else "kept")
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return plan_extended_file(root, path, (text + gap + section).encode("utf-8", "surrogateescape"))


def _find_agents_page(root: str) -> str:
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
