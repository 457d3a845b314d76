"""What a check or a reviewer changed of the files that decide a measurement.

Tests that an agent wrote can write a conftest.py as well as the agent can. Whoever came next would
take it for how the files were.
"""

from msgspec.structs import replace

from porch.errors import OutsideError
from porch.git import tree_files
from porch.machine import facts as f
from porch.machine.effects import AskReviewer, RunCheck
from porch.machine.state import Standing
from porch.run.agents.world import World
from porch.run.handlers import protected_files
from porch.run.handlers.phase_entries import read_phase_entry, write_phase_entry


def judge_traces(world: World, effect: RunCheck, fact: f.CheckEnded, before: str) -> f.CheckEnded:
    """The gate says what was changed; a protocol that declares does not go on by itself."""
    standing = world.state().positions.get(effect.position)
    if standing is None or not before or before == fact.tree:
        return fact
    changed = _list_changes(world, standing, before, fact.tree)
    if not changed:
        return fact
    names = tuple(sorted(changed)[: protected_files.MOST_NAMED])
    told = replace(fact, touched=names)
    if not world.definition().protocol.is_protecting:
        return told
    said = f"the check itself changed what decides a measurement: {', '.join(names)}"
    return replace(told, result="unmeasured", report=f"{said}\n{fact.report}")


def _list_changes(world: World, standing: Standing, before: str, now: str) -> dict[str, str]:
    """What is put back as the phase found it is no change."""
    changed = protected_files.list_protected_changes(world, standing, before, now)
    known = read_phase_entry(world.phase_entry_file(standing)) if changed else None
    if known is None:
        return changed
    found = tree_files.read_entries(world.workspace, known.tree, list(changed))
    changed = {path: new for path, new in changed.items() if found.get(path, "") != new}
    # A person who says to try again has seen these as well.
    refused = {**known.refused, **changed}
    write_phase_entry(world.phase_entry_file(standing), replace(known, refused=refused))
    return changed


def note_measured_tree(world: World, effect: RunCheck, tree: str) -> None:
    """How the files are after a check: what it changed is nobody's gift."""
    standing = world.state().positions.get(effect.position)
    known = (
        read_phase_entry(world.phase_entry_file(standing))
        if standing is not None and tree
        else None
    )
    if standing is not None and known is not None and known.last != tree:
        write_phase_entry(world.phase_entry_file(standing), replace(known, last=tree))


def look_at_files(world: World) -> str:
    """The files before a reviewer begins; empty where nothing can be compared."""
    try:
        return protected_files.measure_workspace(world) if world.in_git else ""
    except OutsideError:
        # Said where it counts: by the next check, which cannot be measured then either.
        return ""


def note_traces(
    world: World, effect: AskReviewer, fact: f.ReviewEnded, before: str
) -> f.ReviewEnded:
    """A reviewer only reads; if it wrote all the same, the gate says what."""
    standing, now = world.state().positions.get(effect.position), look_at_files(world)
    if standing is None or not before or not now or before == now:
        return fact
    changed = protected_files.list_protected_changes(world, standing, before, now)
    return replace(fact, touched=tuple(sorted(changed)[: protected_files.MOST_NAMED]))
