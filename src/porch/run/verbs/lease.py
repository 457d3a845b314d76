"""One live run in one checkout: two of them would take each other's files for their own work.

A small file beside the runs says which run works in a checkout. It only says where to look: whether
that run still lives is read from its journal. Runs that have worktrees for their instances, and
plans, which nobody drives, lease nothing.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator

from porch.errors import BusyError, StateError
from porch.machine.budgets import DRIVERLESS
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.run.engine.folded_journal import JournalReader
from porch.run.engine.run_places import workspace_of
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.regular_file import open_regular
from porch.text.sha256 import sha256


@contextlib.contextmanager
def lease_of_run(where: ProjectPaths, run: str, protocol: Protocol) -> Iterator[None]:
    """Lease the checkout `where.workspace` for a run; exit 4 if another live run works in it.

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
            _refuse_if_live(where, holder, run)
            atomic.replace_file(path, run.encode(), sync=False)
        yield


def refuse_leased_checkout(where: ProjectPaths, run: str, protocol: Protocol) -> None:
    """The same refusal before anything is written for the new run."""
    if not protocol.spec and protocol.subject not in DRIVERLESS:
        _refuse_if_live(where, find_leaseholder(where), run)


def find_leaseholder(where: ProjectPaths) -> str:
    """The live run that works in this checkout; empty if there is none."""
    holder = _read_holder(_lease_path(where))
    return holder if holder and _read_live_state(where, holder) else ""


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


def _read_live_state(where: ProjectPaths, name: str) -> RunState | None:
    """Nobody drives a run whose journal cannot be read, so it holds nothing."""
    if os.sep in name or not where.has_begun(name):
        return None
    try:
        state = JournalReader(where.run_dir(name), name).fold().state
    except StateError:
        return None
    here, there = os.path.realpath(where.workspace), os.path.realpath(workspace_of(where, state))
    is_live = not state.outcome and not state.paused and here == there
    return state if is_live else None


def _refuse_if_live(where: ProjectPaths, holder: str, run: str) -> None:
    is_live = bool(holder) and holder != run and _read_live_state(where, holder) is not None
    if not is_live:
        return
    others = (
        f"finish the other one first (`porch status {holder}`), or stop it: porch stop {holder}"
    )
    is_new = not where.has_begun(run)
    apart = "give the new run a worktree of its own with --worktree; or "
    raise BusyError(
        f"the run {holder} works in {where.workspace}, and it has not ended",
        fix=(apart if is_new and where.common_dir else "") + others,
        code="checkout-leased",
    )
