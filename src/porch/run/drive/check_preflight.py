"""Checks that must be run and have nothing to run: said before the first turn that costs money."""

import os
from collections.abc import Iterator

from porch.errors import DefinitionError, Finding, Place
from porch.model.protocol import Check, Command, Protocol
from porch.run.settings import PROJECT_FILE, Settings
from porch.store.where import ProjectPaths


def require_check_commands(
    where: ProjectPaths, protocol: Protocol, known: Settings, is_dry: bool
) -> None:
    """Every required check has its command in the settings, or nothing begins."""
    missing = {
        command.setting: command.name
        for command in _list_setting_commands(protocol)
        if command.setting not in known.commands and not command.may_be_skipped(is_dry)
    }
    if missing:
        has_file = os.path.lexists(os.path.join(where.root, PROJECT_FILE))
        raise DefinitionError([_finding(*each, has_file) for each in missing.items()])


def _list_setting_commands(protocol: Protocol) -> Iterator[Command]:
    for state in protocol.states.values():
        if isinstance(state.actor, Check):
            yield from (command for command in state.actor.commands if command.setting)


def _finding(setting: str, name: str, has_file: bool) -> Finding:
    message = f"the check '{name}' is required, but [commands] {setting} is not set"
    fix = f'write into {PROJECT_FILE}, below [commands]: {setting} = "your command"'
    if not has_file and setting == "test":
        fix = 'codev init --yes --test "your command"'
    return Finding("no-check-command", message, Place(PROJECT_FILE), fix)
