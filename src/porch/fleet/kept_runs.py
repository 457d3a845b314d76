"""The runs of projects for whoever looks again and again, such as the dashboard and the inbox.

The runs are kept until a journal or a driver is another: reading a thousand rows takes a tenth of a
second, and looking whether one is another takes a hundredth of that.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from porch.fleet.fleet_rows import ProjectRuns, find_other_projects, select_rows
from porch.store import run_drivers
from porch.store.where import ProjectPaths

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import FleetRowShape

# Size and time of the journal, and whether somebody drives the run.
RunLook = tuple[int, int, bool]
# What the texts of a row depend on: the day, each run, and the locks of those that are driven.
_Seen = tuple[date, Mapping[str, RunLook], Sequence[int]]


def name_projects(where: ProjectPaths, environ: Mapping[str, str]) -> dict[str, ProjectPaths]:
    """Each under the name of its directory; a second one of that name gets a number."""
    others = find_other_projects(where, environ)
    named: dict[str, ProjectPaths] = {}
    for name, found in [(os.path.basename(where.root), where), *others]:
        number = 1
        while (key := name if number == 1 else f"{name}-{number}") in named:
            number += 1
        named[key or "project"] = found
    return named


class KnownRuns(Struct, frozen=True):
    """Rows in the order of the table, questions, and what is wrong with single runs."""

    rows: "Sequence[FleetRowShape]"
    decisions: Sequence[Any]
    troubles: Sequence[str]
    records: Mapping[str, int]  # of each run, how many its journal has
    numbers: Sequence[str]


class RunsOfProjects:
    """What was read last of each project."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Seen, KnownRuns]] = {}

    def read(self, key: str, where: ProjectPaths, label: str) -> KnownRuns:
        """Looks first and reads then: what is written in between is read by the next one."""
        known = self._known.get(key)
        seen = _look(where, known[0][1] if known else {})
        if known is None or known[0] != seen:
            known = seen, _read_runs(where, label)
            self._known[key] = known
        return known[1]


def _look(where: ProjectPaths, known: Mapping[str, RunLook]) -> _Seen:
    runs = os.path.join(where.state_dir, "runs")
    found = look_at_runs(runs, known)
    driven = [f"{runs}/{name}/lock" for name, look in found.items() if look[2]]
    today = datetime.now().astimezone().date()
    return today, found, [_last_change(path) for path in driven]


def _last_change(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    return 0


def _read_runs(where: ProjectPaths, label: str) -> KnownRuns:
    found = ProjectRuns(where, label, "decisions")
    return KnownRuns(
        rows=select_rows(found.rows, False),
        decisions=found.decisions(),
        troubles=[trouble.findings[0].message for trouble in found.troubles],
        records=found.records,
        numbers=[
            f"{row['run']}:{found.records[row['run']]}:{row['driver'] is not None}"
            for row in found.rows
        ],
    )


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
