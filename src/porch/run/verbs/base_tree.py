"""The tree that a run begins with; files that nobody has committed are in it, too."""

from porch.git import measured_tree, tree_changes, worktrees
from porch.git.tree_room import pin_tree_room
from porch.run.engine import run_places
from porch.store.where import ProjectPaths
from porch.text.late_pattern import late_pattern
from porch.text.sha256 import sha256

_PLAIN = late_pattern(r"[A-Za-z0-9_-]+")
NAMED = 5


def record_base_tree(where: ProjectPaths, run: str, project_dir: str) -> str:
    """Measure all files as they are now and keep them; empty outside a repository."""
    if not where.common_dir:
        return ""
    room = run_places.tree_room(where.run_dir(run))
    own = run_places.list_own_paths(project_dir)
    tree = measured_tree.measure_tree(where.workspace, own, room)
    tree_changes.keep_tree(where.workspace, f"base/{_ref_name(run)}", tree)
    return tree


def pin_ignored_files(where: ProjectPaths, run: str) -> None:
    """What is ignored in the worktrees of a run stays what it is now."""
    if where.common_dir:
        pin_tree_room(where.workspace, run_places.tree_room(where.run_dir(run)))


def describe_dirty_start(where: ProjectPaths) -> str:
    """What a person has not committed: one line, or nothing."""
    changed = worktrees.list_changed_paths(where.workspace) if where.common_dir else []
    if not changed:
        return ""
    names = ", ".join(changed[:NAMED]) + (", ..." if len(changed) > NAMED else "")
    what = "1 file is" if len(changed) == 1 else f"{len(changed)} files are"
    return f"{what} not committed ({names}); the run counts only what changes from now on"


def _ref_name(run: str) -> str:
    return run if _PLAIN.fullmatch(run) else sha256(run.encode()).hexdigest()[:20]
