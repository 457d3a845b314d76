"""Running one check and saying on which content it was measured; could-not-measure never passes."""

import asyncio
import os
import sys
import time

from porch.agents.redaction import Redactor, find_secrets
from porch.errors import OutsideError
from porch.git import repository
from porch.machine import facts as f
from porch.machine.effects import RunCheck
from porch.model.protocol import Command
from porch.run.agents.world import World
from porch.system import crash_points, process
from porch.system.growing_file import compact_file, read_head_and_tail

REPORT_KEPT = 3000
OUTPUT_KEPT = 1 << 20
FLOOD = 8 * OUTPUT_KEPT


async def run_check(world: World, effect: RunCheck) -> f.EffectFact:
    """Measure once; where the check itself changed files, once more, and then no further."""
    began = time.monotonic()
    world.new_turn_directory(effect.id)
    before = await hash_workspace(world)
    if effect.tree and effect.tree == before:
        return f.CheckEnded(
            effect=effect.id,
            result="passed",
            report="still passed (no file changed since)",
            tree=before,
            seconds=0,
            reused=True,
        )
    fact = await _measure_check(world, effect, 1)
    after = await hash_workspace(world)
    if after != before:
        fact = await _measure_check(world, effect, 2)
        again = await hash_workspace(world)
        if again != after:
            reason = "the check changes files each time it runs, so its result cannot be trusted"
            fact = f.CheckEnded(effect=effect.id, result="unmeasured", report=reason)
        after = again
    seconds = round(time.monotonic() - began, 3)
    return f.CheckEnded(
        effect=effect.id, result=fact.result, report=fact.report, tree=after or "", seconds=seconds
    )


async def hash_workspace(world: World) -> str:
    """The content of the workspace; empty outside a repository, where nothing stays fresh."""
    if not world.in_git:
        return ""
    return await asyncio.to_thread(repository.hash_working_tree, world.workspace, world.own_paths())


async def _measure_check(world: World, effect: RunCheck, time_: int) -> f.CheckEnded:
    command = effect.command
    if command.net_lines_below:
        return _measure_net_lines(world, effect)
    text = command.shell or world.settings.commands.get(command.setting, "")
    if not text:
        return _missing_command(world, effect, command)
    return await _run_shell(world, effect, text, time_)


def _missing_command(world: World, effect: RunCheck, command: Command) -> f.CheckEnded:
    said = f"nothing to run: [commands] {command.setting} is not set"
    is_dry = world.state().run.agent == "scripted"
    if command.if_missing == "skip" or (is_dry and command.if_missing == "skip-scripted"):
        return f.CheckEnded(effect=effect.id, result="passed", report=f"skipped: {said}")
    fix = f'add to codev/config.toml: [commands] {command.setting} = "..."'
    return f.CheckEnded(effect=effect.id, result="unmeasured", report=f"{said}; {fix}")


def _measure_net_lines(world: World, effect: RunCheck) -> f.CheckEnded:
    base, limit = world.state().run.base_commit, effect.command.net_lines_below
    try:
        counted = (
            repository.count_lines_since(world.workspace, base, world.own_paths()) if base else None
        )
    except OutsideError as error:
        return f.CheckEnded(effect=effect.id, result="unmeasured", report=str(error))
    if counted is None:
        return f.CheckEnded(
            effect=effect.id,
            result="unmeasured",
            report="there is no base commit to compare with",
        )
    net = counted[0] - counted[1]
    said = f"{counted[0]} lines added, {counted[1]} removed: {net} net; the limit is {limit}"
    return f.CheckEnded(effect=effect.id, result="passed" if net < limit else "failed", report=said)


async def _run_shell(world: World, effect: RunCheck, text: str, time_: int) -> f.CheckEnded:
    output = os.path.join(world.turn_directory(effect.id), f"output-{time_}.txt")
    crash_points.reach_point("check.before-spawn")
    running = await process.start_command(_check_command(world, effect, text, output))
    crash_points.reach_point("check.after-spawn")
    limit = effect.command.timeout_s or world.settings.check
    try:
        ended = await running.wait(None, limit or None)
    except BaseException:
        await running.stop()
        raise
    crash_points.reach_point("check.after-end")
    tail = _redact_output(output)
    if ended.why != "exited":
        return f.CheckEnded(
            effect=effect.id,
            result="failed",
            report=f"stopped after {limit:g} s (time limit)\n{tail}",
        )
    if ended.signal is not None:
        return f.CheckEnded(
            effect=effect.id, result="failed", report=f"killed by signal {ended.signal}\n{tail}"
        )
    said = f"exit code {ended.code}\n{tail}".strip()
    return f.CheckEnded(
        effect=effect.id, result="passed" if ended.code == 0 else "failed", report=said
    )


def _redact_output(output: str) -> str:
    """What people, agents and files of the project get to read; a check knows all our secrets."""
    redactor = Redactor(find_secrets(os.environ))
    compact_file(output, FLOOD)
    redactor.file(output)
    compact_file(output, OUTPUT_KEPT)
    return redactor.text(read_head_and_tail(output, REPORT_KEPT // 2))


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
        # Names of ours are never inherited: what a run was not given is not there.
        "PORCH_BIN": os.path.dirname(sys.executable),
        **{f"PORCH_INPUT_{name.upper()}": value for name, value in run.inputs.items()},
    }
    if run.agent == "scripted":
        known["PORCH_DRY_RUN"] = "1"
    environ = world.environ if world.environ is not None else os.environ
    inherited = {k: v for k, v in environ.items() if not k.startswith(("GIT_", "PORCH_"))}
    return process.OutsideCommand(
        argv=None,
        shell=text,
        cwd=cwd,
        env={**inherited, **known},
        stdin_file=None,
        output=output,
        errors=output,
        mark=world.effect_mark(effect.id),
    )
