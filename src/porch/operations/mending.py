"""Repairing a damaged journal: what is good stays, what is not is kept aside, and both are said."""

import os
from typing import Any

from porch.adapters import chain, journal
from porch.adapters.where import Where
from porch.errors import StateError
from porch.machine import facts as f
from porch.machine.records import Record, encode
from porch.operations.session import held, locked
from porch.operations.steering import Steered
from porch.runtime.clock import Clock, later


def repair(where: Where, run: str) -> Steered:
    """Keep the good beginning of a journal; one that is sound is left alone."""
    directory = where.run_dir(run)
    path = os.path.join(directory, "journal.jsonl")
    with locked(directory, run, "porch repair", 1.0):
        if _is_sound(path):
            said = f"the journal of {run} is sound; nothing was changed"
            return Steered(said, {"run": run, "kept": None}, notice=True)
        done = journal.repair(path, _note)
        if not done.kept:
            os.unlink(path)
    if done.kept:
        with held(where, run, "porch repair") as found:
            found.drain()
    again = "" if done.kept else "; nothing of it could be kept, so start the run again"
    aside = os.path.basename(done.aside)
    said = f"{done.kept} records kept, {done.lost_bytes} bytes lost, the old file is {aside}{again}"
    return Steered(said, {"run": run, "kept": done.kept, "lost_bytes": done.lost_bytes})


def _is_sound(path: str) -> bool:
    try:
        journal.scan(path)
    except StateError:
        return False
    return True


def _note(repaired: journal.Repaired) -> dict[str, Any]:
    with open(repaired.aside, "rb") as file:
        good = chain.read(file.read())[0].records
    at = later(good[-1]["at"] if good else "", Clock().now())
    fact = f.JournalRepaired(repaired.kept, repaired.lost_bytes, os.path.basename(repaired.aside))
    return encode(Record(repaired.kept + 1, at, fact))
