"""What one durable transition costs, and whether it stays so when a run grows old."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import story
from bench.measure import Result, of_times, seconds

# One round of the story; two runs that are whole rounds apart take the same steps.
ROUND = 123
STEPS = 10 * ROUND
YOUNG = 100
OLD = YOUNG + 81 * ROUND
# The bound was set for a disk that syncs in this time. A faster one makes our own work, which it
# does not change, look like more; so there both of us wait as long as that disk would take.
SYNC_S = 0.000_43


class Bare:
    """The least that durability can cost: append so many bytes, sync.

    `size` is that of the last record: the next is not written yet where this comes first.
    """

    def __init__(self, path: Path):
        self.size = 1000
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append(self, size: int) -> None:
        os.write(self._fd, bytes(size))
        os.fsync(self._fd)


def results(place: Path) -> list[Result]:
    """The transition against the bare append, then the old run against the young one."""
    young, old = _run(place / "young", YOUNG), _run(place / "old", OLD)
    bare = Bare(place / "bare")
    times = [_against_bare(young, bare, bool(step % 2)) for step in range(STEPS)]
    with slow_syncs(SYNC_S):
        slow = [_against_bare(young, bare, bool(step % 2)) for step in range(STEPS)]
    name = "durable transition / append + fsync"
    return [
        of_times(f"{name}, a sync taking {1000 * SYNC_S} ms or more", 2.5, slow),
        of_times(f"{name}, as this disk is", None, times),
        _growth(_run(place / "young-again", YOUNG), old),
    ]


@contextmanager
def slow_syncs(least_s: float) -> Iterator[None]:
    """Every sync of this process takes at least so long, idle as one waits for a disk."""
    real = {name: getattr(os, name) for name in ("fsync", "fdatasync")}
    for name, sync in real.items():
        setattr(os, name, _slow_down(sync, least_s))
    try:
        yield
    finally:
        for name, sync in real.items():
            setattr(os, name, sync)


def _slow_down(sync: Callable[[int], None], least_s: float) -> Callable[[int], None]:
    def wait(fd: int) -> None:
        until = time.perf_counter() + least_s
        sync(fd)
        time.sleep(max(0.0, until - time.perf_counter()))

    return wait


def _run(place: Path, records: int) -> story.Story:
    directory = place / ".git" / "porch" / "runs" / story.RUN
    story.written(str(directory), records)
    return story.reopened(str(place), str(directory))


def _against_bare(run: story.Story, bare: Bare, bare_first: bool) -> tuple[float, float]:
    """One of each; who comes second finds a disk that has just written what others left."""
    fact = run.next_fact()
    before = run.journal.length
    if bare_first:
        reference = seconds(lambda: bare.append(bare.size))
        mine = seconds(lambda: run.record(fact))
        bare.size = run.journal.length - before
        return mine, reference
    mine = seconds(lambda: run.record(fact))
    bare.size = run.journal.length - before
    return mine, seconds(lambda: bare.append(bare.size))


def _growth(young: story.Story, old: story.Story) -> Result:
    name = "transition after 10,000 records / after 100"
    return of_times(name, 1.2, [_both(old, young, bool(step % 2)) for step in range(STEPS)])


def _both(old: story.Story, young: story.Story, young_first: bool) -> tuple[float, float]:
    """One step of each; who goes first changes, so that neither always finds the disk idle."""
    of_old, of_young = old.next_fact(), young.next_fact()
    if type(of_old) is not type(of_young):
        raise RuntimeError(f"the two runs have come apart: {of_old} and {of_young}")
    if young_first:
        later = seconds(lambda: young.record(of_young))
        return seconds(lambda: old.record(of_old)), later
    return seconds(lambda: old.record(of_old)), seconds(lambda: young.record(of_young))
