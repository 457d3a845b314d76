"""Adopting a status file that has no journal here: understood as far as possible, and said."""

import os
import shutil

from porch.adapters.where import Where
from porch.dialects import status_file
from porch.dialects.status_file import ForeignStatus
from porch.errors import DefinitionError, UsageError
from porch.machine import facts as f
from porch.model.protocol import Protocol
from porch.operations.names import Subject
from porch.runtime.handlers.project import item_of


def foreign(where: Where, about: Subject, adopt: bool) -> ForeignStatus | None:
    """What lies where the run's own status would; a copy is kept before anything is drawn."""
    path = os.path.join(where.root, about.status_file)
    source = _newer(path)
    if source is None:
        return None
    with open(source, encoding="utf-8", errors="replace") as file:
        text = file.read()
    known = status_file.read(text, os.path.relpath(source, where.root))
    if known.signed_seq is not None and not adopt:
        raise UsageError(
            f"{about.status_file} belongs to a journal elsewhere (a clone, another machine)",
            fix="go on there, or add --adopt to begin a new journal from it here",
            code="foreign-journal",
        )
    shutil.copyfile(source, _aside(path))
    return known


def _newer(path: str) -> str | None:
    """A leftover `.tmp` counts only if it is complete and newer than the file itself."""
    beside, is_there = path + ".tmp", os.path.isfile(path)
    if os.path.isfile(beside) and _is_complete(beside):
        is_newer = not is_there or os.path.getmtime(beside) > os.path.getmtime(path)
        return beside if is_newer else path
    return path if is_there else None


def _is_complete(path: str) -> bool:
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    try:
        known = status_file.read(text, path)
    except DefinitionError:
        return False
    return text.endswith("\n") and bool(known.id and known.state)


def _aside(path: str) -> str:
    number = 1
    while os.path.exists(aside := path.replace(".yaml", f".adopted-{number}.yaml")):
        number += 1
    return aside


def adopted(protocol: Protocol, known: ForeignStatus, start: f.RunStarted) -> f.RunAdopted:
    """The file as the first fact; its approvals are marked as from a file, by nobody known."""
    state, item, notes = status_file.match_state(protocol, known)
    items = tuple(map(item_of, known.items))
    said = (*known.notes, *notes)
    return f.RunAdopted(state, item, known.gates, items, known.finished, said, start)


def told(known: ForeignStatus, fact: f.RunAdopted) -> str:
    front = f"adopted the status file of {known.id}: going on at {known.state}"
    return "\n".join([front, *(f"  note: {note}" for note in fact.notes)])
