"""In which order the tasks of a phase are done: what they need first, else as in the file."""

from collections.abc import Iterator, Mapping
from heapq import heapify, heappop, heappush

from porch.dialects.plan_xml.track_plan import TrackPhase, TrackPlan, TrackTask
from porch.errors import Finding


def order_tasks(phase: TrackPhase) -> tuple[TrackTask, ...]:
    """A stable order: of all that may be done next, the first of the file.

    Tasks that wait for each other are left out.
    """
    number = {task.id: n for n, task in enumerate(phase.tasks)}
    left = {task.id: sum(id_ in number for id_ in task.needs) for task in phase.tasks}
    needed_by: dict[str, list[str]] = {}
    for task in phase.tasks:
        for id_ in task.needs:
            needed_by.setdefault(id_, []).append(task.id)
    ready = [number[id_] for id_, count in left.items() if not count]
    heapify(ready)
    ordered = []
    while ready:
        task = phase.tasks[heappop(ready)]
        ordered.append(task)
        for id_ in needed_by.get(task.id, ()):
            left[id_] -= 1
            if not left[id_]:
                heappush(ready, number[id_])
    return tuple(ordered)


def find_order_problems(plan: TrackPlan) -> Iterator[Finding]:
    phase_of = {task.id: n for n, phase in enumerate(plan.phases) for task in phase.tasks}
    for number, phase in enumerate(plan.phases):
        for task in phase.tasks:
            for needed in task.needs:
                yield from _check_edge(plan, task, number, needed, phase_of)
        yield from _find_cycles(phase)


def _check_edge(
    plan: TrackPlan, task: TrackTask, number: int, needed: str, phase_of: Mapping[str, int]
) -> Iterator[Finding]:
    where = phase_of.get(needed)
    if where is None:
        message = f"task {task.id} depends on '{needed[:40]}', which is no task of this plan"
        yield Finding("plan-unknown-task", message, task.place, "correct or remove the id")
    elif where > number:
        later = plan.phases[where].id
        message = (
            f"task {task.id} depends on {needed} of the later phase {later}; phases are done one "
            "after another, so this can never be met"
        )
        fix = f"remove {needed} from its dependencies, move one of the tasks, or merge the phases"
        yield Finding("plan-later-phase", message, task.place, fix)


def _find_cycles(phase: TrackPhase) -> Iterator[Finding]:
    ordered = {task.id for task in order_tasks(phase)}
    waiting = [task for task in phase.tasks if task.id not in ordered]
    if waiting:
        message = f"these tasks wait for each other: {', '.join(task.id for task in waiting)}"
        yield Finding("plan-cycle", message, waiting[0].place, "remove one of the dependencies")
