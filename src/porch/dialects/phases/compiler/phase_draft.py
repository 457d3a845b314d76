"""One phase on the workbench, and how its states lead onward and out of it."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from porch.dialects.phases.compiler.protocol_draft import ProtocolDraft
from porch.dialects.phases.compiler.stages import PhaseLayout, Stage
from porch.dialects.phases.compiler.targets import ExitRoute, PhaseLookup
from porch.dialects.phases.file_records import Phase, PhasesFile
from porch.errors import Place
from porch.model.protocol import Actor, Guard, State, Target


class PhaseDraft(Struct, frozen=True):
    """What drawing a phase needs to know; `ways` holds the exits of each agent state."""

    layout: PhaseLayout
    atlas: PhaseLookup
    definition: PhasesFile
    draft: ProtocolDraft
    out: Target
    ways: dict[str, tuple[ExitRoute, ...]]

    @property
    def phase(self) -> Phase:
        return self.layout.phase

    @property
    def commit(self) -> str:
        return f"{self.phase.id}:commit" if self.phase.commits else ""

    @property
    def completion(self) -> str:
        is_checked = self.layout.is_last_of_loop and self.definition.phase_completion
        return f"{self.phase.id}:phase_completion" if is_checked else ""

    @property
    def elsewhere(self) -> tuple[tuple[str, Target], ...]:
        """Paths of signals that lead out of the phase to another place than usual."""
        return tuple(
            (f"{state}.{way.exit.name}", way.target)
            for state, ways in self.ways.items()
            for way in ways
            if way.manner == "leave"
        )

    def add(self, name: str, actor: Actor, place: Place, description: str = "") -> None:
        phase = self.phase
        state = State(
            name, phase.id, actor, phase.title, description or phase.description, self.layout.loop
        )
        self.draft.add(state, place)

    def edge(self, state: str, exit_: str, *targets: Target, **more: Any) -> None:
        self.draft.edge(self.phase.id, state, exit_, *targets, **more)

    def budget(self, name: str, limit: int) -> str:
        return self.draft.budget(self.phase.id, name, limit)

    def failed(self, agent: Stage) -> Target:
        return Target(f"failed:{agent.state}")

    def go_on(self, state: str, exit_: str, stage: Stage, **more: Any) -> None:
        """To the stage behind `stage`, or out of the phase."""
        following = self.layout.after(stage)
        if following is None:
            self.leave(state, exit_, **more)
        else:
            self.edge(state, exit_, Target(following.state), **more)

    def leave(
        self,
        state: str,
        exit_: str,
        guards: Iterable[Guard] = (),
        ignoring: Iterable[str] = (),
        to: Target | None = None,
        **more: Any,
    ) -> None:
        """Out of the phase: by way of its commit, and to where its agents asked to go."""
        if self.commit and state != self.commit and not more.pop("uncommitted", False):
            self.edge(state, exit_, Target(self.commit), guards=guards, **more)
            return
        for path, target in self.elsewhere if to is None else ():
            if path not in ignoring:
                asked = (*guards, Guard(path))
                self.edge(state, exit_, self.outside(target), guards=asked, leaves=True, **more)
        out = self.outside(to or self.out)
        self.edge(state, exit_, out, guards=guards, leaves=True, **more)

    def outside(self, target: Target) -> Target:
        return Target(self.completion) if target.next_of and self.completion else target
