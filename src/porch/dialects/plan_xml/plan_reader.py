"""Reading plan.xml in every shape that real files have."""

from collections.abc import Iterator

from porch.dialects.plan_xml.confirm_reader import read_confirms
from porch.dialects.plan_xml.elements import (
    PlanNotes,
    attribute_entry,
    attribute_text,
    child_text,
    children_named,
    first_child,
    plain_text,
    read_ids,
    wrapped_children,
)
from porch.dialects.plan_xml.status_words import find_status_mark, read_status
from porch.dialects.plan_xml.track_plan import (
    PlanCriterion,
    PlanSubtask,
    StatusMark,
    TrackPhase,
    TrackPlan,
    TrackTask,
)
from porch.dialects.plan_xml.waves import read_waves
from porch.text.nodes import ElementNode

# Inside a phase or a task: what belongs to the engine or is read under a name of its own.
_DEEPEST = 8


def read_plan_tree(root: ElementNode, notes: PlanNotes) -> TrackPlan:
    about = first_child(root, "metadata") or root
    status = first_child(about, "status")
    has_waves = child_text(about, "execution_mode").lower() == "wave"
    phases = [
        read_waves(element, _read_phase(element, number, notes), notes, has_waves=has_waves)
        for number, element in enumerate(wrapped_children(root, "phases", "phase"), 1)
    ]
    return TrackPlan(
        id=child_text(about, "track_id") or attribute_text(root, "id"),
        name=child_text(about, "track_name") or child_text(about, "name"),
        goal=child_text(about, "goal") or child_text(about, "description"),
        status=status.text.strip().lower() if status else "",
        mark=StatusMark(status, "", status.text.strip()) if status else None,
        commit_mode=child_text(about, "commit_mode"),
        phases=tuple(phases),
        place=root.place,
    )


def _read_phase(element: ElementNode, number: int, notes: PlanNotes) -> TrackPhase:
    id_ = attribute_text(element, "id") or child_text(element, "id")
    what = f"phase {id_ or number}"
    tasks = wrapped_children(element, "tasks", "task")
    has_status = attribute_entry(element, "status") is not None
    return TrackPhase(
        id=id_,
        name=attribute_text(element, "name") or child_text(element, "name"),
        goal=child_text(element, "goal") or child_text(element, "description"),
        confirms=read_confirms(element, what, notes),
        tasks=tuple(
            _read_task(each, f"{what}, task {n}", notes) for n, each in enumerate(tasks, 1)
        ),
        criteria=tuple(_read_criteria(element, "gate_criteria")),
        mark=find_status_mark(element) if has_status else None,
        place=element.place,
    )


def _read_task(element: ElementNode, position: str, notes: PlanNotes) -> TrackTask:
    id_ = attribute_text(element, "id") or child_text(element, "id")
    what = f"task {id_}" if id_ else position
    mark = find_status_mark(element)
    described = first_child(element, "description")
    return TrackTask(
        id=id_,
        name=attribute_text(element, "name") or child_text(element, "name"),
        status=read_status(mark, what, notes),
        mark=mark,
        text=plain_text(described if described is not None else element),
        priority=attribute_text(element, "priority"),
        blocker=attribute_text(element, "blocker"),
        needs=read_ids(child_text(element, "dependencies")),
        confirms=read_confirms(element, what, notes),
        criteria=tuple(_read_criteria(element, "acceptance_criteria")),
        subtasks=tuple(_read_subtasks(element, what, notes, 0)),
        files=tuple(_read_files(element)),
        wave=attribute_text(element, "wave"),
        place=element.place,
    )


def _read_criteria(element: ElementNode, wrapper: str) -> Iterator[PlanCriterion]:
    for group in children_named(element, wrapper):
        for each in children_named(group, "criterion"):
            is_checked = attribute_text(each, "checked").lower() == "true"
            yield PlanCriterion(plain_text(each), is_checked, each)


def _read_subtasks(
    element: ElementNode, what: str, notes: PlanNotes, depth: int
) -> Iterator[PlanSubtask]:
    """Parts of parts follow their whole."""
    for each in wrapped_children(element, "subtasks", "subtask") if depth < _DEEPEST else ():
        id_ = attribute_text(each, "id")
        mark = find_status_mark(each)
        status = read_status(mark, f"subtask {id_ or '?'} of {what}", notes)
        yield PlanSubtask(id_, attribute_text(each, "name") or plain_text(each), status, mark)
        yield from _read_subtasks(each, what, notes, depth + 1)


def _read_files(element: ElementNode) -> Iterator[str]:
    for name in ("references", "context_files"):
        for group in children_named(element, name):
            yield from (plain_text(each) for each in group.children if plain_text(each))
