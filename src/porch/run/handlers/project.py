"""Reading the list of a loop from its document, and committing named artifacts."""

import asyncio
import os
from collections.abc import Iterable

from porch.dialects.plan_headings import read_plan
from porch.errors import OutsideError
from porch.git import repository
from porch.machine import facts as f
from porch.machine.effects import CommitPaths, ReadItems
from porch.model.artifact_names import MISSING
from porch.run.agents.world import World
from porch.run.engine.approved_artifacts import (
    find_approved_digest,
    is_changed_since_approval,
    read_approved_file,
)
from porch.run.engine.artifacts import (
    digest_hashes,
    hash_artifacts,
    list_artifact_paths,
    list_odd_artifacts,
)
from porch.run.engine.plan_items import decode_plan, make_item
from porch.system.document_file import read_document
from porch.text.sha256 import sha256


def read_items(world: World, effect: ReadItems) -> f.EffectFact:
    name = list_artifact_paths(world.workspace, world.state().run, (effect.source,))[0]
    text, why = _read_plan_text(world, name)
    if text is None:
        return f.EffectFailed(effect=effect.id, why="no-plan", detail=why, hopeless=True)
    reading = read_plan(text, name)
    notes = tuple(finding.message for finding in reading.findings)
    items = tuple(map(make_item, reading.phases))
    digest = sha256(text.encode()).hexdigest()
    return f.ItemsRead(
        effect=effect.id, reading=reading.reading, items=items, digest=digest, notes=notes
    )


def _read_plan_text(world: World, name: str) -> tuple[str | None, str]:
    """What was approved counts, whatever the file says by now; else the file, or why not."""
    approved = read_approved_file(world.payload_directory, world.state(), name)
    if approved is not None:
        return decode_plan(approved), ""
    if not os.path.lexists(os.path.join(world.workspace, name)):
        return None, f"{name} does not exist"
    # An artifact like any other: what no gate can approve is not worked by.
    odd = list_odd_artifacts(hash_artifacts(world.workspace, "", (name,)))
    if odd:
        return None, odd[0]
    return read_document(os.path.join(world.workspace, name), "replace"), ""


async def commit_artifacts(world: World, effect: CommitPaths) -> f.EffectFact:
    """Exactly the named paths, but never in a checkout in which the person commits.

    Git may take its time without holding up anybody else.
    """
    if world.state().run.commits_nothing:
        return f.CommitEnded(effect=effect.id, passed_over=True)
    if not world.in_git:
        return f.CommitEnded(effect=effect.id, refused="this is not a git repository")
    return await asyncio.to_thread(_commit_named_paths, world, effect)


def _commit_named_paths(world: World, effect: CommitPaths) -> f.EffectFact:
    run = world.state().run
    standing = world.state().positions.get(effect.position)
    item = standing.item if standing else ""
    paths = list_artifact_paths(world.workspace, run, effect.paths, item)
    known = hash_artifacts(world.workspace, "", paths)
    if is_changed_since_approval(world.state(), known):
        # Between the look of the driver and ours; it looks again before the next try.
        return f.EffectStopped(effect=effect.id)
    there = [path for path, sum_ in known.items() if sum_ != MISSING]
    linked = _find_approved_link(world, there)
    if linked:
        why = "is a link: a commit would hold where it leads, and not the text that was approved"
        return f.CommitEnded(effect=effect.id, refused=f"{linked} {why}")
    # By its contents, so that a commit of a dead runner is found and an older one is not.
    name = f"{run.name} {effect.position}/commit {digest_hashes(known)[:16]}"
    trailer = f"Porch-Effect: {name}"
    try:
        # Also where the commit is there already: a dead runner may not have come to the index.
        made = there and repository.commit_paths(world.workspace, there, effect.message, trailer)
    except OutsideError as error:
        return f.CommitEnded(effect=effect.id, refused=str(error))
    return f.CommitEnded(effect=effect.id, commit=made or "")


def _find_approved_link(world: World, paths: Iterable[str]) -> str:
    approved = (path for path in paths if find_approved_digest(world.state(), path)[0])
    links = (path for path in approved if os.path.islink(os.path.join(world.workspace, path)))
    return next(links, "")
