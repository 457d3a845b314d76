"""What the inbox knows of the work behind a question: measured beside the request, kept a while.

A request waits for a moment only. What is not measured by then is not said, and the next request
has it. Nothing older than a few seconds is shown, because files change without a record.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait

from porch.errors import PorchError
from porch.run.decisions.decision_evidence import measure_work
from porch.run.verbs.read_run import read_run
from porch.show.cost import make_cost_data
from porch.store.where import ProjectPaths
from porch.web.pages.decision_cards import AskedQuestion, KnownWork

OLDEST_S = 20.0
LONGEST_WAIT_S = 0.4
_THREADS = 2
_MOST_KEPT = 500


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
    work = measure_work(where, run.state, decision) if decision else None
    return KnownWork(work, make_cost_data(run.definition.protocol, run.state))
