"""Tests that are skipped while they run: a test may decide that, the program that it tests may not.

What a run did not change may skip as it always did, such as a helper that looks for a database.
"""

import glob
from collections.abc import Mapping

from msgspec import DecodeError, json

from porch.git import tree_changes
from porch.model.protection import ProtectedPaths
from porch.run.agents.world import World

Skips = Mapping[str, list[str]]


def read_skips(results: str) -> Skips:
    """By test: the files of the workspace between it and the skip; the plugin wrote them."""
    found: dict[str, list[str]] = {}
    for path in sorted(glob.glob(f"{glob.escape(results)}.*.skips")):
        try:
            with open(path, "rb") as file:
                found |= json.decode(file.read(), type=dict[str, list[str]])
        except (OSError, DecodeError):
            continue
    return found


def list_skipped_by_program(
    world: World, rules: ProtectedPaths, skips: Skips, tree: str
) -> list[str]:
    """Each with the file that skipped it; only files that changed since the run began count.

    `tree` is what was tested: what the tests made of the files since then does not count.
    """
    changed = _list_changed_files(world, tree)
    return [
        f"{name} ({path})"
        for name, files in skips.items()
        for path in files
        if path in changed and not rules.is_protected(path)
    ]


def _list_changed_files(world: World, now: str) -> set[str]:
    base = world.state().run.base
    changes = tree_changes.list_changed_paths(world.workspace, base, now) if base else []
    return {change.path for change in changes}
