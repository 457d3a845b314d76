"""A command of the settings, run before the first paid work: in the run's worktree, on its base.

The members of a tree have worktrees of their own, which are made later. There the command runs in a
checkout of the commit with which the run began. What a command writes into a worktree that porch
made is taken back, so that it does not count as the work of an agent.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from porch.git import measured_tree, tree_changes, tree_files
from porch.git.checkouts import open_detached_checkout
from porch.machine import facts as f
from porch.machine.effects import RunCheck
from porch.run.agents.world import World
from porch.run.handlers import command_trials
from porch.run.handlers.command_trials import TrialPlace
from porch.run.worktrees.names import DIRECTORY


async def run_base_check(world: World, effect: RunCheck) -> f.CheckEnded:
    text = world.settings.commands.get(effect.command.setting, "")
    if not text:
        said = f"nothing to run: [commands] {effect.command.setting} is not set"
        return f.CheckEnded(effect=effect.id, result="skipped", report=said)
    async with _open_place(world, effect) as place:
        state_dir = find_state_directory(world)
        done = await command_trials.try_command(state_dir, text, place, world.settings)
    again = f"it passed on the same files at {done.at}" if done.is_reused else ""
    return f.CheckEnded(
        effect=effect.id,
        result=done.result,
        report=again if again and done.result == "passed" else done.report,
        tree=place.tree,
        seconds=0 if done.is_reused else done.seconds,
        reused=done.is_reused,
    )


def find_state_directory(world: World) -> str:
    return os.path.dirname(os.path.dirname(world.directory))


@asynccontextmanager
async def _open_place(world: World, effect: RunCheck) -> AsyncIterator[TrialPlace]:
    if world.definition().protocol.spec:
        commit = world.state().run.base_commit
        scratch = os.path.join(world.workspace, DIRECTORY, f"commands_{world.state().run.name}")
        with open_detached_checkout(world.workspace, scratch, commit):
            tree = await asyncio.to_thread(measured_tree.measure_tree, scratch, world.own_paths())
            yield _make_place(world, effect, scratch, tree, "[[], [], []]")
        return
    tree, set_up = await asyncio.to_thread(_measure_place, world)
    place = _make_place(world, effect, world.workspace, tree, set_up)
    yield place
    if world.state().run.own_worktree:
        await asyncio.to_thread(_take_back, world, place.tree)


def recall_failures(world: World) -> dict[str, str]:
    """What is known of the commands on the files as they are now: a line of each that failed."""
    state_dir = find_state_directory(world)
    if world.definition().protocol.spec:
        return {}
    tree, set_up = _measure_place(world)
    place = TrialPlace(world.workspace, tree, set_up, world.check_environment(), "", "")
    known = world.settings.commands.items()
    found = {
        name: command_trials.recall_trial(state_dir, text, place, world.settings)
        for name, text in known
    }
    return {
        name: f"{trial.line} (at {trial.at})"
        for name, trial in found.items()
        if trial is not None and trial.result != "passed"
    }


def _measure_place(world: World) -> tuple[str, str]:
    """The content of the place in which the run works, and how that was set up."""
    tree = measured_tree.measure_tree(world.workspace, world.own_paths(), world.tree_room)
    own = world.state().run.own_worktree
    set_up = command_trials.describe_set_up(world.settings) if own else world.workspace
    return tree, set_up


def _make_place(
    world: World, effect: RunCheck, directory: str, tree: str, set_up: str
) -> TrialPlace:
    output = os.path.join(world.new_turn_directory(effect.id), "output-1.txt")
    mark = world.effect_mark(effect.id)
    return TrialPlace(directory, tree, set_up, world.check_environment(), mark, output)


def _take_back(world: World, before: str) -> None:
    """Only files that git does not ignore; a worktree of ours is nobody else's to write in."""
    own = world.own_paths()
    after = measured_tree.measure_tree(world.workspace, own, world.tree_room)
    changes = tree_changes.list_changed_paths(world.workspace, before, after, own)
    for change in changes:
        path = os.path.join(world.workspace, change.path)
        if os.path.lexists(path) and not (os.path.isdir(path) and not os.path.islink(path)):
            os.unlink(path)
    kept = [change.path for change in changes if change.status != "A"]
    if kept:
        index = os.path.join(world.directory, "base-check.index")
        tree_files.write_out_files(world.workspace, before, kept, index)
