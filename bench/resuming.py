"""What it costs to come back to a run with a long history."""

import json
from pathlib import Path

from bench import story
from bench.measure import Result, ratio
from porch.adapters.journal import Journal
from porch.machine.evolve import fold
from porch.machine.records import decode_all
from porch.machine.state import State

RECORDS = 10_000


def results(place: Path) -> list[Result]:
    """The journal opened, its chain checked, decoded and folded; against reading its lines."""
    path = story.written(str(place / "resuming"), RECORDS)
    name = "resume with 10,000 records / json.loads of its lines"
    return [ratio(name, 5.0, lambda: _resume(path), lambda: _read(path), 7)]


def _resume(path: str) -> State:
    journal, found = Journal.open(path)
    with journal:
        return fold(State(), decode_all(found.records))


def _read(path: str) -> list[object]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
