"""What decides a measurement stays as the run left it, also behind the end of the run.

In a turn a protocol that declares what is protected refuses such a change, others tell of it, and
checks with a runner measure without it. The same holds for what was done on the branch later. It
belongs to no phase, so no phase allows it. What the target has in the same form came from there.
"""

import os
from collections.abc import Mapping

from porch.fleet.finish.run_work import RunWork
from porch.git import repository, tree_files
from porch.machine.state import CHANGED, Standing
from porch.run.agents.world import World
from porch.run.handlers.protected_files import (
    find_protected_paths,
    list_protected_changes,
    measure_workspace,
    note_entry_tree,
)
from porch.system.scratch import scratch_directory

# Of no phase: nobody works there, and nobody may write what is protected.
FINISH = Standing("finish#1", "", CHANGED, "finish", 1, "")


def list_measuring_files(world: World, work: RunWork) -> tuple[str, ...]:
    """Files that decide a measurement and were changed after the end, committed or not."""
    later = work.later
    if later is None or not later.is_noted:
        return ()
    rules = find_protected_paths(world, FINISH)
    lying = (path for path in later.uncommitted if rules.is_refused(path))
    return tuple(sorted({*_list_changes(world, work), *lying}))


def _list_changes(world: World, work: RunWork) -> Mapping[str, str]:
    later = work.later
    if later is None or not later.is_noted or later.end == work.head:
        return {}
    changed = list_protected_changes(world, FINISH, later.end, work.head)
    target = repository.resolve_commit(work.repo, f"refs/heads/{work.into}")
    theirs = tree_files.read_entries(work.repo, target, list(changed)) if target else {}
    return {path: new for path, new in changed.items() if not new or theirs.get(path) != new}


def note_files_at_end(world: World, work: RunWork) -> None:
    """What checks with a runner compare the merged files with; `world` is where those lie."""
    tree = measure_workspace(world)
    paths = list(_list_changes(world, work))
    if paths and work.later:
        before = tree_files.read_entries(world.workspace, work.later.end, paths)
        gone = [path for path in paths if path not in before]
        with scratch_directory("porch-finish-") as scratch:
            index = os.path.join(scratch, "index")
            tree = tree_files.write_mixed_tree(
                world.workspace, tree, before, gone=gone, index=index
            )
    note_entry_tree(world, FINISH, tree)
