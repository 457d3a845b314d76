"""Running one check and saying on which content it was measured; could-not-measure never passes.

Some need no command: porch compares the files with those that the run began with.
"""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable

from msgspec.structs import replace

from porch.errors import OutsideError, PorchError
from porch.git import measured_tree, tree_changes, tree_files
from porch.git.odd_files import ODD_CODES
from porch.machine import facts as f
from porch.machine.effects import RunCheck
from porch.model.path_globs import matches_any
from porch.model.protocol import Command
from porch.run.agents.turn_grants import watch_grants_of_check
from porch.run.agents.world import World
from porch.run.handlers import check_traces, protected_files
from porch.run.handlers.command_end import describe_kill, redact_output
from porch.run.handlers.written_files import measure_written_files
from porch.store.flaky_checks import count_flaky_check
from porch.system import crash_points, process

NAMED = 5

REPORT_KEPT = 3000
CommandChange = Callable[[process.OutsideCommand], process.OutsideCommand]


def measure_against_base(world: World, effect: RunCheck, now: str) -> f.CheckEnded:
    """Whether anything changed, or how many lines; unmeasured where there is no base."""
    base = world.state().run.base
    if not (world.in_git and base):
        return unmeasured(effect, "there is no commit or tree to compare with")
    try:
        if effect.command.changed:
            return _find_changes(world, effect, base, now)
        return _count_lines(world, effect, base, now)
    except OutsideError as error:
        return unmeasured(effect, str(error))


def unmeasured(effect: RunCheck, why: str) -> f.CheckEnded:
    return f.CheckEnded(effect=effect.id, result="unmeasured", report=why)


