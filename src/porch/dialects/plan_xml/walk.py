"""The way through a plan, one stage after another: gates before, the work, gates after."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from porch.dialects.plan_xml.task_order import order_tasks
from porch.dialects.plan_xml.track_plan import PlanConfirm, TrackPhase, TrackPlan, TrackTask
from porch.dialects.plan_xml.waves import group_by_wave
from porch.model.track_names import (
    GateKind,
    Moment,
    fork_state,
    gate_name,
    gate_state,
    state_name,
)

StageKind = Literal["work", "gate", "review"]
# Whoever is asked for a review where the file names nobody: a new process of the run's own agent.
FRESH = "fresh"


class PlanStage(Struct, frozen=True, kw_only=True):
    """One step of the way; `name` is what people call it, `state` its state in the protocol."""

    kind: StageKind
    state: str
    name: str
    phase: TrackPhase
    task: TrackTask | None = None
    moment: Moment = "after"
    gate: GateKind = "human"
    agent: str = ""
    beside: str = ""  # the fork behind which it is done beside others

    @property
    def node(self) -> TrackPhase | TrackTask:
        return self.task or self.phase

    @property
    def task_state(self) -> str:
        return state_name(self.node.id)

    @property
    def node_words(self) -> str:
        """As messages call it: task T1.1: the name."""
        kind = "phase" if self.task is None else "task"
        return (
            f"{kind} {self.node.id}: {self.node.name}"
            if self.node.name
            else (f"{kind} {self.node.id}")
        )


def list_stages(plan: TrackPlan, *, coalesce: bool = False) -> tuple[PlanStage, ...]:
    """With `coalesce` the confirmations of the last task and of its phase come at once.

    They stay two questions.
    """
    found: list[PlanStage] = []
    for phase in plan.phases:
        stages = list(_phase_stages(phase))
        found += _put_beside(phase, stages) if coalesce else stages
    return tuple(found)


def _put_beside(phase: TrackPhase, stages: list[PlanStage]) -> list[PlanStage]:
    last = stages[-2:]
    kinds = [(each.kind, each.moment, each.task is None, each.beside) for each in last]
    if kinds != [("gate", "after", False, ""), ("gate", "after", True, "")]:
        return stages
    fork = fork_state(phase.id, "both")
    return [*stages[:-2], *(replace(each, beside=fork) for each in last)]


def _phase_stages(phase: TrackPhase) -> Iterator[PlanStage]:
    yield from _gate_stages(phase, None, "before")
    for number, tasks in enumerate(_group_tasks(phase), 1):
        fork = fork_state(phase.id, f"wave{number}") if len(tasks) > 1 else ""
        for task in tasks:
            yield from (replace(each, beside=fork) for each in _task_stages(phase, task))
    if phase.criteria:
        yield _make_gate(phase, None, "after", "criteria", FRESH)
    yield from _gate_stages(phase, None, "after")


def _group_tasks(phase: TrackPhase) -> Iterator[tuple[TrackTask, ...]]:
    """What is done side by side, one after another; without waves each task is alone."""
    if phase.waves:
        return group_by_wave(phase)
    return ((task,) for task in order_tasks(phase))


def _task_stages(phase: TrackPhase, task: TrackTask) -> Iterator[PlanStage]:
    yield from _gate_stages(phase, task, "before")
    yield PlanStage(kind="work", state=state_name(task.id), name=task.id, phase=phase, task=task)
    yield from _gate_stages(phase, task, "after")


def _gate_stages(phase: TrackPhase, task: TrackTask | None, moment: Moment) -> Iterator[PlanStage]:
    confirms: tuple[PlanConfirm, ...] = (task or phase).confirms
    for each in confirms:
        if moment in each.moments:
            yield _make_gate(phase, task, moment, each.kind, each.agent or FRESH)


def _make_gate(
    phase: TrackPhase, task: TrackTask | None, moment: Moment, kind: GateKind, agent: str
) -> PlanStage:
    node = (task or phase).id
    return PlanStage(
        kind="gate" if kind == "human" else "review",
        state=gate_state(node, moment, kind),
        name=gate_name(node, moment, kind),
        phase=phase,
        task=task,
        moment=moment,
        gate=kind,
        agent=agent,
    )
