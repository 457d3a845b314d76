"""What all requests share: the projects, who may look, what was shown, and what is happening.

The work behind a question is measured beside the request, which waits for a moment only: what is
not measured by then is not said, and the next request has it. Nothing older than a few seconds is
shown, because files change without a record. What pages have shown of files is kept for a while:
whoever comes too late is told what is different.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from difflib import unified_diff
from typing import TYPE_CHECKING

from porch.errors import PorchError
from porch.fleet.drivers.revive import GONE, revive_runs
from porch.fleet.fleet_rows import ProjectRuns, RunsOfProjects
from porch.run.decisions.asked_files import AskedFiles
from porch.run.decisions.decision_evidence import measure_work
from porch.run.verbs.read_run import read_run
from porch.show.cost import make_cost_data
from porch.store.where import ProjectPaths
from porch.web.pages.decision_cards import AskedQuestion, KnownWork
from porch.web.server.access.peers import Peers
from porch.web.server.access.sessions import Sessions
from porch.web.server.changes import ChangeFeed

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    pass

_MOST_SHOWN = 50
_LARGEST_SHOWN = 1_000_000
_LONGEST_DIFF = 20_000

OLDEST_S = 20.0
LONGEST_WAIT_S = 0.4
_THREADS = 2
_MOST_KEPT = 500

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ShownFiles:
    """The last few versions that somebody looked at, by their digest."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, AskedFiles] = OrderedDict()

    def keep(self, shown: AskedFiles) -> None:
        if sum(len(each.text) for each in shown.files) > _LARGEST_SHOWN:
            return
        self._known[shown.digest] = shown
        self._known.move_to_end(shown.digest)
        while len(self._known) > _MOST_SHOWN:
            self._known.popitem(last=False)

    def describe_moves(self, digest: str, now: AskedFiles) -> list[tuple[str, str]]:
        """Each file that is different now, with its lines; empty if what was shown is not known."""
        then = self._known.get(digest)
        return list(_compare(then, now)) if then else []


def _compare(then: AskedFiles, now: AskedFiles) -> Iterator[tuple[str, str]]:
    before = {each.path: each for each in then.files}
    for each in now.files:
        old = before.get(each.path)
        if old is None or old.digest != each.digest:
            lines = unified_diff(
                (old.text if old else "").splitlines(),
                each.text.splitlines(),
                f"{each.path} (as it was shown)",
                f"{each.path} (now)",
                lineterm="",
                n=2,
            )
            yield (
                each.path,
                "\n".join(lines)[:_LONGEST_DIFF] or each.trouble or "it has other bytes",
            )


class MeasuredWork:
    """The last measurements, each with the instant at which it was made."""

    def __init__(
        self, projects: Mapping[str, ProjectPaths], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._projects = projects
        self._clock = clock
        self._known: dict[AskedQuestion, tuple[float, KnownWork]] = {}
        self._begun: dict[AskedQuestion, Future[None]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, "measure")

    def find(self, asked: Iterable[AskedQuestion]) -> dict[AskedQuestion, KnownWork]:
        """What is known of these; of the others it is known soon."""
        wanted = list(asked)
        self._measure([each for each in wanted if not self._is_young(each)])
        return {each: self._known[each][1] for each in wanted if self._is_young(each)}

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _is_young(self, asked: AskedQuestion) -> bool:
        known = self._known.get(asked)
        return known is not None and self._clock() - known[0] < OLDEST_S

    def _measure(self, wanted: list[AskedQuestion]) -> None:
        for each in wanted:
            if each not in self._begun:
                self._begun[each] = self._threads.submit(self._look, each)
        if wanted:
            wait([self._begun[each] for each in wanted if each in self._begun], LONGEST_WAIT_S)
        self._begun = {each: begun for each, begun in self._begun.items() if not begun.done()}

    def _look(self, asked: AskedQuestion) -> None:
        while len(self._known) >= _MOST_KEPT:
            self._known.pop(next(iter(self._known)), None)
        try:
            self._known[asked] = (self._clock(), _read_work(self._projects[asked.project], asked))
        except PorchError:
            self._known.pop(asked, None)  # its own page says what is wrong


def _read_work(where: ProjectPaths, asked: AskedQuestion) -> KnownWork:
    run = read_run(where, asked.run)
    decision = run.state.decisions.get(asked.position)
    protocol = run.definition.protocol
    work = measure_work(where, protocol, run.state, decision) if decision else None
    return KnownWork(work, make_cost_data(protocol, run.state))


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
        self.changes = ChangeFeed(projects, self.start_lost_drivers)
        self.work = MeasuredWork(projects)
        self.runs = RunsOfProjects()
        self._notes: dict[str, str] = {}
        # Of runs at work, the number of the record at which their phases were read, and these.
        self.phases: dict[tuple[str, str], tuple[int, Sequence[tuple[str, str, str]]]] = {}
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

    def start_lost_drivers(self, projects: Iterable[str]) -> None:
        """Of runs that were kicked off and have nobody; the inbox says what became of them."""
        for key in projects:
            where = self.projects[key]
            try:
                revived = revive_runs(where, ProjectRuns(where, "").alone)
            except PorchError as error:
                self.note(key, f"a driver that is gone could not be started again: {error}")
                continue
            for name in revived.started:
                self.note(name, f"{GONE} at {self.now().astimezone():%H:%M}")
            for name, note in revived.failed.items():
                self.note(name, note)

    def notes(self) -> list[str]:
        return [f"{run}: {what}" for run, what in self._notes.items()]