def _find_changes(world: World, effect: RunCheck, base: str, now: str) -> f.CheckEnded:
    """What a run writes about its work, in its own directory, is not the work."""
    project = world.state().run.project_dir
    without = (*world.own_paths(), project) if project else world.own_paths()
    found = tree_changes.list_changed_paths(world.workspace, base, now, without)
    if not found:
        said = f"nothing has changed since the run began (files in {project or '.'} do not count)"
        return f.CheckEnded(effect=effect.id, result="failed", report=said)
    names = ", ".join(change.path for change in found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f.CheckEnded(effect=effect.id, result="passed", report=f"changed: {names}{more}")


def _count_lines(world: World, effect: RunCheck, base: str, now: str) -> f.CheckEnded:
    limit, own = effect.command.net_lines_below, world.own_paths()
    added, removed = tree_changes.count_net_lines(world.workspace, base, now, own)
    net = added - removed
    said = f"{added} lines added, {removed} removed: {net} net; the limit is {limit}"
    return f.CheckEnded(effect=effect.id, result="passed" if net < limit else "failed", report=said)


async def run_check(world: World, effect: RunCheck) -> f.EffectFact:
    """Measure once; where the check itself changed files, once more, and then no further."""
    began = time.monotonic()
    world.new_turn_directory(effect.id)
    try:
        fact = await _run_on_known_files(world, effect)
    except OutsideError as error:
        if error.findings[0].code not in ODD_CODES:
            raise
        fact = unmeasured(effect, str(error))
    if fact.reused:
        return fact
    check_traces.note_measured_tree(world, effect, fact.tree)
    return replace(fact, seconds=round(time.monotonic() - began, 3))


async def _run_on_known_files(world: World, effect: RunCheck) -> f.CheckEnded:
    before = await hash_workspace(world)
    is_same = bool(effect.tree) and effect.tree == before
    if is_same and not await asyncio.to_thread(_has_hidden_documents, world):
        said = "still passed (no file changed since)"
        return f.CheckEnded(
            effect=effect.id, result="passed", report=said, tree=before, reused=True
        )
    judged = await _judge_files(world, effect, before)
    if judged is not None:
        return replace(judged, tree=before)
    fact = await _run_twice(world, effect, before)
    return await asyncio.to_thread(check_traces.judge_traces, world, effect, fact, before)


def _has_hidden_documents(world: World) -> bool:
    """Whether git ignores documents of the run, so that no tree shows that they changed."""
    directory, own = world.state().run.project_dir, world.own_paths()
    found = tree_files.list_ignored_files(world.workspace, directory) if directory else ()
    return any(not matches_any(path, own) for path in found)


async def _judge_files(world: World, effect: RunCheck, tree: str) -> f.CheckEnded | None:
    """What porch says of measured files by itself; None for a command, which could change them.

    Such an answer is about the tree that it was read from, whatever became of the files since.
    """
    command = effect.command
    if effect.is_moot:
        said = "the documents were there before the run, so they need not have its form"
        return f.CheckEnded(effect=effect.id, result="skipped", report=said)
    if command.protects:
        return await protected_files.measure_protected_files(world, effect, tree)
    if command.files:
        return await asyncio.to_thread(measure_written_files, world, effect)
    if command.net_lines_below or command.changed:
        return await asyncio.to_thread(measure_against_base, world, effect, tree)
    return None if _find_text(world, command) else _missing_command(world, effect, command)


async def _run_twice(world: World, effect: RunCheck, before: str) -> f.CheckEnded:
    """A second time only if the check changed files, so that its result is about what is there."""
    fact = await _run_command(world, effect, 1, before)
    after = await hash_workspace(world)
    if after == before:
        return replace(await _try_again(world, effect, fact, after), tree=after)
    fact = await _run_command(world, effect, 2, after)
    again = await hash_workspace(world)
    if again != after:
        reason = "the check changes files each time it runs, so its result cannot be trusted"
        return replace(unmeasured(effect, reason), tree=again)
    return replace(fact, tree=again)


async def _try_again(world: World, effect: RunCheck, fact: f.CheckEnded, tree: str) -> f.CheckEnded:
    """A failure that is gone on the same files is no failure of the work, and no clean pass."""
    for number in range(effect.command.rerun if fact.result == "failed" and tree else 0):
        again = await _run_command(world, effect, 3 + number, tree)
        if await hash_workspace(world) != tree:
            reason = "the check changes files when it is run again; its result cannot be trusted"
            return unmeasured(effect, reason)
        if again.result == "passed":
            _count_flaky(world, effect)
            said = f"flaky: failed {number + 1} times, then passed on the same files"
            return replace(again, flaky=True, report=f"{said}; the failure:\n{fact.report}")
    return fact


def _count_flaky(world: World, effect: RunCheck) -> None:
    run, state_dir = world.state().run, os.path.dirname(os.path.dirname(world.directory))
    with contextlib.suppress(OSError, PorchError):
        count_flaky_check(state_dir, run.protocol, effect.command.name, run.name)


async def hash_workspace(world: World) -> str:
    """The content of the workspace; empty outside a repository, where nothing stays fresh."""
    if not world.in_git:
        return ""
    return await asyncio.to_thread(
        measured_tree.measure_tree, world.workspace, world.own_paths(), world.tree_room
    )


def _find_text(world: World, command: Command) -> str:
    return command.shell or world.settings.commands.get(command.setting, "")


async def _run_command(world: World, effect: RunCheck, time_: int, tree: str) -> f.CheckEnded:
    text = _find_text(world, effect.command)
    if effect.command.runner and world.in_git:
        from porch.run.handlers import pytest_check

        run = pytest_check.PytestRun(effect, text, time_, tree)
        return await pytest_check.run_pytest_check(world, run, _run_shell)
    return await _run_shell(world, effect, text, time_)


def _missing_command(world: World, effect: RunCheck, command: Command) -> f.CheckEnded:
    said = f"nothing to run: [commands] {command.setting} is not set"
    if command.may_be_skipped(world.state().run.agent == "scripted"):
        return f.CheckEnded(effect=effect.id, result="skipped", report=said)
    fix = f'add to codev/config.toml: [commands] {command.setting} = "..."'
    return unmeasured(effect, f"{said}; {fix}")


async def run_command_check(world: World, effect: RunCheck) -> f.CheckEnded:
    """A check in the workspace of this world, once; for whoever has no phase to measure."""
    world.new_turn_directory(effect.id)
    tree = await hash_workspace(world) if effect.command.runner else ""
    return await _run_command(world, effect, 1, tree)


async def _run_shell(
    world: World,
    effect: RunCheck,
    text: str,
    time_: int,
    change: CommandChange = lambda command: command,
) -> f.CheckEnded:
    output = os.path.join(world.turn_directory(effect.id), f"output-{time_}.txt")
    crash_points.reach_point("check.before-spawn")
    limit = effect.command.timeout_s or world.settings.check
    with watch_grants_of_check(world, effect.id):
        running = await process.start_command(change(_check_command(world, effect, text, output)))
        crash_points.reach_point("check.after-spawn")
        try:
            ended = await running.wait(None, limit or None)
        except BaseException:
            await running.stop()
            raise
        crash_points.reach_point("check.after-end")
    tail = redact_output(output, REPORT_KEPT)
    if ended.why != "exited":
        said = f"stopped after {limit:g} s (time limit)"
        return f.CheckEnded(effect=effect.id, result="failed", report=f"{said}\n{tail}")
    return _judge_end(effect, ended, tail)


def _judge_end(effect: RunCheck, ended: process.CommandResult, tail: str) -> f.CheckEnded:
    """Whoever is killed has measured nothing, and nobody is charged for it."""
    if killed := describe_kill(ended):
        return unmeasured(effect, f"{killed}\n{tail}".rstrip())
    if ended.signal is not None:
        said = f"crashed with signal {ended.signal}\n{tail}".rstrip()
        return f.CheckEnded(effect=effect.id, result="failed", report=said)
    said = f"exit code {ended.code}\n{tail}".strip()
    return f.CheckEnded(
        effect=effect.id, result="passed" if ended.code == 0 else "failed", report=said
    )


def _check_command(
    world: World, effect: RunCheck, text: str, output: str
) -> process.OutsideCommand:
    run = world.state().run
    cwd = os.path.normpath(os.path.join(world.workspace, effect.command.cwd))
    # Values travel as variables; nothing of a run is ever pasted into the shell text.
    known = {
        "PROJECT_ID": run.id,
        "PROJECT_TITLE": run.title,
        "PROJECT_DIR": run.project_dir,
        "PLAN_PHASE_ID": effect.item,
        "BASE_COMMIT": run.base_commit,
        "PORCH_BIN": os.path.dirname(sys.executable),
        **{f"PORCH_INPUT_{name.upper()}": value for name, value in run.inputs.items()},
    }
    if run.agent == "scripted":
        known["PORCH_DRY_RUN"] = "1"
    return process.OutsideCommand(
        argv=None,
        shell=text,
        cwd=cwd,
        env={**world.check_environment(), **known},
        stdin_file=None,
        output=output,
        errors=output,
        mark=world.effect_mark(effect.id),
    )
