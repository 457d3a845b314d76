"""A track's plan from its tree, with everything that is wrong in it or will surprise somebody."""

from collections.abc import Mapping

from porch.dialects.plan_xml.elements import PlanNotes, child_text, first_child, local_name
from porch.dialects.plan_xml.plan_reader import read_plan_tree
from porch.dialects.plan_xml.task_order import find_order_problems
from porch.dialects.plan_xml.track_plan import TrackPhase, TrackPlan, TrackReading, TrackTask
from porch.dialects.plan_xml.track_reader import read_track_tree
from porch.errors import Place
from porch.model.track_names import gate_of_state, state_name
from porch.text.late_pattern import late_pattern
from porch.text.nodes import ElementNode

_ID = late_pattern(r"[\w.-]+")
# States that every run has, and how they are called.
_TAKEN = ("complete", "abandoned", "changed", "budget")
_PHASE_ID, _TASK_ID = late_pattern(r"P\d+"), late_pattern(r"T\d+\.\d+")
_PRIORITIES = ("", "P0", "P1", "P2")


def read_track_plan(root: ElementNode) -> TrackReading:
    notes = PlanNotes()
    is_track = local_name(root.name) == "Track"
    plan = read_track_tree(root, notes) if is_track else read_plan_tree(root, notes)
    if not plan.id:
        notes.warn("plan-no-id", "the plan has no track_id", plan.place, "write <track_id>")
    if not plan.phases:
        notes.add("plan-empty", "the plan has no phases", plan.place, "write at least one <phase>")
    _check_ids(plan, notes)
    _check_nodes(plan, notes)
    notes.findings += find_order_problems(plan)
    _check_summary(root, plan, notes)
    return TrackReading(plan, tuple(notes.findings))


def _check_ids(plan: TrackPlan, notes: PlanNotes) -> None:
    """Every phase and task is known by an id of its own, also as the name of a state."""
    seen: dict[str, Place] = {}
    for node in plan.nodes():
        what = "phase" if isinstance(node, TrackPhase) else "task"
        if not node.id:
            notes.add("plan-no-id", f"a {what} has no id", node.place, "give it an id")
            continue
        name = state_name(node.id)
        if not _ID.fullmatch(node.id) or gate_of_state(name) or name in _TAKEN:
            message = f"'{node.id[:40]}' cannot be the id of a {what}"
            fix = "use letters, digits, '.', '_' and '-', and no name that porch uses itself"
            notes.add("plan-bad-id", message, node.place, fix)
        first = seen.setdefault(name, node.place)
        if first is not node.place:
            message = f"the id '{node.id[:40]}' is used twice; the first is on line {first.line}"
            notes.add("plan-duplicate-id", message, node.place, "give one of them another id")
        pattern = _PHASE_ID if isinstance(node, TrackPhase) else _TASK_ID
        if plan.words == "plan" and not pattern.fullmatch(node.id):
            message = f"'{node.id[:40]}' is an unusual id for a {what}"
            notes.warn("plan-odd-id", message, node.place)


def _check_nodes(plan: TrackPlan, notes: PlanNotes) -> None:
    for phase in plan.phases:
        if not phase.tasks:
            notes.warn("plan-empty-phase", f"phase {phase.id} has no tasks", phase.place)
    for task in plan.tasks():
        if plan.words == "plan" and task.priority not in _PRIORITIES:
            message = f"task {task.id} has the unknown priority '{task.priority[:20]}'"
            notes.warn("plan-priority", message, task.place, "use P0, P1 or P2")


def _check_summary(root: ElementNode, plan: TrackPlan, notes: PlanNotes) -> None:
    """Kept by hand, so it is counted again and never believed."""
    summary = first_child(root, "summary")
    if summary is None:
        return
    for name, count in _count_summary(plan).items():
        said = child_text(summary, name)
        if said.isdecimal() and int(said) != count:
            message = f"the summary says {name} = {said}, counted are {count}"
            notes.warn("plan-summary", message, summary.place, "porch counts them itself")


def _count_summary(plan: TrackPlan) -> Mapping[str, int]:
    tasks: tuple[TrackTask, ...] = tuple(plan.tasks())
    counted = {"completed": "DONE", "in_progress": "IN_PROGRESS", "todo": "TODO"}
    return {
        "total_phases": len(plan.phases),
        "total_tasks": len(tasks),
        **{n: sum(t.status == s for t in tasks) for n, s in counted.items()},
        "blocked": sum(t.status == "BLOCKED" for t in tasks),
    }
