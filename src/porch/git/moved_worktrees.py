"""Worktrees of a project whose directory was moved: each side names a place that is gone.

Git then calls the worktree no repository, and the repository calls the worktree gone; `git worktree
prune` would make that true. `git worktree repair` writes both names again and loses nothing.
"""

import os

from porch.errors import OutsideError
from porch.git import git_directory
from porch.git.command import run_git
from porch.git.worktree_lock import lock_worktrees

_FRONT = "gitdir: "


def find_moved_worktrees(common_dir: str, top: str) -> list[str]:
    """Where worktrees lie now, below `top`, that the repository looks for somewhere else."""
    linked = git_directory.list_linked_worktrees(common_dir) if common_dir else []
    found = (_find_below(top, each) for each in linked if not os.path.lexists(each.path))
    return [path for path in found if path]


def repair_moved_worktrees(common_dir: str, paths: list[str]) -> None:
    with lock_worktrees(common_dir):
        run_git(common_dir, "worktree", "repair", *paths)


def lost_repository_error(directory: str) -> OutsideError:
    """Why git finds no repository around a directory, and what brings it back."""
    if lost := read_lost_directory(directory):
        return OutsideError(
            f"the worktree {directory} belongs to a repository that is not at "
            f"{os.path.dirname(os.path.dirname(lost))} any more",
            fix=f"run `codev doctor --fix` in the main checkout, or "
            f"`git worktree repair {directory}` there",
            code="worktree-moved",
        )
    return OutsideError(f"{directory} is not in a git repository", fix="run `git init` first")


def read_lost_directory(worktree: str) -> str:
    """What the `.git` of a worktree names, where nothing lies there; else empty."""
    text = git_directory.read_git_file(worktree)
    own = os.path.join(worktree, text.removeprefix(_FRONT))
    is_lost = text.startswith(_FRONT) and not os.path.lexists(own)
    return os.path.normpath(own) if is_lost else ""


def _find_below(top: str, linked: git_directory.LinkedWorktree) -> str:
    """The end of its old path is still right: one looks for the shortest that leads to it."""
    names = linked.path.strip(os.sep).split(os.sep)
    ends = (os.path.join(top, *names[at:]) for at in range(len(names) - 1, -1, -1))
    id_ = os.path.basename(linked.own)
    found = (path for path in ends if os.path.basename(read_lost_directory(path)) == id_)
    return next(found, "")
