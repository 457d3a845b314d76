"""Finds long tests that reach no line or branch that cheaper ones do not reach.

`make check` does not measure those (`tests/measured.py`): measuring doubles what a test costs. They
are run all the same. `make redundant` makes the list anew, with every test measured:

    PORCH_MEASURE=all coverage run -m pytest -p tools.redundant_tests ...
    python -m tools.redundant_tests
"""

import glob
import json
import os
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import coverage
import pytest

LIST = Path(__file__).resolve().parent.parent / "tests" / "not_measured.txt"
# Where each process of the tests notes what its tests reached.
NOTES = LIST.parent.parent / "build" / "reached"
# To list a test that takes less would save nothing.
_LONG_S = 0.05
_HEADER = "# Made by `make redundant`: long tests that reach no line that cheaper ones do not.\n"
_numbers: dict[str, int] = {}
_notes: list[IO[str]] = []


class Reached(NamedTuple):
    """A test function with all its cases: what they cost together, and each step they took."""

    name: str
    cost_s: float
    steps: frozenset[str]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    began = time.process_time()
    try:
        return (yield)
    finally:
        cost, name = time.process_time() - began, item.nodeid.partition("@")[0]
        new, numbers = _take_steps()
        print(json.dumps([name.partition("[")[0], cost, new, numbers]), file=_open_notes())


def _take_steps() -> tuple[list[str], list[int]]:
    """Steps that have no number yet in this process, and the numbers of all that were taken."""
    known = coverage.Coverage.current()
    collector = known._collector if known else None  # noqa: SLF001 - nothing public tells while it runs
    new, numbers = list[str](), list[int]()
    for file, steps in dict(collector.data if collector else {}).items():
        for step in list(steps):
            name = f"{file}:{step}"
            if name not in _numbers:
                _numbers[name] = len(_numbers)
                new.append(name)
            numbers.append(_numbers[name])
        # Whoever traces goes on with the same set, so it is emptied and not replaced.
        steps.clear()
    return new, numbers


def _open_notes() -> IO[str]:
    if not _notes:
        NOTES.mkdir(parents=True, exist_ok=True)
        _notes.append((NOTES / f"{os.getpid()}.jsonl").open("a", buffering=1))
    return _notes[0]


def read_notes(paths: Iterable[str]) -> list[Reached]:
    """Each test function, whichever processes ran its cases."""
    costs, steps = dict[str, float](), dict[str, set[str]]()
    for path in paths:
        for name, cost, taken in _read_process(path):
            costs[name] = costs.get(name, 0.0) + cost
            steps.setdefault(name, set()).update(taken)
    return [Reached(name, costs[name], frozenset(taken)) for name, taken in steps.items()]


def _read_process(path: str) -> Iterator[tuple[str, float, list[str]]]:
    names: list[str] = []
    with Path(path).open() as file:
        for line in file:
            name, cost, new, numbers = json.loads(line)
            names += new
            yield name, cost, [names[number] for number in numbers]


def find_redundant(rows: list[Reached]) -> list[str]:
    """Long functions without which the others take every step; the dearest go first."""
    takers = Counter(step for row in rows for step in row.steps)
    found = []
    for row in sorted(rows, key=lambda row: -row.cost_s):
        if row.cost_s >= _LONG_S and all(takers[step] > 1 for step in row.steps):
            takers.subtract(row.steps)
            found.append(row.name)
    return sorted(found)


if __name__ == "__main__":
    names = find_redundant(read_notes(glob.glob(str(NOTES / "*.jsonl"))))
    LIST.write_text(_HEADER + "".join(f"{name}\n" for name in names))
