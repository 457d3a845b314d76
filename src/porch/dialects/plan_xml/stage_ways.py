"""Where each stage of a plan leads: to the next one, or to those that are done side by side."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from msgspec import Struct

from porch.dialects.plan_xml.protocol_draft import COMPLETE
from porch.dialects.plan_xml.walk import PlanStage
from porch.model.track_names import closing_state, join_state


class StageWays(Struct, frozen=True):
    """`onward` by state, joins among them; `heads` by fork: the first state of each way."""

    first: str
    onward: dict[str, str]
    heads: dict[str, tuple[str, ...]]

    def past(self, stage: PlanStage, after: Sequence[PlanStage]) -> str:
        """Behind a task and its confirmations; another question that came at once stays."""
        last = after[-1] if after else stage
        mates = self.mates_of(last)
        return mates[0] if mates else self.onward[last.state]

    def mates_of(self, stage: PlanStage) -> tuple[str, ...]:
        """The other question that is put at the same time; tasks of a wave have none."""
        heads = self.heads[stage.beside] if is_paired(stage) else ()
        return tuple(name for name in heads if name != stage.state)

    def entry(self, stage: PlanStage) -> str:
        """Where somebody comes to a gate from outside."""
        return stage.beside if is_paired(stage) else stage.state


def is_paired(stage: PlanStage) -> bool:
    """Whether it is one of two questions that come at once."""
    return stage.beside.endswith(":both")


def group_stages(stages: Sequence[PlanStage]) -> Iterator[list[PlanStage]]:
    """Each stage alone, but for those that are done side by side."""
    for fork, found in groupby(stages, key=lambda stage: stage.beside):
        group = list(found)
        yield from [group] if fork else [[stage] for stage in group]


def find_stage_ways(stages: Sequence[PlanStage]) -> StageWays:
    onward: dict[str, str] = {}
    heads: dict[str, tuple[str, ...]] = {}
    following = closing_state(stages[-1].phase.id) if needs_closing(stages) else COMPLETE
    for group in reversed(list(group_stages(stages))):
        fork = group[0].beside
        if not fork:
            onward[group[0].state] = following
            following = group[0].state
            continue
        chains = [list(each) for _, each in groupby(group, key=lambda stage: stage.node.id)]
        for chain in chains:
            names = [*(stage.state for stage in chain), join_state(fork)]
            onward.update(pairwise(names))
        onward[join_state(fork)] = following
        heads[fork] = tuple(chain[0].state for chain in chains)
        following = fork
    return StageWays(following, onward, heads)


def needs_closing(stages: Sequence[PlanStage]) -> bool:
    """Whether something was confirmed in the last phase behind which others may have worked.

    Phases in front of it are closed when the next one begins, which looks at that by itself.
    """
    if not stages:
        return False
    last, phase = stages[-1], stages[-1].phase
    earlier = (stage for stage in stages[:-1] if stage.phase is phase)
    is_whole = last.kind == "gate" and last.task is None and last.moment == "after"
    return not is_whole and any(s.kind == "gate" and s.moment == "after" for s in earlier)
