"""Reading the list of a loop from its document, and committing named artifacts."""

import asyncio
import hashlib
import os

from porch.adapters import git
from porch.dialects.plan_headings import PlanPhase, read_plan
from porch.errors import OutsideError
from porch.machine import facts as f
from porch.machine.effects import CommitPaths, ReadItems
from porch.runtime.artifacts import MISSING, digest_of, sums
from porch.runtime.world import World

DESCRIPTION_KEPT = 500


def read_items(world: World, effect: ReadItems) -> f.EffectFact:
    path = world.project_file(effect.source)
    if not os.path.isfile(path):
        shown = os.path.join(world.state().run.project_dir, effect.source)
        detail = f"{shown} is not there"
        return f.EffectFailed(effect.id, "no-plan", detail, hopeless=True)
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    reading = read_plan(text, effect.source)
    notes = tuple(finding.message for finding in reading.findings)
    items = tuple(map(item_of, reading.phases))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f.ItemsRead(effect.id, reading.reading, items, digest, notes)


def item_of(phase: PlanPhase) -> f.Item:
    digest = hashlib.sha256(phase.text.encode()).hexdigest()
    description = phase.description[:DESCRIPTION_KEPT]
    return f.Item(phase.id, phase.title[:DESCRIPTION_KEPT], description, digest, phase.text)


async def commit(world: World, effect: CommitPaths) -> f.CommitEnded:
    """Exactly the named paths; git may take its time without holding up anybody else."""
    if not world.in_git:
        return f.CommitEnded(effect.id, refused="there is no git repository here")
    return await asyncio.to_thread(_committed, world, effect)


def _committed(world: World, effect: CommitPaths) -> f.CommitEnded:
    run = world.state().run
    known = sums(world.workspace, run.project_dir, effect.paths)
    there = [path for path, sum_ in known.items() if sum_ != MISSING]
    # By its contents, so that a commit of a dead runner is found and an older one is not.
    name = f"{run.name} {effect.position}/commit {digest_of(known)[:16]}"
    trailer = f"Porch-Effect: {name}"
    try:
        # Also where the commit is there already: a dead runner may not have come to the index.
        made = there and git.commit_paths(world.workspace, there, effect.message, trailer)
    except OutsideError as error:
        return f.CommitEnded(effect.id, refused=str(error))
    return f.CommitEnded(effect.id, made or "")
