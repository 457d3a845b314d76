"""Reading the list of a loop from its document, and committing named artifacts."""

import asyncio
import os

from porch.dialects.plan_headings import PlanPhase, read_plan
from porch.errors import OutsideError
from porch.git import repository
from porch.machine import facts as f
from porch.machine.effects import CommitPaths, ReadItems
from porch.run.agents.world import World
from porch.run.engine.artifacts import MISSING, digest_hashes, hash_artifacts
from porch.text.sha256 import sha256

DESCRIPTION_KEPT = 500


def read_items(world: World, effect: ReadItems) -> f.EffectFact:
    path = world.project_file(effect.source)
    if not os.path.isfile(path):
        shown = os.path.join(world.state().run.project_dir, effect.source)
        detail = f"{shown} does not exist"
        return f.EffectFailed(effect=effect.id, why="no-plan", detail=detail, hopeless=True)
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    reading = read_plan(text, effect.source)
    notes = tuple(finding.message for finding in reading.findings)
    items = tuple(map(make_item, reading.phases))
    digest = sha256(text.encode()).hexdigest()
    return f.ItemsRead(
        effect=effect.id, reading=reading.reading, items=items, digest=digest, notes=notes
    )


def make_item(phase: PlanPhase) -> f.Item:
    digest = sha256(phase.text.encode()).hexdigest()
    description = phase.description[:DESCRIPTION_KEPT]
    return f.Item(
        id=phase.id,
        title=phase.title[:DESCRIPTION_KEPT],
        description=description,
        digest=digest,
        text=phase.text,
    )


async def commit_artifacts(world: World, effect: CommitPaths) -> f.CommitEnded:
    """Exactly the named paths; git may take its time without holding up anybody else."""
    if not world.in_git:
        return f.CommitEnded(effect=effect.id, refused="this is not a git repository")
    return await asyncio.to_thread(_commit_named_paths, world, effect)


def _commit_named_paths(world: World, effect: CommitPaths) -> f.CommitEnded:
    run = world.state().run
    known = hash_artifacts(world.workspace, run.project_dir, effect.paths)
    there = [path for path, sum_ in known.items() if sum_ != MISSING]
    # By its contents, so that a commit of a dead runner is found and an older one is not.
    name = f"{run.name} {effect.position}/commit {digest_hashes(known)[:16]}"
    trailer = f"Porch-Effect: {name}"
    try:
        # Also where the commit is there already: a dead runner may not have come to the index.
        made = there and repository.commit_paths(world.workspace, there, effect.message, trailer)
    except OutsideError as error:
        return f.CommitEnded(effect=effect.id, refused=str(error))
    return f.CommitEnded(effect=effect.id, commit=made or "")
