"""One run in one checkout: two of them would take each other's files for their own work.

A small file beside the runs says which run works in a checkout. It only says where to look: whether
that run still has it is read from its journal. A complete run has it until its work is finished, or
until a person has committed that work or thrown it away. Runs that have worktrees for their
instances, and plans, which nobody drives, lease nothing.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator

from msgspec import Struct

from porch.errors import BusyError, PorchError, StateError
from porch.machine.budgets import DRIVERLESS
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.run.engine.folded_journal import JournalReader
from porch.run.engine.run_places import list_own_paths, tree_room, workspace_of
from porch.store.run_names import unique_word
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.clock import parse_instant
from porch.system.regular_file import open_regular
from porch.text.sha256 import sha256

_NAMED = 5


@contextlib.contextmanager
def lease_of_run(where: ProjectPaths, run: str, protocol: Protocol) -> Iterator[None]:
    """Lease the checkout `where.workspace` for a run; exit 4 if another run has it.

    Whoever begins a run writes its first record inside, so that of two who begin at once only one
    finds the checkout free.
    """
    if protocol.spec or protocol.subject in DRIVERLESS:
        yield
        return
    path = _lease_path(where)
    atomic.ensure_directory(os.path.dirname(path))
    with open(f"{path}.lock", "a", encoding="ascii", opener=open_regular) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        holder = _read_holder(path)
        if holder != run:
            _refuse_if_held(where, holder, run)
            atomic.replace_file(path, run.encode(), sync=False)
        yield


def refuse_leased_checkout(where: ProjectPaths, run: str, protocol: Protocol) -> None:
    """The same refusal before anything is written for the new run."""
    if not protocol.spec and protocol.subject not in DRIVERLESS:
        _refuse_if_held(where, _read_holder(_lease_path(where)), run)


def _lease_path(where: ProjectPaths) -> str:
    """By the real path: a checkout may be reached through links."""
    place = os.path.realpath(where.workspace).encode("utf-8", "surrogateescape")
    return os.path.join(where.state_dir, "leases", sha256(place).hexdigest()[:20])


def _read_holder(path: str) -> str:
    try:
        with open(path, encoding="utf-8", opener=open_regular) as file:
            return file.read().strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""


class _Hold(Struct, frozen=True):
    """A run that has the checkout; `files` are those that it left there, if it is complete."""

    id: str
    files: tuple[str, ...] = ()


def _find_hold(where: ProjectPaths, name: str) -> _Hold | None:
    """Nobody drives a run whose journal cannot be read, so it holds nothing."""
    if os.sep in name or not where.has_begun(name):
        return None
    try:
        state = JournalReader(where.run_dir(name), name).fold().state
    except StateError:
        return None
    here, there = os.path.realpath(where.workspace), os.path.realpath(workspace_of(where, state))
    if state.paused or here != there:
        return None
    if not state.outcome:
        return _Hold(state.run.id)
    files = _list_unfinished_files(where, state)
    return _Hold(state.run.id, files) if files else None


def _list_unfinished_files(where: ProjectPaths, state: RunState) -> tuple[str, ...]:
    """What a complete run changed and nobody has committed, kept or thrown away since."""
    run = state.run
    # One that was over when it was adopted has done nothing here.
    is_open = state.outcome == "complete" and run.delivery is None and state.seq > 1
    if not (is_open and where.common_dir and run.base):
        return ()
    from porch.git import measured_tree, tree_changes, worktrees

    own, room = list_own_paths(""), tree_room(where.run_dir(run.name))
    try:
        now = measured_tree.measure_tree(where.workspace, own, room)
        changes = tree_changes.list_changed_paths(where.workspace, run.base, now, own)
        left = {*worktrees.list_changed_paths(where.workspace)}
    except PorchError:
        # What cannot be measured cannot be finished either.
        return ()
    over = parse_instant(state.at).timestamp()
    mine = (change.path for change in changes if change.path in left)
    return tuple(path for path in mine if _was_there(where.workspace, path, over))


def _was_there(workspace: str, path: str, over: float) -> bool:
    """Whether a file is as old as the run's end; what a person wrote later is not the run's."""
    try:
        return os.lstat(os.path.join(workspace, path)).st_mtime <= over
    except OSError:
        return True  # deleted, and nobody knows when


def _refuse_if_held(where: ProjectPaths, holder: str, run: str) -> None:
    hold = _find_hold(where, holder) if holder and holder != run else None
    if hold is None:
        return
    is_new = not where.has_begun(run)
    apart = "leave out --here, and the new run has a worktree of its own; or "
    front = apart if is_new and where.common_dir else ""
    if not hold.files:
        raise BusyError(
            f"the run {holder} works in {where.workspace}, and it has not ended",
            fix=f"{front}finish the other one first (`porch status {holder}`), "
            f"or stop it: porch stop {holder}",
            code="checkout-leased",
        )
    names = ", ".join(hold.files[:_NAMED]) + (", ..." if len(hold.files) > _NAMED else "")
    word = unique_word(where.names(), holder, hold.id)
    raise BusyError(
        f"the run {holder} is complete, and its files in {where.workspace} are not committed: "
        f"{names}",
        fix=f"{front}commit them first (porch finish {word} says how), or leave them as they are: "
        f"porch finish {word} --keep",
        code="checkout-leased",
    )
