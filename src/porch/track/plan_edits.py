"""What has to be written into a plan so that its statuses say what the journal says."""

from collections.abc import Iterable, Iterator

from porch.dialects.plan_xml.status_words import written_status
from porch.dialects.plan_xml.track_plan import (
    PlanConfirm,
    StatusMark,
    TrackPhase,
    TrackPlan,
    TrackTask,
)
from porch.machine.track.track_status import (
    NodeStatus,
    TaskState,
    TrackStates,
    join_moments,
    join_tasks,
)
from porch.model.track_names import gate_state
from porch.text.xml_edit import XmlEdit

OWN_BLOCKERS = ("confirm:", "porch:")
_PLAN_STATUSES = {"complete": "completed", "abandoned": "cancelled"}


def list_plan_edits(plan: TrackPlan, states: TrackStates) -> Iterator[XmlEdit]:
    """Only what is different; what nobody but people writes is left alone."""
    words = plan.words
    for phase in plan.phases:
        yield from _confirm_edits(words, phase, states)
        if phase.mark is not None:
            found = join_tasks(_list_phase_statuses(phase, states))
            yield from _status_edit(words, phase.mark, "", found)
        for task in phase.tasks:
            yield from _confirm_edits(words, task, states)
            known = states.tasks.get(task.id)
            if known is not None:
                yield from _task_edits(words, task, known)
    wanted = _PLAN_STATUSES.get(states.outcome, "in_progress")
    if plan.mark is not None and plan.status != wanted:
        yield XmlEdit(plan.mark.element, "", wanted)


def _list_phase_statuses(phase: TrackPhase, states: TrackStates) -> Iterator[NodeStatus]:
    yield from (states.tasks[task.id].status for task in phase.tasks if task.id in states.tasks)
    yield from (found for each in phase.confirms if (found := _joined(phase.id, each, states)))


def _joined(node: str, confirm: PlanConfirm, states: TrackStates) -> NodeStatus | None:
    gates = [gate_state(node, moment, confirm.kind) for moment in confirm.moments]
    known = [states.gates[gate] for gate in gates if gate in states.gates]
    return join_moments(known) if len(known) == len(gates) else None


def _confirm_edits(
    words: str, node: TrackPhase | TrackTask, states: TrackStates
) -> Iterator[XmlEdit]:
    for confirm in node.confirms:
        found = _joined(node.id, confirm, states)
        if found is not None and confirm.mark is not None:
            yield from _status_edit(words, confirm.mark, confirm.status, found)


def _status_edit(words: str, mark: StatusMark, now: str, wanted: NodeStatus) -> Iterator[XmlEdit]:
    """A status that only lacks its capitals, or is missing where nothing has begun, stays so."""
    text = written_status(words, wanted)
    is_same = wanted == now or mark.value.upper() in (wanted, text)
    if not is_same:
        yield XmlEdit(mark.element, mark.attribute, text)


def _task_edits(words: str, task: TrackTask, known: TaskState) -> Iterator[XmlEdit]:
    yield from _status_edit(words, task.mark, task.status, known.status)
    yield from _blocker_edit(words, task, known)
    if known.status != "DONE":
        return
    for criterion in task.criteria:
        if criterion.element is not None and not criterion.is_checked:
            yield XmlEdit(criterion.element, "checked", "true")
    yield from _part_edits(words, task)


def _part_edits(words: str, task: TrackTask) -> Iterable[XmlEdit]:
    for part in task.subtasks:
        if part.mark is not None and part.status not in ("DONE", "CANCELLED"):
            yield from _status_edit(words, part.mark, part.status, "DONE")


def _blocker_edit(words: str, task: TrackTask, known: TaskState) -> Iterator[XmlEdit]:
    """What a person wrote there is theirs; what porch wrote goes when it is over."""
    element = task.mark.element if task.mark.attribute else None
    if element is None or task.blocker == known.blocker:
        return
    name = "cdt:blocker" if words == "track" else "blocker"
    if known.blocker and (not task.blocker or task.blocker.startswith(OWN_BLOCKERS)):
        yield XmlEdit(element, name, known.blocker)
    elif task.blocker.startswith(OWN_BLOCKERS):
        yield XmlEdit(element, name, None)
