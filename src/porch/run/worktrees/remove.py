"""Removing the worktree of a run that is over: first everything is kept, then it goes.

After a crash the same call goes on: what is kept stays kept, and what is gone is passed over.
"""

import os
import shlex
from contextlib import suppress

from msgspec import Struct

from porch.errors import BusyError, OutsideError, UsageError
from porch.git import git_directory, repository, worktrees
from porch.git.command import run_git
from porch.git.moves.checkout_move import worktree_moved_error
from porch.machine.state import RunState
from porch.run.worktrees.keep_work import KeptBranch, keep_branch, refuse_unsaved_submodules
from porch.run.worktrees.make import lock_worktree_name
from porch.store.lock import read_lock_holder
from porch.store.removed_worktrees import RemovedPlace, note_removed_place, read_removed_place
from porch.store.run_names import unique_word
from porch.store.where import ProjectPaths
from porch.store.worktree_records import list_placed, read_record, remove_record
from porch.system import crash_points


class RemovedWorktree(Struct, frozen=True):
    """What is gone, and where its work is now."""

    path: str
    branch: str
    kept: KeptBranch
    was_there: bool = True
    resume: str = ""  # how a stopped run goes on, which then has its worktree again

    def describe(self) -> list[str]:
        """What a person reads: all that is kept, and where."""
        gone = "removed" if self.was_there else "was gone already"
        told = [f"worktree {self.path}: {gone}"]
        if self.kept.salvaged:
            names = ", ".join(self.kept.salvaged[:5])
            more = ", ..." if len(self.kept.salvaged) > 5 else ""
            told.append(f"not committed until now, and kept: {names}{more}")
        if self.kept.ref:
            told.append(f"branch {self.branch}: kept as {self.kept.name}")
        elif self.kept.merged_into:
            told.append(f"branch {self.branch}: deleted; {self.kept.merged_into} has its commits")
        if self.resume:
            told.append(f"the run is stopped; `{self.resume}` makes its worktree again")
        return told


def remove_run_worktree(where: ProjectPaths, state: RunState) -> RemovedWorktree:
    """Remove the worktree and the branch that porch made for a run; refused while the run lives."""
    run = state.run
    if not run.own_worktree:
        raise UsageError(
            f"{run.name} has no worktree of its own: it works in a checkout of yours",
            fix="nothing has to be removed",
            code="no-own-worktree",
        )
    refuse_live(where, state)
    path = os.path.normpath(os.path.join(where.base, run.worktree))
    return remove_worktree(where, state, path, run.branch)


def remove_worktree(
    where: ProjectPaths, state: RunState, path: str, branch: str
) -> RemovedWorktree:
    """One worktree of a run and its branch, whether both are there or a crash left one of them."""
    name = os.path.basename(path)
    with lock_worktree_name(where, name):
        placed = list_placed(read_record(where, name), path)
        return _remove(where, state, path, branch, placed)


def refuse_live(where: ProjectPaths, state: RunState) -> None:
    run = state.run
    holder = read_lock_holder(os.path.join(where.run_dir(run.name), "lock"))
    if holder is not None:
        raise BusyError(
            f"{run.name} is being worked on ({holder.what}, pid {holder.pid})",
            fix=f"stop it first: porch stop {run.name}",
            code="run-busy",
        )
    if not state.outcome and not state.paused:
        raise BusyError(
            f"{run.name} has not ended; its worktree is needed",
            fix=f"finish it with `porch resume {run.name}`, or stop it: porch stop {run.name}",
            code="run-live",
        )


def _remove(
    where: ProjectPaths, state: RunState, path: str, branch: str, placed: tuple[str, ...]
) -> RemovedWorktree:
    repo, was_there = where.base, os.path.lexists(path)
    here = worktrees.find_worktree(worktrees.list_worktrees(repo)[1:], path)
    _require_removable(where, path, here, branch)
    worktrees.delete_directory(path + worktrees.ASIDE)
    if was_there:
        refuse_unsaved_submodules(path)
    delivery = state.run.delivery
    into = (delivery.into if delivery else "") or state.run.into
    kept = keep_branch(repo, path, branch, placed, into)
    resume = "" if state.outcome else _note_for_resume(where, state, path, kept)
    crash_points.reach_point("worktree.after-archive")
    if os.path.lexists(path):
        os.rename(path, path + worktrees.ASIDE)
    crash_points.reach_point("worktree.after-aside")
    worktrees.delete_directory(path + worktrees.ASIDE)
    worktrees.deregister_worktree(repo, here)
    with suppress(OSError):
        os.rmdir(os.path.dirname(path))  # only an empty one goes
    crash_points.reach_point("worktree.after-remove")
    _delete_branch(repo, branch, kept)
    remove_record(where, os.path.basename(path))
    return RemovedWorktree(path, branch, kept, was_there, resume)


def _note_for_resume(where: ProjectPaths, state: RunState, path: str, kept: KeptBranch) -> str:
    """A stopped run may go on, and then from here: its branch goes, and an archive may be older."""
    run = state.run
    directory = where.run_dir(run.name)
    # After a crash the directory may be gone, and with it what was not committed there.
    if kept.commit and (os.path.lexists(path) or read_removed_place(directory) is None):
        note_removed_place(directory, RemovedPlace(kept.commit, kept.name, path))
    return f"af resume {unique_word(where.names(), run.name, run.id)}"


def _require_removable(
    where: ProjectPaths, path: str, here: worktrees.RegisteredWorktree | None, branch: str
) -> None:
    if os.path.lexists(path) and here is None:
        raise worktree_moved_error(path, branch, "is not a worktree that porch can remove")
    if here is not None and not here.half_made:
        _require_own_git_file(where, path)
    known = git_directory.list_linked_worktrees(worktrees.require_common_dir(where.base))
    real = os.path.realpath(path)
    locked = next((w.locked for w in known if os.path.realpath(w.path) == real), "")
    if locked and locked != worktrees.HALF_MADE:
        raise OutsideError(
            f"the worktree {path} is locked: {locked}",
            fix=f"git worktree unlock {path}",
            code="worktree-locked",
        )
    for each in worktrees.list_worktrees(where.base):
        if each.branch == branch and os.path.realpath(each.path) != real:
            raise OutsideError(
                f"the branch {branch} is checked out in {each.path}",
                fix=f"switch {each.path} to another branch, then try again",
                code="branch-in-use",
            )


def _require_own_git_file(where: ProjectPaths, path: str) -> None:
    """Without it git speaks of the checkout around the worktree, and the work would be lost."""
    found = git_directory.find_git_directory(path) if os.path.isdir(path) else None
    if os.path.lexists(path) and (found is None or found.own == found.common):
        raise OutsideError(
            f"the file .git of the worktree {path} is gone, so git cannot tell what is in it",
            fix=f"bring it back: git -C {shlex.quote(where.base)} worktree repair; then try again",
            code="worktree-moved",
        )


def _delete_branch(repo: str, branch: str, kept: KeptBranch) -> None:
    head = repository.resolve_commit(repo, f"refs/heads/{branch}")
    if head is not None and (kept.ref or kept.merged_into):
        # The head is the fence: a branch that has moved since is not deleted.
        run_git(repo, "update-ref", "-d", f"refs/heads/{branch}", head)
