"""What lies outside the worktree of a turn, looked at before the turn and after it.

A check may run what an agent wrote, so it is watched, too. There are many more checks than turns;
so for them refs and settings are looked at, which needs no git, and no other files.

The stamp from before lies in a file of the run, so that it is there for whoever takes over from a
driver that was killed. What changed is told with whatever the turn came to.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from glob import escape, glob
from typing import Any

from msgspec import json
from msgspec.structs import replace

from porch.agents.transcripts import turn_directory_name
from porch.errors import OutsideError
from porch.git import outside, repository
from porch.git.outside import OutsideStamp
from porch.machine import facts as f
from porch.machine.state import RunState
from porch.run.agents.world import World
from porch.run.engine.early_merge import (
    UNCOMPARED,
    describe_trouble,
    find_merged_commits,
    list_own_branches,
)
from porch.run.engine.effect_failures import make_failure_fact
from porch.run.engine.run_places import list_own_paths, own_branch
from porch.run.settings import PROJECT_FILE, list_settings_files
from porch.store.run_drivers import find_drivers
from porch.store.where import find_project
from porch.store.worktree_records import list_records
from porch.system import atomic

_DIRECTORY, _ENDING = "outside", ".json"
_UNKNOWN = "porch does not know how it was before the turn"


async def watch(
    world: World,
    effect: str,
    work: Callable[[], Awaitable[f.EffectFact]],
    *,
    is_whole: bool = True,
) -> f.EffectFact:
    """One turn or check between two looks, however it ends; `is_whole` includes all files."""
    await asyncio.to_thread(note_before, world, effect, is_whole)
    try:
        fact = await work()
    except Exception as error:  # noqa: BLE001 - also after a failure it counts what changed
        fact = make_failure_fact(effect, error)
    return await asyncio.to_thread(add_changes, world, fact)


def note_before(world: World, effect: str, is_whole: bool) -> None:
    """Before a turn; what cannot be looked at is missing afterwards, and that is said then."""
    path = _stamp_file(world, effect)
    place = os.path.dirname(path)
    os.makedirs(place, mode=0o700, exist_ok=True)
    # Those of effects that have ended serve nobody; what has no such name is being written.
    kept = {_stamp_file(world, each) for each in world.state().in_hand}
    stamps = glob(os.path.join(escape(place), f"*{_ENDING}"))
    for old in set(stamps).difference(kept):
        with suppress(FileNotFoundError):
            os.unlink(old)
    try:
        stamp = _take_stamp(world, OutsideStamp(is_whole=is_whole))
    except (OutsideError, OSError):
        return
    atomic.replace_file(path, json.encode(stamp), sync=False)


def add_changes(world: World, fact: Any) -> f.EffectFact:
    """After a turn: what is not as it was before."""
    try:
        before = _read_stamp(_stamp_file(world, fact.effect))
        now = _take_stamp(world, before or OutsideStamp(is_whole=False))
        found = _compare(world, before, now)
    except (OutsideError, OSError) as error:
        found = {"changes": [f"{UNCOMPARED}: {describe_trouble(error)}"]}
    known = getattr(fact, "outside", {})
    changed: f.EffectFact = replace(fact, outside={**known, **found}) if found else fact
    return changed


def has_stamp(world: World, effect: str) -> bool:
    return os.path.exists(_stamp_file(world, effect))


def _stamp_file(world: World, effect: str) -> str:
    return os.path.join(world.directory, _DIRECTORY, turn_directory_name(effect) + _ENDING)


def _read_stamp(path: str) -> OutsideStamp | None:
    try:
        with open(path, "rb") as file:
            return json.decode(file.read(), type=OutsideStamp)
    except (OSError, ValueError):
        return None


def _take_stamp(world: World, before: OutsideStamp) -> OutsideStamp:
    """As whole as the one before; of files that were dirty then it counts what they hold now."""
    common = repository.find_common_directory(world.root or world.workspace)
    checkout, files, unlisted = world.root, {}, ""
    dirty: tuple[str, ...] = ()
    if checkout and own_branch(world.state()):
        if before.is_whole:
            try:
                dirty = outside.list_dirty_files(checkout, list_own_paths(""))
            except OutsideError as error:  # the refs below matter more
                unlisted = describe_trouble(error)
        files = outside.digest_files(checkout, (*before.dirty, *dirty, PROJECT_FILE))
    mine, _ = list_settings_files(checkout)
    # What git obeys, or runs for a person who works here.
    names = ["config", "info/attributes", *_list_hooks(common)]
    places = {mine: mine, **{f".git/{name}": os.path.join(common, name) for name in names}}
    files |= {name: outside.digest_file(path) for name, path in places.items()}
    return OutsideStamp(outside.stamp_refs(common), files, dirty, before.is_whole, unlisted)


def _list_hooks(common: str) -> list[str]:
    try:
        names = os.listdir(os.path.join(common, "hooks"))
    except OSError:
        return []
    return sorted(f"hooks/{name}" for name in names if not name.endswith(".sample"))


def _compare(world: World, before: OutsideStamp | None, now: OutsideStamp) -> dict[str, Any]:
    """Without a look before the turn, everything since the run began may be of this turn."""
    state = world.state()
    if before is None:
        before, lines = OutsideStamp(), [f"{UNCOMPARED}: {_UNKNOWN}"]
    else:
        lines = outside.describe_changes(before, now, _list_moving_branches(world, state))
    merged = find_merged_commits(world.workspace, world.root, state, before, now) if lines else {}
    return {**({"changes": lines} if lines else {}), **({"merged": merged} if merged else {})}


def _list_moving_branches(world: World, state: RunState) -> set[str]:
    """Those of this run, and those in which other runs work just now."""
    own = list_own_branches(world.workspace, state)
    where = find_project(world.root or world.workspace)
    records = [each for each in list_records(where) if each.run != state.run.name]
    drivers = find_drivers(os.path.join(where.state_dir, "runs"), {each.run for each in records})
    return own | {each.branch for each in records if drivers[each.run].holder is not None}
