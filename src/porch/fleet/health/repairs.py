"""What `codev doctor --fix` does: only what adds, and what git itself calls tidying up."""

import os
import stat
from collections.abc import Iterator, Sequence

from porch.fleet.health import project_health, repository_health
from porch.fleet.setup import project_setup
from porch.fleet.setup.claude_settings import HOOK
from porch.git import repository
from porch.git.command import run_git
from porch.git.index_lock import remove_dead_lock
from porch.git.moved_worktrees import find_moved_worktrees, repair_moved_worktrees
from porch.run.engine.run_places import require_known_place
from porch.show.fleet.doctor_line import DoctorLine
from porch.store.where import ProjectPaths


def apply_repairs(where: ProjectPaths, lines: Sequence[DoctorLine]) -> list[str]:
    """Each repair once, in words that say what was done."""
    require_known_place(where)
    wanted = dict.fromkeys(line.repair for line in lines if line.repair)
    return [said for name in wanted for said in _apply_repair(where, name)]


def _apply_repair(where: ProjectPaths, name: str) -> Iterator[str]:
    if name == repository_health.PRUNE:
        run_git(where.root, "worktree", "prune")
        yield f"ran `{name}`"
    elif name == repository_health.DEAD_LOCK:
        if remove_dead_lock(repository.find_git_path(where.base, "index")):
            yield "removed the lock of a porch that was killed; `git status` shows what is missing"
    elif name == repository_health.REPAIR:
        moved = find_moved_worktrees(where.common_dir, where.top)
        repair_moved_worktrees(where.common_dir, moved)
        yield f"ran `{name} {' '.join(moved)}`"
    elif name == project_health.HOOK_MODE:
        path = os.path.join(where.root, HOOK)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        yield f"made {HOOK} executable"
    elif name == project_health.SETUP_FILES:
        yield from _write_missing_files(where.root)


def _write_missing_files(root: str) -> Iterator[str]:
    """Permissions are left out: what agents may do unasked is for a person to say."""
    chosen = project_setup.find_choices(root)
    planned = [project_setup.plan_settings(root, chosen)]
    if project_health.has_part_of_hook(root):
        planned += project_setup.plan_hook(root)
    project_setup.write_setup(root, planned)
    for each in planned:
        if each.is_change:
            yield f"wrote {each.path}" if each.fate == "new" else f"added to {each.path}"
