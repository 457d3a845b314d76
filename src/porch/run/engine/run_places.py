"""Where things of a run lie, and the mark that its processes carry."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from porch.errors import StateError
from porch.git import git_directory
from porch.system.regular_file import (
    not_regular_error,
    require_directory_inside,
    require_regular,
)
from porch.text.sha256 import sha256

_OWN_DIRECTORIES = ("codev/projects/", "codev/executions/")
TRACK_FILES = ("plan.xml", "track.xml", "tasks.xml", "confirmations.jsonl")

if TYPE_CHECKING:
    from porch.machine.state import RunState
    from porch.store.where import ProjectPaths


def payload_directory(where: ProjectPaths, name: str) -> str:
    return os.path.join(where.run_dir(name), "payloads")


def workspace_of(where: ProjectPaths, state: RunState) -> str:
    """The directory in which a run's agents and checks work."""
    return os.path.normpath(os.path.join(where.base, state.run.worktree or "."))


def own_branch(state: RunState) -> str:
    """The branch that porch made for a run or a tree; empty if it worked in a checkout."""
    root = state.instances.get("")
    return state.run.branch or (root.branch if root else "")


def settings_root(where: ProjectPaths, state: RunState) -> str:
    """Where the settings of a run lie; a bare repository has none but in the worktrees of runs."""
    return workspace_of(where, state) if where.is_bare else where.root


def tree_room(directory: str) -> str:
    """Where measurements of worktrees keep what they ignore, as it was at the start of the run."""
    return os.path.join(directory, "trees")


def list_own_paths(project_dir: str) -> tuple[str, ...]:
    """What porch writes itself; none of it counts as the agent's or the check's work."""
    # The directory of a track lies wherever its people put it; in all others porch writes no plan.
    is_track = bool(project_dir) and not project_dir.startswith(_OWN_DIRECTORIES)
    return (
        *(f"{project_dir}/{name}" for name in (TRACK_FILES if is_track else ())),
        "codev/projects/*/status*.yaml*",
        "codev/executions/*/status*.yaml*",
        f"{project_dir}/consultation-*.md" if project_dir else "codev/.porch",
        "codev/.porch",
    )


def mark_of(where: ProjectPaths, name: str) -> str:
    """What every process of a run carries; two projects may have runs of one name."""
    place = os.path.join(os.path.realpath(where.state_dir), name)
    return f"porch-{sha256(place.encode()).hexdigest()[:16]}"


def require_own_places(where: ProjectPaths, state: RunState) -> None:
    """What a run writes lies in the project, whatever somebody linked where; else it stops here."""
    run = state.run
    require_own_worktree(where, workspace_of(where, state))
    if run.status_file:
        status = os.path.join(where.root, run.status_file)
        require_directory_inside(where.root, os.path.dirname(status))
        require_regular(status)
    if run.project_dir:
        workspace = workspace_of(where, state)
        require_directory_inside(workspace, os.path.join(workspace, run.project_dir))


def require_own_worktree(where: ProjectPaths, workspace: str) -> None:
    """A copy of a repository takes its worktrees along, and those still belong to the original."""
    found = git_directory.find_git_directory(workspace)
    if found and os.path.realpath(found.common) != os.path.realpath(where.common_dir):
        place = os.path.join(where.common_dir, "worktrees", os.path.basename(found.own))
        raise StateError(
            f"the worktree {workspace} belongs to another repository: {found.common}",
            fix=f"go on there; or, to go on here from the last commit, remove both {workspace} and "
            f"{place}, then run `porch resume`. What is not committed in this copy is lost then",
            code="foreign-worktree",
        )


def require_known_place(where: ProjectPaths) -> None:
    """Whoever stands in a copy of a worktree would write into the project of the original."""
    if other := git_directory.find_other_place(where.workspace):
        raise StateError(
            f"{where.workspace} is a copy of the worktree {other}",
            fix=f"go on in {other}, or in {where.root}",
            code="foreign-worktree",
        )


def require_own_directory(directory: str) -> None:
    """The directory of a run and what lies in it are directories, not links to others."""
    for name in ("", "inbox", "payloads", "turns"):
        path = os.path.join(directory, name).rstrip(os.sep)
        if os.path.islink(path):
            raise not_regular_error(path)
