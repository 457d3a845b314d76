"""What one durable transition costs, and whether it stays so when a run grows old."""

import os
from pathlib import Path

from bench import story
from bench.measure import Result, of_times, seconds

# One round of the story; two runs that are whole rounds apart take the same steps.
ROUND = 123
STEPS = 10 * ROUND
YOUNG = 100
OLD = YOUNG + 81 * ROUND


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
    return [
        of_times("durable transition / append + fsync", 2.5, times),
        _growth(_run(place / "young-again", YOUNG), old),
    ]


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
