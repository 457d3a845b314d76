"""Finds long tests that reach no line or branch that shorter ones do not reach.

`make check` does not measure those (`tests/measured.py`): measuring doubles what a test costs. They
are run all the same. `make redundant` makes the list anew, with every test measured:

    PORCH_MEASURE=all coverage run -m pytest -p tools.redundant_tests ...
    python -m tools.redundant_tests
"""

import glob
import json
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import IO

import coverage
import pytest

LIST = Path(__file__).resolve().parent.parent / "tests" / "not_measured.txt"
# Where each process of the tests notes what its tests reached first.
NOTES = LIST.parent.parent / "build" / "reached"
# To list a test that takes less would save nothing.
_LONG_S = 0.05
_HEADER = "# Made by `make redundant`: long tests that reach no line that shorter ones do not.\n"
_reached: dict[str, set[int | tuple[int, int]]] = {}
_notes: list[IO[str]] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    began = time.process_time()
    try:
        return (yield)
    finally:
        row = [item.nodeid.partition("@")[0], time.process_time() - began, _find_first_reached()]
        print(json.dumps(row), file=_open_notes(), flush=True)


def _find_first_reached() -> list[str]:
    """What no test before it in this process reached: the file and the number of each step."""
    known = coverage.Coverage.current()
    collector = known._collector if known else None  # noqa: SLF001 - nothing public tells while it runs
    found = []
    for name, steps in dict(collector.data if collector else {}).items():
        before = _reached.setdefault(name, set())
        if len(steps) != len(before):
            found += [f"{name}:{step}" for step in set(steps) - before]
            before |= set(steps)
    return found


def _open_notes() -> IO[str]:
    if not _notes:
        NOTES.mkdir(parents=True, exist_ok=True)
        _notes.append((NOTES / f"{os.getpid()}.jsonl").open("a"))
    return _notes[0]


def _read_notes() -> list[tuple[str, float, list[str]]]:
    rows = []
    for path in glob.glob(str(NOTES / "*.jsonl")):
        rows += [json.loads(line) for line in Path(path).read_text().splitlines()]
    return [(str(name), float(cost), list(steps)) for name, cost, steps in rows]


def find_redundant(rows: list[tuple[str, float, list[str]]]) -> list[str]:
    """Functions of which no case reaches anything new, the shortest tests looked at first."""
    reached: set[str] = set()
    useful, long = set[str](), set[str]()
    for name, cost, steps in sorted(rows, key=lambda row: row[1]):
        function = name.partition("[")[0]
        if cost >= _LONG_S:
            long.add(function)
        if not reached.issuperset(steps):
            reached.update(steps)
            useful.add(function)
    return sorted(long - useful)


if __name__ == "__main__":
    LIST.write_text(_HEADER + "".join(f"{name}\n" for name in find_redundant(_read_notes())))
