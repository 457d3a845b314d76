"""Waves of a phase: tasks that are done side by side, and what is wrong in how they are written."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from msgspec.structs import replace

from porch.dialects.plan_xml.elements import (
    PlanNotes,
    attribute_text,
    children_named,
    first_child,
    read_ids,
)
from porch.dialects.plan_xml.track_plan import PlanWave, TrackPhase, TrackTask
from porch.text.nodes import ElementNode


def read_waves(
    element: ElementNode, phase: TrackPhase, notes: PlanNotes, *, has_waves: bool
) -> TrackPhase:
    """The phase with its waves; without them where the plan does not ask for waves."""
    if not has_waves:
        return phase
    inside = first_child(element, "waves")
    waves = tuple(_read_wave(each) for each in children_named(inside, "wave")) if inside else ()
    if not waves:
        message = f"phase {phase.id} has no waves, so its tasks are done one after another"
        notes.warn("plan-wave", message, phase.place)
        return phase
    _check_waves(phase, waves, notes)
    return replace(phase, waves=waves)


def _read_wave(element: ElementNode) -> PlanWave:
    after = read_ids(attribute_text(element, "depends_on"))
    return PlanWave(attribute_text(element, "id"), after, element.place)


def _check_waves(phase: TrackPhase, waves: tuple[PlanWave, ...], notes: PlanNotes) -> None:
    ids = [wave.id for wave in waves]
    for number, wave in enumerate(waves):
        if not wave.id or wave.id in ids[:number]:
            message = f"a wave of phase {phase.id} has no id of its own"
            notes.add("plan-wave", message, wave.place, "give each wave another id")
        for needed in wave.after:
            if needed not in ids:
                message = (
                    f"wave {wave.id} depends on '{needed[:40]}', which is no wave of its phase"
                )
                notes.add("plan-wave", message, wave.place, "correct or remove the id")
    if len(order_waves(waves)) < len(waves):
        message = f"the waves of phase {phase.id} wait for each other"
        notes.add("plan-wave", message, waves[0].place, "remove one of the dependencies")
    for task in phase.tasks:
        if task.wave not in ids:
            message = f"task {task.id} names '{task.wave[:40]}', which is no wave of its phase"
            notes.add("plan-wave", message, task.place, f"use one of: {', '.join(ids)}")
    _check_needs(phase, waves, notes)


def _check_needs(phase: TrackPhase, waves: tuple[PlanWave, ...], notes: PlanNotes) -> None:
    """Whoever needs a task comes in a later wave than it."""
    rank = {wave.id: number for number, wave in enumerate(order_waves(waves))}
    wave_of = {task.id: rank.get(task.wave, 0) for task in phase.tasks}
    for task in phase.tasks:
        late = [id_ for id_ in task.needs if wave_of.get(id_, -1) >= wave_of[task.id]]
        for needed in late:
            message = f"task {task.id} depends on {needed}, which is not in an earlier wave"
            notes.add("plan-wave", message, task.place, "move one of them to another wave")


def order_waves(waves: tuple[PlanWave, ...]) -> tuple[PlanWave, ...]:
    """What they depend on first, else as in the file; those that wait for each other are left out.

    An id that is used twice or unknown counts for nothing here: that is an error of its own.
    """
    number = {wave.id: n for n, wave in enumerate(waves)}
    left = {n: sum(id_ in number for id_ in wave.after) for n, wave in enumerate(waves)}
    ready = [n for n, count in left.items() if not count]
    heapify(ready)
    followers: dict[str, list[int]] = {}
    for n, wave in enumerate(waves):
        for id_ in wave.after:
            followers.setdefault(id_, []).append(n)
    ordered = []
    while ready:
        wave = waves[heappop(ready)]
        ordered.append(wave)
        for n in followers.pop(wave.id, ()):
            left[n] -= 1
            if not left[n]:
                heappush(ready, n)
    return tuple(ordered)


def group_by_wave(phase: TrackPhase) -> Iterator[tuple[TrackTask, ...]]:
    """The tasks of each wave, wave by wave."""
    tasks: dict[str, list[TrackTask]] = {}
    for task in phase.tasks:
        tasks.setdefault(task.wave, []).append(task)
    for wave in order_waves(phase.waves):
        if wave.id in tasks:
            yield tuple(tasks[wave.id])
