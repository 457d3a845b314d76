"""Adopting a status file that has no journal here: understood as far as possible, and said."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from porch.errors import DefinitionError, StateError, UsageError
from porch.machine import facts as f
from porch.machine.approvals import APPROVED, list_gates
from porch.model.protocol import Protocol, State
from porch.run.definitions.subject_names import RunSubject
from porch.run.engine.status_copies import keep_status_copy
from porch.store import known_runs
from porch.store.where import ProjectPaths
from porch.system.regular_file import open_regular

if TYPE_CHECKING:  # what reads such a file is loaded where there is one
    from porch.dialects.status_file import ForeignStatus


def read_foreign_status(
    where: ProjectPaths, about: RunSubject, protocol: Protocol, adopt: bool
) -> ForeignStatus | None:
    """What lies where the run's own status would; a copy is kept before anything is drawn."""
    path = os.path.join(where.root, about.status_file)
    source = _find_newer_file(path)
    if source is None:
        return None
    with open(source, "rb", opener=open_regular) as file:
        data = file.read()
    from porch.dialects import status_file

    text = data.decode("utf-8", "replace")
    known = status_file.read_status_file(text, os.path.relpath(source, where.root))
    if known.signed_seq is not None and not adopt:
        raise UsageError(
            f"{about.status_file} belongs to a run in another clone or on another machine",
            fix="continue there, or add --adopt to continue from this file here",
            code="foreign-journal",
        )
    if known.is_history and not adopt:
        raise UsageError(
            f"{about.status_file} says that this project has ended: {known.state}",
            fix="to begin it again, remove that file",
            code="run-ended",
        )
    passed = list_passed_gates(protocol, known)
    if passed and not adopt:
        raise UsageError(
            f"{about.status_file} counts these gates as passed: {', '.join(passed)}",
            fix="nobody here approved them; to continue from this file all the same, add --adopt",
            code="adopted-approval",
        )
    keep_status_copy(path, data)
    return known


def list_passed_gates(protocol: Protocol, known: ForeignStatus) -> list[str]:
    """Gates that a file calls approved, and those in front of the place where the run is."""
    from porch.dialects import status_file

    said = [name for name, gate in known.gates.items() if gate["status"] in APPROVED]
    state = status_file.match_state(protocol, known)[0]
    gates = list_gates(protocol)
    behind = [human.name for gate, human in gates if _is_behind(protocol, state, gate)]
    return list(dict.fromkeys((*said, *behind)))


def _is_behind(protocol: Protocol, state: str, gate: State) -> bool:
    """Of its own phase a gate is passed only where no other way leads: to its commit."""
    if state not in protocol.states:
        return True
    if protocol.states[state].group == gate.group:
        from porch.machine.rollback import lies_behind  # few runs are adopted

        return lies_behind(protocol, state, gate.name)
    return protocol.order(gate.name) < protocol.order(state)


def refuse_lost_run(where: ProjectPaths, name: str, adopt: bool) -> None:
    """A run that was here does not begin anew because its journal is gone."""
    if name in known_runs.list_known_runs(where.state_dir) and not adopt:
        raise lost_run_error(where, name)


def lost_run_error(where: ProjectPaths, name: str) -> StateError:
    directory = os.path.relpath(where.run_dir(name), where.root)
    return StateError(
        f"there was a run {name} here, but its journal is gone",
        fix=f"restore {directory} from a backup; to begin without it, use `porch run` with --adopt",
        code="journal-gone",
    )


def _find_newer_file(path: str) -> str | None:
    """A leftover `.tmp` counts only if it is complete and newer than the file itself."""
    beside, is_there = path + ".tmp", os.path.isfile(path)
    if os.path.isfile(beside) and _is_complete(beside):
        is_newer = not is_there or os.path.getmtime(beside) > os.path.getmtime(path)
        return beside if is_newer else path
    return path if is_there else None


def _is_complete(path: str) -> bool:
    from porch.dialects import status_file

    with open(path, encoding="utf-8", errors="replace", opener=open_regular) as file:
        text = file.read()
    try:
        known = status_file.read_status_file(text, path)
    except DefinitionError:
        return False
    return text.endswith("\n") and bool(known.id and known.state)


def adoption_fact(
    protocol: Protocol, known: ForeignStatus, start: f.RunStarted, *, is_paused: bool = False
) -> f.RunAdopted:
    """The file as the first fact; its approvals are marked as from a file that names nobody."""
    from porch.dialects import status_file
    from porch.run.engine.plan_items import make_item

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
        paused=is_paused,
    )


def describe_adoption(known: ForeignStatus, fact: f.RunAdopted, passed: list[str]) -> str:
    front = f"continuing {known.id} from its status file, at {known.state}"
    gates = [f"  approved according to the file; nobody is named: {gate}" for gate in passed]
    return "\n".join([front, *gates, *(f"  note: {note}" for note in fact.notes)])
