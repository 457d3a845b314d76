"""The checks of a run once more, on the merged files, in a checkout in which nobody works.

The build, test and lint commands are those that the run's protocol names, with the settings that
are pinned for the run. Nothing is published before they have passed.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from porch.errors import FailedError
from porch.git.checkouts import open_detached_checkout
from porch.machine.effects import RunCheck
from porch.machine.facts import CheckEnded
from porch.machine.state import RunState
from porch.model.protocol import Check, Command, Protocol
from porch.run.agents.world import World
from porch.run.drive.world_setup import make_world
from porch.run.engine.run_places import mark_of, settings_root, workspace_of
from porch.run.engine.session import HeldRun
from porch.run.handlers.check import run_command_check
from porch.run.pinned_settings import read_pinned_settings
from porch.run.settings import Settings, load_settings
from porch.run.worktrees.make import worktree_path
from porch.run.worktrees.placed_files import place_files
from porch.run.worktrees.setup_commands import run_setup_commands
from porch.store.worktree_records import find_record_of
from porch.system import process_marks

REPORT_LINES = 20


def check_candidate(found: HeldRun, commit: str) -> dict[str, str]:
    """Run the commands on a commit; refuses with the report of the first that does not pass."""
    where, state = found.where, found.book.state
    known = _read_settings(found)
    commands = list(list_finish_commands(found.book.definition.protocol, known))
    if not commands:
        return {}
    process_marks.reap_processes(f"{mark_of(where, found.name)}:finish")
    scratch = worktree_path(where, f"finish_{found.name}")
    with open_detached_checkout(where.base, scratch, commit):
        _prepare(found, scratch, known)
        world = replace(_make_world(found, known), workspace=scratch)
        return {command.name: _run(world, state, command, commit) for command in commands}


def list_finish_commands(protocol: Protocol, known: Settings) -> Iterator[Command]:
    """The commands of the settings that the protocol calls anywhere, each once."""
    checks = [s.actor.commands for s in protocol.states.values() if isinstance(s.actor, Check)]
    named: Mapping[str, Command] = {c.setting: c for each in checks for c in each if c.setting}
    for setting in known.commands:
        if setting in named and known.commands[setting]:
            yield replace(named[setting], name=setting, shell=known.commands[setting])


def _read_settings(found: HeldRun) -> Settings:
    state = found.book.state
    now = load_settings(settings_root(found.where, state))
    return read_pinned_settings(found.where, found.name, state.run.settings, now)


def _make_world(found: HeldRun, known: Settings) -> World:
    book = found.book
    return make_world(
        found.where, found.name, known, state=lambda: book.state, definition=lambda: book.definition
    )


def _prepare(found: HeldRun, scratch: str, known: Settings) -> None:
    """Like every new worktree: what the commands need and git does not have."""
    where = found.where
    place_files(where.workspace if where.is_bare else where.root, scratch, known, [])
    made = find_record_of(where, workspace_of(where, found.book.state))
    log = os.path.join(found.directory, "finish-setup.log")
    mark = f"{mark_of(where, found.name)}:finish"
    run_setup_commands(scratch, known, made.port_base if made else 0, mark=mark, log=log)


def _run(world: World, state: RunState, command: Command, commit: str) -> str:
    id_ = f"finish#1/check/{command.name}/{state.seq}"
    effect = RunCheck(id=id_, position="finish#1", kind="check", name=command.name, command=command)
    ended: CheckEnded = asyncio.run(run_command_check(world, effect, command.shell))
    if ended.result != "passed":
        report = "\n".join(f"  {line}" for line in ended.report.splitlines()[-REPORT_LINES:])
        raise FailedError(
            f"nothing was merged: {command.name} {ended.result} on the merged files\n{report}",
            fix=f"the merged files are commit {commit[:12]}; fix the branch and finish again, "
            "or choose --pr or --keep",
            code="finish-check-failed",
        )
    return ended.result
