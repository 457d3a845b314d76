"""Checks that need no command: porch compares the files with those that the run began with."""

from porch.errors import OutsideError
from porch.git import tree_changes
from porch.machine import facts as f
from porch.machine.effects import RunCheck
from porch.run.agents.world import World

NAMED = 5


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
