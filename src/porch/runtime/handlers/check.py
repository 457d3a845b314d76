"""Running one check and saying on which content it was measured; could-not-measure never passes."""

import asyncio
import os
import sys
import time

from porch.adapters import crash, git, process
from porch.adapters.follow import compact, head_and_tail
from porch.adapters.redaction import Redactor, secrets_of
from porch.errors import OutsideError
from porch.machine import facts as f
from porch.machine.effects import RunCheck
from porch.model.protocol import Command
from porch.runtime.world import World

REPORT_KEPT = 3000
OUTPUT_KEPT = 1 << 20
FLOOD = 8 * OUTPUT_KEPT


async def run(world: World, effect: RunCheck) -> f.EffectFact:
    """Measure once; where the check itself changed files, once more, and then no further."""
    began = time.monotonic()
    world.new_turn_directory(effect.id)
    before = await tree(world)
    if effect.tree and effect.tree == before:
        return f.CheckEnded(effect.id, "passed", "still fresh", before, 0, reused=True)
    fact = await _measure(world, effect, 1)
    after = await tree(world)
    if after != before:
        fact = await _measure(world, effect, 2)
        again = await tree(world)
        if again != after:
            reason = "the check changes files each time it runs, so nothing it says holds"
            fact = f.CheckEnded(effect.id, "unmeasured", reason)
        after = again
    seconds = round(time.monotonic() - began, 3)
    return f.CheckEnded(effect.id, fact.result, fact.report, after or "", seconds)


async def tree(world: World) -> str:
    """The content of the workspace; empty outside a repository, where nothing stays fresh."""
    if not world.in_git:
        return ""
    return await asyncio.to_thread(git.tree, world.workspace, world.own_paths())


async def _measure(world: World, effect: RunCheck, time_: int) -> f.CheckEnded:
    command = effect.command
    if command.net_lines_below:
        return _net_lines(world, effect)
    text = command.shell or world.settings.commands.get(command.setting, "")
    if not text:
        return _missing(world, effect, command)
    return await _shell(world, effect, text, time_)


def _missing(world: World, effect: RunCheck, command: Command) -> f.CheckEnded:
    said = f"no command '{command.setting}' in the settings"
    is_dry = world.state().run.agent == "scripted"
    if command.if_missing == "skip" or (is_dry and command.if_missing == "skip-scripted"):
        return f.CheckEnded(effect.id, "passed", f"skipped: {said}")
    fix = f'write [commands] {command.setting} = "..." into codev/config.toml'
    return f.CheckEnded(effect.id, "unmeasured", f"{said}; {fix}")


def _net_lines(world: World, effect: RunCheck) -> f.CheckEnded:
    base, limit = world.state().run.base_commit, effect.command.net_lines_below
    try:
        counted = git.numstat(world.workspace, base, world.own_paths()) if base else None
    except OutsideError as error:
        return f.CheckEnded(effect.id, "unmeasured", str(error))
    if counted is None:
        return f.CheckEnded(effect.id, "unmeasured", "there is no base commit to measure against")
    net = counted[0] - counted[1]
    said = f"{counted[0]} lines added, {counted[1]} removed: {net} net, the limit is {limit}"
    return f.CheckEnded(effect.id, "passed" if net < limit else "failed", said)


async def _shell(world: World, effect: RunCheck, text: str, time_: int) -> f.CheckEnded:
    output = os.path.join(world.turn_directory(effect.id), f"output-{time_}.txt")
    crash.point("check.before-spawn")
    running = await process.start(_command(world, effect, text, output))
    crash.point("check.after-spawn")
    limit = effect.command.timeout_s or world.settings.check
    try:
        ended = await running.wait(None, limit or None)
    except BaseException:
        await running.stop()
        raise
    crash.point("check.after-end")
    tail = _put_away(output)
    if ended.why != "exited":
        return f.CheckEnded(effect.id, "failed", f"killed after {limit:g} s\n{tail}")
    if ended.signal is not None:
        return f.CheckEnded(effect.id, "failed", f"killed by signal {ended.signal}\n{tail}")
    said = f"exit code {ended.code}\n{tail}".strip()
    return f.CheckEnded(effect.id, "passed" if ended.code == 0 else "failed", said)


def _put_away(output: str) -> str:
    """What people, agents and files of the project get to read; a check knows all our secrets."""
    redactor = Redactor(secrets_of(os.environ))
    compact(output, FLOOD)
    redactor.file(output)
    compact(output, OUTPUT_KEPT)
    return redactor.text(head_and_tail(output, REPORT_KEPT // 2))


def _command(world: World, effect: RunCheck, text: str, output: str) -> process.Command:
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
    return process.Command(
        argv=None,
        shell=text,
        cwd=cwd,
        env={**inherited, **known},
        stdin_file=None,
        output=output,
        errors=output,
        mark=world.effect_mark(effect.id),
    )
