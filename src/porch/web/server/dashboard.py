"""What all requests share: the projects, who may look, what was shown, and what is happening."""

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from porch.show.graph.walked_ways import WalkCount
from porch.store.where import ProjectPaths
from porch.web.server.access.peers import Peers
from porch.web.server.access.sessions import Sessions
from porch.web.server.changes import ChangeFeed
from porch.web.server.measured_work import MeasuredWork
from porch.web.server.project_runs import RunsOfProjects
from porch.web.server.shown_files import ShownFiles

LOOPBACK = ("127.0.0.1", "localhost", "::1")


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
