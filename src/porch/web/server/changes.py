"""What has changed since somebody looked: the journals of all runs, by their sizes and numbers.

One look serves all pages that are open, and nobody looks while none is. Whoever looks also notices
that a driver has gone, so that the dashboard can start it again.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping

from starlette.concurrency import run_in_threadpool

from porch.agents.transcripts import TRANSCRIPT_FILE
from porch.store.run_looks import look_at_runs
from porch.store.where import ProjectPaths

EVERY_S = 0.25
RunKey = tuple[str, str]
# Size and time of the journal, whether somebody drives the run, and how much its agents have said.
Stamp = tuple[int, int, bool, int]
# Told the keys of projects of which a run may have lost its driver.
OnAlone = Callable[[Collection[str]], None]


class ChangeFeed:
    """The stamps of all runs; whoever waits is woken when any of them is another."""

    def __init__(
        self, projects: Mapping[str, ProjectPaths], on_alone: OnAlone = lambda _projects: None
    ) -> None:
        self._projects = projects
        self._on_alone = on_alone
        self._first: asyncio.Task[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._listeners: set[asyncio.Event] = set()
        self.stamps: Mapping[RunKey, Stamp] = {}

    async def listen(self) -> AsyncIterator[Mapping[RunKey, Stamp]]:
        """The stamps: at every change others, and the same about four times a second."""
        woken = asyncio.Event()
        self._listeners.add(woken)
        try:
            # Nothing may be awaited between the question and the new task: pages that open at the
            # same time would each start one.
            if self._first is None or self._task is None or self._task.done():
                self._first = asyncio.create_task(self._look_once())
                self._task = asyncio.create_task(self._look_on(self._first))
            await asyncio.shield(self._first)
            while True:
                yield self.stamps
                try:
                    await asyncio.wait_for(woken.wait(), EVERY_S)
                except TimeoutError:
                    continue
                woken.clear()
        finally:
            self._listeners.discard(woken)

    async def _look_on(self, first: asyncio.Task[None]) -> None:
        """Ends by itself when the last page is closed."""
        await first
        await run_in_threadpool(self._on_alone, tuple(self._projects))
        while self._listeners:
            await asyncio.sleep(EVERY_S)
            before = self.stamps
            await self._look_once()
            left = {key[0] for key, known in before.items() if known[2] and not self._driven(key)}
            if left:
                await run_in_threadpool(self._on_alone, left)

    async def _look_once(self) -> None:
        found = await run_in_threadpool(self._look)
        if found != self.stamps:
            self.stamps = found
            for woken in self._listeners:
                woken.set()

    def _driven(self, key: RunKey) -> bool:
        return key in self.stamps and self.stamps[key][2]

    def _look(self) -> dict[RunKey, Stamp]:
        found: dict[RunKey, Stamp] = {}
        for key, where in self._projects.items():
            runs = os.path.join(where.state_dir, "runs")
            known = {name: stamp[:3] for (of, name), stamp in self.stamps.items() if of == key}
            for name, seen in look_at_runs(runs, known).items():
                said = measure_transcripts(f"{runs}/{name}") if seen[2] else 0
                found[key, name] = (*seen, said)
        return found


def measure_transcripts(run: str) -> int:
    """How long everything is that agents of a run have said; it grows while they work."""
    total = 0
    for directory, _, names in os.walk(os.path.join(run, "turns")):
        if TRANSCRIPT_FILE in names:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(directory, TRANSCRIPT_FILE)).st_size
    return total
