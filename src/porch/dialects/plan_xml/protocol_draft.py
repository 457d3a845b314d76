"""The protocol of a plan while it is drawn: states, edges, budgets and texts so far."""

from collections.abc import Iterable, Sequence

from porch.dialects.plan_xml.track_plan import TrackPhase, TrackPlan
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
        self.first = COMPLETE
        self.beside = ""  # the fork behind which states are drawn just now

    def add(
        self, stage: PlanStage, state: str, actor: Actor, title: str, inputs: Iterable[Input] = ()
    ) -> None:
        phase = f"{stage.phase.id} {stage.phase.name}".rstrip()
        self.states[state] = State(
            state,
            stage.node.id,
            actor,
            title,
            phase,
            inputs=tuple(dict.fromkeys(inputs)),
            beside=self.beside,
        )
        self.places[state] = stage.node.place

    def add_silent(self, phase: TrackPhase, state: str, actor: Actor, title: str) -> None:
        """A state in which nobody works and nobody is asked."""
        named = f"{phase.id} {phase.name}".rstrip()
        self.states[state] = State(state, phase.id, actor, title, named)
        self.places[state] = phase.place

    def edge(
        self,
        state: str,
        exit_: str,
        *to: str,
        charges: str = "",
        spent: Sequence[str] = (),
        guards: Sequence[Guard] = (),
        forgets: Iterable[str] = (),
        resets: Sequence[str] = (),
        is_alone: bool = False,
    ) -> None:
        self.edges.append(
            Edge(
                state,
                exit_,
                tuple(Target(name) for name in to),
                guards=tuple(guards),
                charges=charges,
                spent=tuple(Target(name) for name in spent),
                resets=tuple(resets),
                forgets=tuple(dict.fromkeys(forgets)),
                is_alone=is_alone,
            )
        )

    def budget(self, name: str, limit: int, first: int = 0) -> str:
        self.budgets[name] = Budget(name, limit, first)
        return name
