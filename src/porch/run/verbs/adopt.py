"""Adopting a status file that has no journal here: understood as far as possible, and said."""

import os
import shutil

from porch.dialects import status_file
from porch.dialects.status_file import ForeignStatus
from porch.errors import DefinitionError, UsageError
from porch.machine import facts as f
from porch.model.protocol import Protocol
from porch.run.definitions.subject_names import RunSubject
from porch.run.handlers.project import make_item
from porch.store.where import ProjectPaths


def read_foreign_status(
    where: ProjectPaths, about: RunSubject, adopt: bool
) -> ForeignStatus | None:
    """What lies where the run's own status would; a copy is kept before anything is drawn."""
    path = os.path.join(where.root, about.status_file)
    source = _find_newer_file(path)
    if source is None:
        return None
    with open(source, encoding="utf-8", errors="replace") as file:
        text = file.read()
    known = status_file.read_status_file(text, os.path.relpath(source, where.root))
    if known.signed_seq is not None and not adopt:
        raise UsageError(
            f"{about.status_file} belongs to a run in another clone or on another machine",
            fix="continue there, or add --adopt to continue from this file here",
            code="foreign-journal",
        )
    shutil.copyfile(source, _free_aside_name(path))
    return known


def _find_newer_file(path: str) -> str | None:
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
        known = status_file.read_status_file(text, path)
    except DefinitionError:
        return False
    return text.endswith("\n") and bool(known.id and known.state)


def _free_aside_name(path: str) -> str:
    number = 1
    while os.path.exists(aside := path.replace(".yaml", f".adopted-{number}.yaml")):
        number += 1
    return aside


def adoption_fact(protocol: Protocol, known: ForeignStatus, start: f.RunStarted) -> f.RunAdopted:
    """The file as the first fact; its approvals are marked as from a file, by nobody known."""
    state, item, notes = status_file.match_state(protocol, known)
    items = tuple(map(make_item, known.items))
    said = (*known.notes, *notes)
    return f.RunAdopted(
        state=state,
        item=item,
        gates=known.gates,
        items=items,
        finished=known.finished,
        notes=said,
        start=start,
    )


def describe_adoption(known: ForeignStatus, fact: f.RunAdopted) -> str:
    front = f"continuing {known.id} from its status file, at {known.state}"
    return "\n".join([front, *(f"  note: {note}" for note in fact.notes)])
