"""What a commit looks like on disk, where git converts files: raw trees and commits never mix.

A repository with a filter or with conversions of line ends checks out other bytes than it commits.
So a comparison with a commit needs the tree that was measured when that commit was checked out.
"""

import os
from functools import cache

from porch.errors import OutsideError
from porch.git import git_directory, repository
from porch.git.changed_paths import ChangedPath
from porch.git.command import try_git
from porch.git.measured_tree import find_toplevel, measure_tree
from porch.git.moves.checkout_move import read_status
from porch.git.own_git_directory import ensure_own_git_directory
from porch.git.tree_changes import REFS, keep_tree, list_changed_paths

_RAW = "raw/"


def remember_raw_commit(worktree: str, room: str = "") -> None:
    """Keep what the commit of a clean worktree is on disk, if it may be anything else there."""
    head = repository.read_head(worktree)
    if head and may_convert_files(worktree) and not read_status(worktree):
        keep_tree(worktree, _RAW + head, measure_tree(worktree, room=room))


def compare_measured_tree(worktree: str, base: str, tree: str) -> list[ChangedPath]:
    """All that differs from base in files that somebody has measured: uncommitted ones, too."""
    commit = repository.resolve_commit(worktree, base)
    if commit is None:
        raise OutsideError(f"there is no commit {base} in {worktree}", fix="fetch it first")
    return list_changed_paths(worktree, find_raw_commit(worktree, commit), tree)


def find_raw_commit(worktree: str, commit: str) -> str:
    """The tree to compare with: as it was on disk, else the commit itself."""
    own = ensure_own_git_directory(find_toplevel(worktree))
    try:
        with open(os.path.join(own.path, REFS, _RAW, commit), encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return commit


def may_convert_files(worktree: str) -> bool:
    """Whether anything that people usually write could make files on disk differ from commits."""
    found = git_directory.find_git_directory(worktree)
    places = [os.path.join(worktree, ".gitattributes")]
    if found is not None:
        places.append(os.path.join(found.common, "info", "attributes"))
    if any(os.path.exists(place) for place in places):
        return True
    return _converts_line_ends(found.common if found else worktree)


@cache
def _converts_line_ends(place: str) -> bool:
    told = try_git(place, "config", "--get", "core.autocrlf").stdout.strip().lower()
    return told not in ("", "false")
