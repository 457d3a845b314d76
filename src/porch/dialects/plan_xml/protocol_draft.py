"""The protocol of a plan while it is drawn: states, edges, budgets and texts so far."""

from collections.abc import Iterable, Sequence

from porch.dialects.plan_xml.track_plan import TrackPlan
from porch.dialects.plan_xml.walk import PlanStage
from porch.errors import Place
from porch.model.protocol import Actor, Budget, Edge, Guard, Input, State, Target

COMPLETE, ABANDONED = "complete", "abandoned"


class TrackDraft:
    """Filled stage by stage; the order of its states is the order of the walk."""

    def __init__(self, plan: TrackPlan):
        self.plan = plan
        self.states: dict[str, State] = {}
        self.edges: list[Edge] = []
        self.budgets: dict[str, Budget] = {}
        self.texts: dict[str, str] = {}
        self.places: dict[str, Place] = {}
        self.reviewers: dict[str, Place] = {}

    def add(
        self, stage: PlanStage, state: str, actor: Actor, title: str, inputs: Iterable[Input] = ()
    ) -> None:
        phase = f"{stage.phase.id} {stage.phase.name}".rstrip()
        self.states[state] = State(
            state, stage.node.id, actor, title, phase, inputs=tuple(dict.fromkeys(inputs))
        )
        self.places[state] = stage.node.place

    def edge(
        self,
        state: str,
        exit_: str,
        to: str,
        *,
        charges: str = "",
        spent: str = "",
        guards: Sequence[Guard] = (),
        forgets: Iterable[str] = (),
        resets: Sequence[str] = (),
    ) -> None:
        self.edges.append(
            Edge(
                state,
                exit_,
                (Target(to),),
                guards=tuple(guards),
                charges=charges,
                spent=(Target(spent),) if spent else (),
                resets=tuple(resets),
                forgets=tuple(dict.fromkeys(forgets)),
            )
        )

    def budget(self, name: str, limit: int, first: int = 0) -> str:
        self.budgets[name] = Budget(name, limit, first)
        return name
