"""Keeping what nobody has committed under a ref, before anything is put in its place."""

import contextlib
import os

from porch.git import repository
from porch.git.command import run_git
from porch.git.moves.own_refs import set_own_ref
from porch.system.scratch import copy_with_times, scratch_directory

SALVAGE = "refs/porch/salvage/"


def name_salvage_ref(branch: str, position: str) -> str:
    """Beside the ref of the branch itself: git has no ref below another one."""
    place = position.translate({ord(sign): "-" for sign in ":#/"})
    return f"{SALVAGE}{branch}@{place}"


def salvage_uncommitted(path: str, ref: str, message: str) -> str | None:
    """Keep everything uncommitted as a commit under a ref, without touching the worktree.

    What an earlier salvage kept under the same ref stays reachable as a parent.
    """
    head, earlier = repository.read_head(path), repository.resolve_commit(path, ref)
    tree = _write_tree_of_all(path)
    if tree == repository.read_commit_tree(path, head):
        return None
    if (
        earlier
        and tree == repository.read_commit_tree(path, earlier)
        and repository.resolve_commit(path, f"{ref}^1") == head
    ):
        return earlier
    parents = [word for parent in (head, earlier) if parent for word in ("-p", parent)]
    words = ("commit-tree", tree, *parents, "-F", "-")
    commit = run_git(
        path, *words, env=repository.read_commit_identity(path), stdin=f"{message.rstrip()}\n"
    ).strip()
    set_own_ref(path, ref, commit)
    return commit


def _write_tree_of_all(path: str) -> str:
    with scratch_directory("porch-salvage-") as scratch:
        env = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        with contextlib.suppress(FileNotFoundError):
            copy_with_times(repository.find_git_path(path, "index"), env["GIT_INDEX_FILE"])
        repository.stage_all_files(path, (), env)
        return run_git(path, "write-tree", env=env).strip()
