"""What all requests share: the projects, who may look, what was shown, and what is happening.

The runs are kept until a journal or a driver is another: reading a thousand rows takes a tenth of a
second, and looking whether one is another takes a hundredth of that.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from msgspec import Struct

from porch.fleet.fleet_rows import ProjectRuns, select_rows
from porch.show.graph.walked_ways import WalkCount
from porch.store.where import ProjectPaths
from porch.web.server.access.peers import Peers
from porch.web.server.access.sessions import Sessions
from porch.web.server.changes import ChangeFeed, RunLook, look_at_runs
from porch.web.server.measured_work import MeasuredWork
from porch.web.server.shown_files import ShownFiles

# What the texts of a row depend on: the day, each run, and the locks of those that are driven.
_Seen = tuple[date, Mapping[str, RunLook], Sequence[int]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")


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


class Dashboard:
    """One server. `is_closing` ends the streams that would otherwise stay open for ever."""

    def __init__(
        self,
        projects: Mapping[str, ProjectPaths],
        port: int,
        sessions: Sessions | None = None,
        as_person: bool = False,
    ) -> None:
        self.projects = projects
        self.port = port
        self.sessions = sessions or Sessions()
        self.peers = Peers()
        self.shown = ShownFiles()
        self.changes = ChangeFeed(projects)
        self.work = MeasuredWork(projects)
        self.runs = RunsOfProjects()
        self._notes: dict[str, str] = {}
        # Of runs at work, the number of the record at which their phases were read, and these.
        self.phases: dict[tuple[str, str], tuple[int, list[tuple[str, str]]]] = {}
        # Of runs whose graph was looked at, which ways they went; read on from where it ended.
        self.walks: dict[tuple[str, str], WalkCount] = {}
        self.walk_lock = threading.Lock()
        self.as_person = as_person
        self.is_closing: Callable[[], bool] = lambda: False
        # Browsers keep cookies by host alone, and two dashboards may run on one.
        self.cookie = f"porch-{port}"
        self.hosts = frozenset(
            f"{f'[{host}]' if ':' in host else host}:{port}" for host in LOOPBACK
        )

    @property
    def has_several(self) -> bool:
        """Whether a page must say of which project it speaks."""
        return len(self.projects) > 1

    def now(self) -> datetime:
        return datetime.now(UTC)

    def note(self, run: str, what: str) -> None:
        """Something that went wrong behind an answer; the inbox tells it until it is over."""
        self._notes[run] = what

    def forget_note(self, run: str) -> None:
        self._notes.pop(run, None)

    def notes(self) -> list[str]:
        return [f"{run}: {what}" for run, what in self._notes.items()]
