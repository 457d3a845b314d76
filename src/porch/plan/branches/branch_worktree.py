"""A worktree for a branch that is no run's: the same set-up, and the branch may be there already.

As with runs, a record is written first, and what fails is taken back. A branch that was there
before stays as it is.
"""

import os

from msgspec import Struct
from msgspec.structs import replace

from porch.git import repository, worktrees
from porch.git.command import run_git
from porch.git.worktree_lock import lock_worktrees
from porch.run.engine.run_places import mark_of
from porch.run.settings import Settings, load_settings
from porch.run.trust_requests import require_trust
from porch.run.worktrees import checkout_state, free_place, placed_files, setup_commands
from porch.run.worktrees.make import Notice, lock_worktree_name, worktree_path
from porch.run.worktrees.names import DIRECTORY
from porch.store.where import ProjectPaths
from porch.store.worktree_records import (
    WorktreeRecord,
    keep_record,
    list_records,
    remove_record,
    take_port_block,
)
from porch.system import atomic

# How the runs are called that hold plans.
RUN = "plan_"


class BranchPlace(Struct, frozen=True):
    """Where the branch is checked out, and the first of its ports."""

    path: str
    port_base: int


def make_branch_place(
    where: ProjectPaths, branch: str, base: str, *, owner: str, notice: Notice
) -> BranchPlace:
    """Make `worktrees/<name>` on the branch; one that is missing begins at the commit `base`.

    `owner` is the plan or run for which it is made; its processes carry its mark.
    """
    known = load_settings(where.root)
    require_trust(known.untrusted)
    name = branch.replace("/", "-")
    path = worktree_path(where, name)
    head = repository.resolve_commit(where.base, f"refs/heads/{branch}")
    wanted = WorktreeRecord(name=name, run=owner, branch=branch, base=head or base)
    with lock_worktree_name(where, name):
        free_place.require_free_directory(where, path)
        with lock_worktrees(worktrees.require_common_dir(where.base)):
            _forget_removed(where)
            record = take_port_block(where, wanted)
            keep_record(where, record)
        try:
            _fill_place(where, path, record, known, notice)
        except OSError as error:
            _take_back(where, path, record, is_new=head is None)
            raise atomic.disk_error(path, "set up the worktree", error) from error
        except BaseException:
            _take_back(where, path, record, is_new=head is None)
            raise
    return BranchPlace(path, record.port_base)


def _forget_removed(where: ProjectPaths) -> None:
    """Who merges or discards the work removes the worktree, and knows nothing of ports."""
    for record in list_records(where):
        is_gone = not os.path.lexists(worktree_path(where, record.name))
        if is_gone and record.is_ready and record.run.startswith(RUN):
            remove_record(where, record.name)


def _fill_place(
    where: ProjectPaths, path: str, record: WorktreeRecord, known: Settings, notice: Notice
) -> None:
    worktrees.ensure_worktree(where.base, path, record.branch, record.base)
    source = where.workspace if where.is_bare else where.root
    told: list[str] = []
    placed = placed_files.place_files(source, path, known, told)
    placed_files.require_placed(source, path, placed)
    for note in told:
        notice(note)
    log = os.path.join(where.state_dir, DIRECTORY, f"{record.name}.log")
    mark = mark_of(where, record.run)
    setup_commands.run_setup_commands(path, known, record.port_base, mark=mark, log=log)
    checkout_state.require_ready(path, record)
    keep_record(where, replace(record, placed=placed, is_ready=True))


def _take_back(where: ProjectPaths, path: str, record: WorktreeRecord, *, is_new: bool) -> None:
    here = worktrees.find_worktree(worktrees.list_worktrees(where.base), path)
    if here is not None:
        worktrees.delete_directory(path)
    worktrees.deregister_worktree(where.base, here)
    ref = f"refs/heads/{record.branch}"
    # Commits of a set-up command stay on the branch; an empty one is nobody's.
    if is_new and repository.resolve_commit(where.base, ref) == record.base:
        run_git(where.base, "update-ref", "-d", ref, record.base)
    remove_record(where, record.name)
