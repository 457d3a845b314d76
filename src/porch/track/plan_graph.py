"""The plan of a track as a picture: its way, its dependencies, and how far it is."""

from collections.abc import Iterator, Mapping

from porch.dialects.plan_xml.stage_ways import StageWays, find_stage_ways
from porch.dialects.plan_xml.walk import PlanStage, list_stages
from porch.model.protocol import (
    Actor,
    Agent,
    Edge,
    End,
    Human,
    Panel,
    Protocol,
    State,
    Target,
)
from porch.model.track_names import fork_of_join
from porch.track.plan_view import TrackLook

_END = "end"


def make_plan_protocol(look: TrackLook) -> Protocol:
    """Only what people know of the plan: no ways back, no questions that may come up."""
    stages = list_stages(look.reading.plan)
    names = {stage.state: _describe_stage(look, stage) for stage in stages}
    states = {
        names[stage.state]: State(names[stage.state], stage.phase.id, _make_actor(stage))
        for stage in stages
    }
    edges = list(_list_ways(stages, names))
    edges += [
        Edge(names[needed], "needed by", (Target(names[stage.state]),))
        for stage in stages
        for needed in _needed_states(stage, stages)
    ]
    states[_END] = State(_END, _END, End("complete"))
    first = next(iter(states))
    return Protocol(look.reading.plan.id or "plan", Target(first), states, tuple(edges))


def _list_ways(stages: tuple[PlanStage, ...], names: Mapping[str, str]) -> Iterator[Edge]:
    """From each stage to the next; where tasks go side by side, to the first of each of them."""
    if not stages:
        return
    ways = find_stage_ways(stages)
    for name, told in names.items():
        targets = (names.get(each, _END) for each in _list_next(ways, ways.onward[name]))
        yield Edge(told, "then", tuple(Target(each) for each in targets))


def _list_next(ways: StageWays, name: str) -> tuple[str, ...]:
    """The stages that a state stands for; where ways part and meet nobody works."""
    if name in ways.heads:
        return ways.heads[name]
    return _list_next(ways, ways.onward[name]) if fork_of_join(name) else (name,)


def _needed_states(stage: PlanStage, stages: tuple[PlanStage, ...]) -> list[str]:
    if stage.kind != "work" or stage.task is None:
        return []
    needs = stage.task.needs
    return [each.state for each in stages if each.kind == "work" and each.name in needs]


def _describe_stage(look: TrackLook, stage: PlanStage) -> str:
    if stage.kind == "work" and stage.task is not None:
        known = look.states.tasks.get(stage.name) if look.states else None
        status = known.status if known is not None else stage.task.status
    else:
        status = look.states.gates.get(stage.state, "TODO") if look.states else _file_status(stage)
    return f"{stage.name} {status}"


def _file_status(stage: PlanStage) -> str:
    """What the file says; the criteria of a phase have no status there."""
    for confirm in stage.node.confirms:
        if confirm.kind == stage.gate and stage.moment in confirm.moments:
            return confirm.status
    return "TODO"


def _make_actor(stage: PlanStage) -> Actor:
    if stage.kind == "work":
        return Agent("task")
    if stage.kind == "gate":
        return Human("gate", stage.name, stage.name, ())
    return Panel((stage.agent,), stage.name, stage.node.id, 1)
