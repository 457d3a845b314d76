"""The way through a plan, one stage after another: gates before, the work, gates after."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from porch.dialects.plan_xml.task_order import order_tasks
from porch.dialects.plan_xml.track_plan import PlanConfirm, TrackPhase, TrackPlan, TrackTask
from porch.model.track_names import GateKind, Moment, gate_name, gate_state, state_name

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


def list_stages(plan: TrackPlan) -> tuple[PlanStage, ...]:
    return tuple(stage for phase in plan.phases for stage in _phase_stages(phase))


def _phase_stages(phase: TrackPhase) -> Iterator[PlanStage]:
    yield from _gate_stages(phase, None, "before")
    for task in order_tasks(phase):
        yield from _gate_stages(phase, task, "before")
        yield PlanStage(
            kind="work", state=state_name(task.id), name=task.id, phase=phase, task=task
        )
        yield from _gate_stages(phase, task, "after")
    if phase.criteria:
        yield _make_gate(phase, None, "after", "criteria", FRESH)
    yield from _gate_stages(phase, None, "after")


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
