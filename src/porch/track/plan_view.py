"""A track as people look at it: its plan with what the journal says, if there is one."""

from collections.abc import Iterator, Mapping
from typing import NotRequired, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from porch.dialects.plan_xml.track_plan import PlanConfirm, TrackPhase, TrackReading, TrackTask
from porch.errors import Finding, PorchError
from porch.machine.track.track_status import TrackStates, find_track_states
from porch.model.track_names import CODUMENT, gate_name, gate_state
from porch.run.definitions.reviewer_names import find_unknown_reviewers
from porch.run.definitions.track_plans import (
    find_plan_file,
    find_track,
    locate_track,
    read_plan_file,
)
from porch.run.verbs.read_run import ReadRun, read_run
from porch.show.track_notes import ReviewNote, list_review_notes
from porch.store.where import ProjectPaths

_MARKS: Mapping[str, str] = {
    "TODO": " ", "IN_PROGRESS": ">", "DONE": "x", "BLOCKED": "!", "CANCELLED": "-",
}  # fmt: skip
# What a lint that is strict does not let pass.
STRICT = ("plan-status", "plan-empty-phase", "plan-odd-id", "plan-priority", "unknown-agent")


class ConfirmShape(TypedDict):
    """A confirmation of a plan: its gate, what became of it, and what its reviewer noted."""

    gate: str
    status: str
    notes: NotRequired[list[str]]


class TrackTaskShape(TypedDict):
    """A task of a plan for programs."""

    id: str
    name: str
    status: str
    needs: list[str]
    confirms: list[ConfirmShape]


class TrackPhaseShape(TypedDict):
    """A phase of a plan for programs."""

    id: str
    name: str
    confirms: list[ConfirmShape]
    tasks: list[TrackTaskShape]


class TrackShape(TypedDict):
    """A track for programs: its plan, and the name of its run."""

    id: str
    name: str
    file: str
    run: str
    phases: list[TrackPhaseShape]


class TrackLook(Struct, frozen=True):
    """A plan, and the states of its run; without a run, what the file itself says."""

    reading: TrackReading
    file: str
    run: str
    states: TrackStates | None
    notes: tuple[ReviewNote, ...] = ()


def look_at_track(where: ProjectPaths, word: str) -> TrackLook:
    track = locate_track(where, word)
    file = find_plan_file(f"{where.workspace}/{track}")
    found = _find_run(where, track)
    return TrackLook(read_plan_file(file), file, *(_look_at_states(found) if found else ("", None)))


def look_at_run(where: ProjectPaths, found: ReadRun) -> TrackLook:
    """The plan of a run as it lies in the checkout of the run."""
    file = find_plan_file(find_track(where, found.state))
    return TrackLook(read_plan_file(file), file, *_look_at_states(found))


def _look_at_states(found: ReadRun) -> tuple[str, TrackStates, tuple[ReviewNote, ...]]:
    protocol, state = found.definition.protocol, found.state
    notes = tuple(list_review_notes(protocol, state))
    return state.run.name, find_track_states(protocol, state), notes


def _find_run(where: ProjectPaths, track: str) -> ReadRun | None:
    for name in where.runs():
        if not name.startswith("track_"):
            continue
        try:
            found = read_run(where, name)
        except PorchError:
            continue
        run = found.state.run
        if (run.protocol, run.project_dir) == (CODUMENT, track):
            return found
    return None


def lint_plan(where: ProjectPaths, reading: TrackReading, *, strict: bool) -> list[Finding]:
    """What is wrong in the file, and reviewers that this project does not know."""
    confirms = [each for node in reading.plan.nodes() for each in node.confirms if each.agent]
    named = {each.agent: each.place for each in reversed(confirms)}
    return [
        replace(found, severity="error") if strict and found.code in STRICT else found
        for found in (*reading.findings, *find_unknown_reviewers(named, where, is_panel=False))
    ]


def render_look(look: TrackLook) -> Iterator[str]:
    plan = look.reading.plan
    yield f"{plan.id or '?'} {plan.name}".rstrip()
    yield from (f"  {line}" for line in (plan.goal,) if line)
    yield f"  run      {look.run or 'none yet: porch run codument TRACK_DIR'}"
    for phase in plan.phases:
        yield f"  {phase.id} {phase.name}".rstrip()
        yield from _confirm_lines(look, phase, "before")
        for task in phase.tasks:
            yield from _confirm_lines(look, task, "before")
            needs = f" (after {', '.join(task.needs)})" if task.needs else ""
            status = task_status(look, task)
            yield f"    [{_MARKS[status]}] {task.id} {task.name}{needs}: {status}"
            yield from _confirm_lines(look, task, "after")
        yield from _confirm_lines(look, phase, "after")


def task_status(look: TrackLook, task: TrackTask) -> str:
    known = look.states.tasks.get(task.id) if look.states else None
    return known.status if known is not None else task.status


def gate_status(look: TrackLook, node: str, confirm: PlanConfirm, moment: str) -> str:
    gate = gate_state(node, "before" if moment == "before" else "after", confirm.kind)
    known = look.states.gates.get(gate) if look.states else None
    return known or confirm.status


def _confirm_lines(look: TrackLook, node: TrackPhase | TrackTask, moment: str) -> Iterator[str]:
    for confirm in node.confirms:
        for each in confirm.moments:
            if each == moment:
                status = gate_status(look, node.id, confirm, each)
                name = gate_name(node.id, each, confirm.kind)
                # A confirmation stands under what it is about.
                front = "    " if isinstance(node, TrackPhase) else "      "
                yield f"{front}[{_MARKS[status]}] {name}: {status}"
                yield from (f"{front}    {note}" for note in _list_notes(look, name))


def _list_notes(look: TrackLook, gate: str) -> list[str]:
    return [f"noted by {each.by}: {each.text}" for each in look.notes if each.gate == gate]


def look_data(look: TrackLook) -> TrackShape:
    plan = look.reading.plan
    return {
        "id": plan.id,
        "name": plan.name,
        "file": look.file,
        "run": look.run,
        "phases": [
            {
                "id": phase.id,
                "name": phase.name,
                "confirms": list(_confirm_data(look, phase)),
                "tasks": [
                    {
                        "id": task.id,
                        "name": task.name,
                        "status": task_status(look, task),
                        "needs": list(task.needs),
                        "confirms": list(_confirm_data(look, task)),
                    }
                    for task in phase.tasks
                ],
            }
            for phase in plan.phases
        ],
    }


def _confirm_data(look: TrackLook, node: TrackPhase | TrackTask) -> Iterator[ConfirmShape]:
    for confirm in node.confirms:
        for moment in confirm.moments:
            name = gate_name(node.id, moment, confirm.kind)
            found: ConfirmShape = {
                "gate": name,
                "status": gate_status(look, node.id, confirm, moment),
            }
            if notes := _list_notes(look, name):
                found["notes"] = notes
            yield found
