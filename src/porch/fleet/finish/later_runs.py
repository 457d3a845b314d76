"""Runs that came later into the checkout of a run: where their work begins, its work ends.

A checkout has one run at a time. The next one measures all files when it begins, and those are the
files with which the one before left it. So what two runs did can be told apart as long as one began
after the other had ended.
"""

import os

from msgspec import Struct

from porch.errors import StateError
from porch.machine.state import RunState
from porch.run.engine.folded_journal import JournalReader
from porch.run.engine.run_places import workspace_of
from porch.store.journal import scan_journal
from porch.store.run_names import DRIVERLESS
from porch.store.where import ProjectPaths
from porch.system.clock import parse_instant

# After these the work of a run is in a commit.
SETTLED = ("merged", "squashed", "committed")


class LaterRun(Struct, frozen=True):
    """Another run in the same checkout, whose work porch has not committed.

    `base` are the files with which it began. If it `overlaps`, one of the two worked both before
    and after the other.
    """

    name: str
    id: str
    base: str
    began: str
    overlaps: bool


def find_later_run(where: ProjectPaths, state: RunState) -> LaterRun | None:
    """The first one; None if there is none."""
    run = state.run
    if not run.started_at:
        return None
    # Who wrote nothing since this run began has done nothing here since then.
    since = parse_instant(run.started_at).timestamp()
    others = [n for n in where.runs() if n != run.name and not n.startswith(DRIVERLESS)]
    recent = [name for name in others if _last_change(where, name) >= since]
    found = (_read_other(where, state, name) for name in recent)
    later = sorted((each for each in found if each), key=lambda each: parse_instant(each.began))
    return later[0] if later else None


def _last_change(where: ProjectPaths, name: str) -> float:
    try:
        return os.stat(os.path.join(where.run_dir(name), "journal.jsonl")).st_mtime
    except OSError:
        return 0.0


def _read_other(where: ProjectPaths, mine: RunState, name: str) -> LaterRun | None:
    try:
        state = JournalReader(where.run_dir(name), name).fold().state
    except StateError:
        return None  # nobody knows what it did, and nobody can finish it
    run = state.run
    places = [os.path.realpath(workspace_of(where, each)) for each in (mine, state)]
    is_settled = run.delivery is not None and run.delivery.how in SETTLED
    is_plain = bool(run.base and run.started_at) and not (run.own_worktree or state.instances)
    if places[0] != places[1] or is_settled or not is_plain:
        return None
    is_older = parse_instant(run.started_at) < parse_instant(mine.run.started_at)
    older, since = (name, mine.run.started_at) if is_older else (mine.run.name, run.started_at)
    overlaps = _was_driven_since(where, older, since)
    if is_older and not overlaps:
        return None
    return LaterRun(name, run.id or name, run.base, run.started_at, overlaps)


def _was_driven_since(where: ProjectPaths, name: str, instant: str) -> bool:
    """Whether somebody went on with it, as after a stop."""
    since = parse_instant(instant)
    records = scan_journal(os.path.join(where.run_dir(name), "journal.jsonl")).records
    drives = (r["at"] for r in records if r["fact"]["is"] == "RunnerStarted")
    return any(parse_instant(at) > since for at in drives)
