"""The checks of a run once more, on the merged files, in a checkout in which nobody works.

`porch.model.delivery_checks` says which they are; the settings are those pinned for the run.
Nothing is published before all of them have passed.
"""

import asyncio
import os

from msgspec.structs import replace

from porch.errors import FailedError
from porch.fleet.finish.later_protection import FINISH, note_files_at_end
from porch.fleet.finish.run_work import RunWork
from porch.git.checkouts import open_detached_checkout
from porch.machine.effects import RunCheck
from porch.machine.state import RunState
from porch.machine.wanted import list_worked_groups
from porch.model.definition import Definition
from porch.model.delivery_checks import DeliveryCheck, list_delivery_checks
from porch.model.protocol import Protocol
from porch.run.agents.world import World
from porch.run.drive.world_setup import make_world
from porch.run.engine.run_places import mark_of, workspace_of
from porch.run.engine.session import HeldRun
from porch.run.grants import GrantWatch
from porch.run.handlers.check import run_command_check
from porch.run.pinned_settings import load_settings_of_run, read_pinned_settings
from porch.run.settings import Settings, user_directory
from porch.run.trust_requests import require_trust
from porch.run.worktrees.make import worktree_path
from porch.run.worktrees.placed_files import place_files
from porch.run.worktrees.setup_commands import run_setup_commands
from porch.store.where import ProjectPaths
from porch.store.worktree_records import find_record_of
from porch.system import process_marks

REPORT_LINES = 20


def check_candidate(found: HeldRun, commit: str, work: RunWork) -> dict[str, str]:
    """Run the checks on a commit; refuses with the report of the first that does not pass."""
    where, state = found.where, found.book.state
    known = _read_settings(found.where, state)
    checks = list_checks_of_run(where, state, found.book.definition.protocol)
    due = [check for check in checks if not check.reason_left_out]
    if not due:
        return {}
    require_trust(known.untrusted)
    process_marks.reap_processes(f"{mark_of(where, found.name)}:finish")
    scratch = worktree_path(where, f"finish_{found.name}")
    with open_detached_checkout(where.base, scratch, commit):
        _prepare(found, scratch, known)
        world = replace(make_finish_world(where, state, found.book.definition), workspace=scratch)
        if any(check.command.runner for check in due):
            note_files_at_end(world, work)
        return {check.name: _run(world, state, check, commit) for check in due}


def list_checks_of_run(
    where: ProjectPaths, state: RunState, protocol: Protocol
) -> tuple[DeliveryCheck, ...]:
    """What a merge of this run runs, and what it leaves out."""
    worked = list_worked_groups(protocol, state)
    return list_delivery_checks(protocol, _read_settings(where, state).commands, worked)


def _read_settings(where: ProjectPaths, state: RunState) -> Settings:
    settings = load_settings_of_run(where, state)
    return read_pinned_settings(where, state.run.name, state.run.settings, settings)


def make_finish_world(where: ProjectPaths, state: RunState, definition: Definition) -> World:
    """The world of a run that is over: it stands nowhere but at its finish."""
    standing = replace(state, positions={FINISH.position: FINISH})
    known = _read_settings(where, state)
    return make_world(
        where, state.run.name, known, state=lambda: standing, definition=lambda: definition
    )


def _prepare(found: HeldRun, scratch: str, known: Settings) -> None:
    """Like every new worktree: what the commands need and git does not have."""
    where = found.where
    place_files(where.workspace if where.is_bare else where.root, scratch, known, [])
    made = find_record_of(where, workspace_of(where, found.book.state))
    log = os.path.join(found.directory, "finish-setup.log")
    mark = f"{mark_of(where, found.name)}:finish"
    grants = GrantWatch(user_directory(os.environ), found.name)
    try:
        run_setup_commands(scratch, known, made.port_base if made else 0, mark=mark, log=log)
    finally:
        # A set-up command may run what an agent wrote, and these are the merged files.
        grants.close()


def _run(world: World, state: RunState, check: DeliveryCheck, commit: str) -> str:
    at = FINISH.position
    id_ = f"{at}/check/{check.name}/{state.seq}"
    effect = RunCheck(id=id_, position=at, kind="check", name=check.name, command=check.command)
    ended = asyncio.run(run_command_check(world, effect))
    if ended.result != "passed":
        report = "\n".join(f"  {line}" for line in ended.report.splitlines()[-REPORT_LINES:])
        raise FailedError(
            f"nothing was merged: {check.name} {ended.result} on the merged files\n{report}",
            fix=f"the merged files are commit {commit[:12]}; fix the branch and finish again "
            f"with --accept-changes, or choose --pr or --keep{_hint_at_subject(check)}",
            code="finish-check-failed",
        )
    return ended.result


def _hint_at_subject(check: DeliveryCheck) -> str:
    """Only of a check that a protocol declares can its author say what it is about."""
    if check.command.about or not check.is_declared:
        return ""
    hint = f"if {check.origin} is not about files, write about: outside there"
    return f"; {hint} for later runs: this one keeps its protocol"
