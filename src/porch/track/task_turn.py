"""A task's turn: the plan is kept from the agent, and what it changed is measured."""

import asyncio

from msgspec.structs import replace

from porch.errors import PorchError
from porch.git import measured_tree, tree_changes
from porch.machine import facts as f
from porch.machine.effects import AskReviewer, RunAgent
from porch.model.track_names import DONE
from porch.run.agents.world import World
from porch.run.engine.artifacts import name_changed_file
from porch.run.handlers import agent, panel
from porch.track.plan_file import find_plan_of_run, keep_plan, put_back_plan

# More than anybody can confirm; what lies beyond is said, and no consent is for it.
MOST_FILES = 5_000
_PUT_BACK = "the agent changed the plan, which only porch writes; it was put back, see {aside}"


async def run_task(world: World, effect: RunAgent) -> f.EffectFact:
    plan = find_plan_of_run(world.workspace, world.directory, world.state())
    keep_plan(plan)
    before = await asyncio.to_thread(_measure, world)
    fact = await agent.run_agent(world, effect)
    aside = put_back_plan(plan)
    if not isinstance(fact, (f.ExitAccepted, f.TurnEndedSilent)):
        return fact
    if aside:
        fact = replace(fact, notes=(*fact.notes, _PUT_BACK.format(aside=aside)))
    if isinstance(fact, f.ExitAccepted) and before:
        told = await asyncio.to_thread(_describe_changes, world, before, effect.state)
        fact = replace(fact, payload={**fact.payload, **told})
    return fact


async def ask_track_reviewer(world: World, effect: AskReviewer) -> f.EffectFact:
    """A reviewer only reads; one that writes all the same does not move the plan either."""
    plan = find_plan_of_run(world.workspace, world.directory, world.state())
    keep_plan(plan)
    fact = await panel.ask_reviewer(world, effect)
    put_back_plan(plan)
    return fact


def _measure(world: World) -> str:
    """All files as they are; nothing where that cannot be known."""
    if not world.in_git:
        return ""
    try:
        return measured_tree.measure_tree(world.workspace, world.own_paths(), world.tree_room)
    except PorchError:
        return ""


def _describe_changes(world: World, before: str, state: str) -> dict[str, object]:
    """All files that this work has changed, in earlier attempts, too: people confirm them all."""
    after = _measure(world)
    if not after:
        return {}
    earlier = world.state().memory.get(("", ""), {}).get(f"{state}.{DONE}", {})
    names = dict.fromkeys(str(name) for name in earlier.get("files", ()))
    if after == before:
        return {"unchanged": "no file changed since the last attempt", "files": [*names]}
    changes = tree_changes.list_changed_paths(world.workspace, before, after)
    found = (name_changed_file(world.workspace, each.path) for each in changes)
    names |= dict.fromkeys(filter(None, found))
    more = {"more_files": len(names) - MOST_FILES} if len(names) > MOST_FILES else {}
    return {"files": [*names][:MOST_FILES], **more}
