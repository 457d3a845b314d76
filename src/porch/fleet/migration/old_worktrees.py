"""Worktrees below `.builders`: moved to where porch expects them, or removed with all work kept."""

import os
import re
from collections.abc import Mapping

from msgspec import Struct

from porch.errors import PorchError
from porch.git import repository, worktrees
from porch.git.command import run_git
from porch.git.moves.checkout_repair import SALVAGE
from porch.git.worktree_lock import lock_worktrees
from porch.run.definitions.subject_names import RunSubject
from porch.run.worktrees.names import make_worktree_name
from porch.store.where import find_project
from porch.store.worktree_records import (
    WorktreeRecord,
    keep_record,
    remove_record,
    take_port_block,
)
from porch.system import crash_points
from porch.system.processes import list_pids, read_directory

BUILDERS = ".builders"
_NUMBER = re.compile(r"(?<![0-9A-Za-z])([0-9]{3,})(?![0-9])")


class OldWorktree(Struct, frozen=True):
    """One worktree of the old kind; `run` is the project it belongs to, if one can be told."""

    path: str
    branch: str
    run: str = ""
    protocol: str = ""
    is_in_use: bool = False
    is_locked: bool = False
    trouble: str = ""  # why it stays where it is

    @property
    def is_kept(self) -> bool:
        """Whether nobody may remove it, as somebody works in it or has told git to keep it."""
        return self.is_in_use or self.is_locked

    @property
    def new_branch(self) -> str:
        id_, _, title = self.run.partition("-")
        directory = f"codev/projects/{self.run}"
        return make_worktree_name(
            self.protocol, RunSubject(self.run, id_, title, directory, status_file="")
        )

    @property
    def new_path(self) -> str:
        return f"worktrees/{self.new_branch}"


def list_old_worktrees(root: str, runs: Mapping[str, str]) -> list[OldWorktree]:
    """All that git knows below `.builders`; `runs` are the names of projects by their number."""
    top = os.path.realpath(os.path.join(root, BUILDERS)) + os.sep
    known = worktrees.list_worktrees(root)[1:]
    mine = [each for each in known if (os.path.realpath(each.path) + os.sep).startswith(top)]
    return [_describe(root, each, runs) for each in mine]


def list_other_entries(root: str, known: list[OldWorktree]) -> list[str]:
    """What lies there and is no worktree of this repository: nobody's to remove."""
    try:
        names = sorted(os.listdir(os.path.join(root, BUILDERS)))
    except OSError:
        return []
    paths = {each.path for each in known}
    return [path for name in names if (path := f"{BUILDERS}/{name}") not in paths]


def _describe(
    root: str, found: worktrees.RegisteredWorktree, runs: Mapping[str, str]
) -> OldWorktree:
    path = os.path.relpath(os.path.realpath(found.path), os.path.realpath(root))
    numbers = _NUMBER.findall(os.path.basename(path)) or _NUMBER.findall(found.branch or "")
    run = runs.get(numbers[0], "") if numbers else ""
    is_in_use = bool(_find_process_inside(os.path.join(root, path)))
    is_locked = os.path.lexists(os.path.join(found.own, "locked"))
    return OldWorktree(path, found.branch or "", run, is_in_use=is_in_use, is_locked=is_locked)


def find_trouble(root: str, each: OldWorktree) -> str:
    """Why it cannot be moved; it stays as it is then."""
    if pid := _find_process_inside(os.path.join(root, each.path)):
        return f"process {pid} works in it"
    if not os.path.isdir(os.path.join(root, each.path)):
        return "its directory is gone; run `git worktree prune`"
    if each.is_locked:
        return f"git has locked it; run `git worktree unlock {each.path}`"
    if not each.branch:
        return "it is not on a branch"
    if os.path.lexists(os.path.join(root, each.new_path)):
        return f"{each.new_path} is there already"
    taken = repository.resolve_commit(root, f"refs/heads/{each.new_branch}") is not None
    if taken and each.branch != each.new_branch:
        return f"the branch {each.new_branch} exists already"
    return ""


def _find_process_inside(path: str) -> int:
    """Whoever works there would suddenly stand elsewhere; of others' the system tells nothing."""
    real = os.path.realpath(path) + os.sep
    places = ((pid, read_directory(pid)) for pid in sorted(list_pids()))
    return next((pid for pid, place in places if f"{place}{os.sep}".startswith(real)), 0)


def move_worktree(root: str, each: OldWorktree) -> None:
    """With everything in it, committed or not; what a crash left of that is done by a second call.

    From then on it is the worktree of its run, as if porch had made it, but never taken back.
    """
    common = worktrees.require_common_dir(root)
    repository.add_local_excludes(common, ("/worktrees/",))
    os.makedirs(os.path.join(root, "worktrees"), exist_ok=True)
    with lock_worktrees(common):
        if not os.path.lexists(os.path.join(root, each.new_path)):
            _record_worktree(root, each)
            crash_points.reach_point("migrate.worktree-recorded")
            try:
                run_git(root, "worktree", "move", each.path, each.new_path)
            except PorchError:
                remove_record(find_project(root), each.new_branch)
                raise
        else:
            run_git(root, "worktree", "repair", each.new_path)
        crash_points.reach_point("migrate.worktree-moved")
        if repository.resolve_commit(root, f"refs/heads/{each.new_branch}") is None:
            run_git(root, "branch", "-m", each.branch, each.new_branch)
    crash_points.reach_point("migrate.branch-renamed")


def _record_worktree(root: str, each: OldWorktree) -> None:
    where = find_project(root)
    heads = (f"refs/heads/{branch}" for branch in (each.branch, each.new_branch))
    base = next(filter(None, (repository.resolve_commit(root, head) for head in heads)), "")
    record = WorktreeRecord(
        name=each.new_branch,
        run=each.run,
        branch=each.new_branch,
        base=base,
        is_ready=True,
        was_there=True,
    )
    keep_record(where, take_port_block(where, record))


def clean_worktree(root: str, each: OldWorktree) -> str:
    """Remove it; what is uncommitted and where its branch stood stay reachable, and are named."""
    worktrees.remove_worktree(root, os.path.join(root, each.path), None)
    name = os.path.basename(each.path)
    kept = [f"branch {each.branch}"] if each.branch else []
    refs = (f"{SALVAGE}{name}", f"{worktrees.ARCHIVE}{name}")
    kept += [ref for ref in refs if repository.resolve_commit(root, ref)]
    return ", ".join(kept)
