"""The set-up of a worktree that was made again: what was copied, linked or built in the first."""

import os

from msgspec.structs import replace

from porch.git import worktrees
from porch.git.worktree_lock import lock_worktrees
from porch.machine.state import Run
from porch.run.engine.run_places import mark_of
from porch.run.settings import load_settings
from porch.run.worktrees import placed_files, setup_commands
from porch.run.worktrees.make import Notice, stamp_set_up
from porch.run.worktrees.names import DIRECTORY
from porch.store.where import ProjectPaths
from porch.store.worktree_records import (
    WorktreeRecord,
    keep_record,
    read_record,
    take_port_block,
)


def set_up_again(where: ProjectPaths, path: str, run: Run, base: str, notice: Notice) -> None:
    """Place the files and run the commands; if that fails, the directory goes and its branch stays.

    Whoever tries again then begins anew, and finds no worktree that only looks ready.
    """
    known = load_settings(where.root, trust=run.trust)
    try:
        record = _keep_ports(where, path, run, base)
        told: list[str] = []
        source = where.workspace if where.is_bare else where.root
        placed = placed_files.place_files(source, path, known, told)
        for note in told:
            notice(note)
        keep_record(where, replace(record, placed=placed, is_ready=True))
        log = os.path.join(where.state_dir, DIRECTORY, f"{record.name}.log")
        mark = mark_of(where, run.name)
        setup_commands.run_setup_commands(path, known, record.port_base, mark=mark, log=log)
        written = stamp_set_up(path, known, placed)
        keep_record(where, replace(record, placed=placed, is_ready=True, set_up=written))
    except BaseException:
        here = worktrees.find_worktree(worktrees.list_worktrees(where.base), path)
        worktrees.delete_directory(path)
        worktrees.deregister_worktree(where.base, here)
        raise


def _keep_ports(where: ProjectPaths, path: str, run: Run, base: str) -> WorktreeRecord:
    """Those that it had, unless they went with it."""
    name = os.path.basename(path)
    known = read_record(where, name)
    if known is not None:
        return known
    began = run.base_commit or base
    wanted = WorktreeRecord(name=name, run=run.name, branch=run.branch, base=began, into=run.into)
    with lock_worktrees(worktrees.require_common_dir(where.base)):
        record = take_port_block(where, wanted)
        keep_record(where, record)
    return record
