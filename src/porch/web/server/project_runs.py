"""The runs of the projects as `af status` has them, kept until a journal or a driver is another.

Reading a thousand rows takes a tenth of a second, and looking whether one is another takes a
hundredth of that.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from msgspec import Struct

from porch.fleet.fleet_rows import ProjectRuns, select_rows
from porch.store.where import ProjectPaths
from porch.web.server.changes import RunLook, look_at_runs

# What the texts of a row depend on: the day, each run, and the locks of those that are driven.
_Seen = tuple[date, Mapping[str, RunLook], Sequence[int]]


class KnownRuns(Struct, frozen=True):
    """Rows in the order of the table, questions, and what is wrong with single runs."""

    rows: Sequence[dict[str, Any]]
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
