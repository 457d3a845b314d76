"""A look at all runs of a project that costs a stat each: what changed since the look before."""

from __future__ import annotations

import os

from porch.store import run_drivers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Size and time of the journal, and whether somebody drives the run.
RunLook = tuple[int, int, bool]


def look_at_runs(runs: str, known: Mapping[str, RunLook]) -> dict[str, RunLook]:
    """Of each run its journal, and whether somebody drives it; `known` is what was seen before.

    Locks are asked of runs that were driven or have a new record, which are few. A driver that
    comes writes a record. So who was alone and has none is alone.
    """
    sizes = _list_journal_sizes(runs)
    asked = [
        name
        for name, size in sizes.items()
        if (old := known.get(name)) is None or old[2] or old[:2] != size
    ]
    drivers = run_drivers.find_drivers(runs, asked)
    driven = {name for name, driver in drivers.items() if driver.is_moving}
    return {name: (*size, name in driven) for name, size in sizes.items()}


def _list_journal_sizes(runs: str) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    try:
        names = os.listdir(runs)
    except OSError:
        return found
    for name in names:
        try:
            known = os.stat(f"{runs}/{name}/journal.jsonl", follow_symlinks=False)
        except OSError:
            continue
        found[name] = (known.st_size, known.st_mtime_ns)
    return found
