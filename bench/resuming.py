"""What it costs to come back to a run with a long history."""

import json
from pathlib import Path

from bench import story
from bench.measure import Result, ratio
from porch.machine.evolve import fold_records
from porch.machine.records import decode_records
from porch.machine.state import RunState
from porch.store.journal import Journal

RECORDS = 10_000


def results(place: Path) -> list[Result]:
    """The journal opened, its chain checked, decoded and folded; against reading its lines."""
    path = story.written(str(place / "resuming"), RECORDS)
    name = "resume with 10,000 records / json.loads of its lines"
    return [ratio(name, 5.0, lambda: _resume(path), lambda: _read(path), 7)]


def _resume(path: str) -> RunState:
    journal, found = Journal.open(path)
    with journal:
        return fold_records(RunState(), decode_records(found.records))


def _read(path: str) -> list[object]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
