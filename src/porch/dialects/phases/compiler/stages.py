"""The stages of a phase in the order of travel: agents, panel, checks made steps, and the gate."""

from collections.abc import Iterable
from typing import Literal, assert_never

from msgspec import Struct

from porch.dialects.phases.file_records import (
    CheckRecord,
    Consultation,
    GateRecord,
    Phase,
    StepRecord,
)
from porch.dialects.phases.mapping_reader import Findings, did_you_mean
from porch.errors import Finding, Place
from porch.text.nodes import ScalarNode

StageKind = Literal["agent", "check", "panel", "gate"]
StageWork = CheckRecord | Consultation | GateRecord
PANEL_STEPS = ("consult", "consultation", "review")
KNOWN_TRIGGERS = (*PANEL_STEPS, "complete", "verify")
REVISE_STEP = "revise"


class Stage(Struct, frozen=True):
    """One authored state of a phase; where nothing else is said, an agent works there."""

    state: str
    place: Place
    step: StepRecord | None = None
    work: StageWork | None = None

    @property
    def kind(self) -> StageKind:
        match self.work:
            case None:
                return "agent"
            case CheckRecord():
                return "check"
            case Consultation():
                return "panel"
            case GateRecord():
                return "gate"
            case _:
                assert_never(self.work)

    @property
    def name(self) -> str:
        return self.step.name if self.step else ""


class PhaseLayout(Struct, frozen=True):
    """`main` is the way through the phase; a reviser behind the panel stands beside it."""

    phase: Phase
    index: int
    stages: tuple[Stage, ...]
    main: tuple[Stage, ...]
    reviser: Stage | None
    checks: tuple[CheckRecord, ...]
    loop: str = ""
    is_last_of_loop: bool = False

    @property
    def first(self) -> str:
        wanted = self.phase.first_step
        named = self.stage(wanted.text) if wanted is not None else None
        return (named or self.main[0]).state

    @property
    def escalated(self) -> str:
        """The state in which a person decides because the file says `escalate`."""
        return f"escalated:{self.phase.id}"

    @property
    def agents(self) -> tuple[Stage, ...]:
        return tuple(stage for stage in self.stages if stage.kind == "agent")

    @property
    def panel(self) -> Stage | None:
        return next((stage for stage in self.main if stage.kind == "panel"), None)

    @property
    def gate(self) -> Stage | None:
        return next((stage for stage in self.main if stage.kind == "gate"), None)

    @property
    def gate_behind_panel(self) -> Stage | None:
        panel, gate = self.panel, self.gate
        if gate is None or (panel and self.main.index(gate) < self.main.index(panel)):
            return None
        return gate

    def gate_ahead(self, agent: Stage) -> Stage | None:
        """The gate, if the way from this agent still leads there."""
        here = self.panel if agent is self.reviser else agent
        gate = self.gate
        if gate is None or here not in self.main:
            return gate
        return gate if self.main.index(gate) > self.main.index(here) else None

    def stage(self, word: str) -> Stage | None:
        """A stage by its step's name or its full state name."""
        for stage in self.stages:
            if word in (stage.state, stage.name):
                return stage
        return None

    def after(self, stage: Stage) -> Stage | None:
        """The next stage on the way; nothing if the phase is left here."""
        if stage is self.reviser:
            return self.panel
        rest = self.main[self.main.index(stage) + 1 :]
        return rest[0] if rest else None

    def leaves(self, agent: Stage) -> bool:
        """Whether the work of this agent is complete for reviewers, people or the next phase."""
        following = self.after(agent)
        while following is not None and following.kind == "check":
            following = self.after(following)
        return following is None or following.kind != "agent"

    def last_agent_before(self, stage: Stage | None) -> Stage:
        """The agent that mends what was found at a stage."""
        end = self.main.index(stage) if stage in self.main else len(self.main)
        before = [s for s in self.main[:end] if s.kind == "agent"]
        return before[-1] if before else self.agents[-1]

    def mender(self, stage: Stage | None) -> Stage:
        return self.reviser or self.last_agent_before(stage)


def lay_out_phase(phase: Phase, index: int, findings: Findings) -> PhaseLayout | None:
    stages = _list_stages(phase, findings)
    if not any(stage.kind == "agent" for stage in stages):
        message = f"no step of phase '{phase.id}' is work for an agent"
        findings.append(Finding("no-agent", message, phase.place, "add a step that does the work"))
        return None
    reviser = _find_reviser(phase, stages)
    way = [stage for stage in stages if stage is not reviser]
    main = _insert_gate(phase, way, stages, reviser, findings)
    as_steps = {s.work.command.name for s in stages if isinstance(s.work, CheckRecord)}
    checks = tuple(check for check in phase.checks if check.command.name not in as_steps)
    gates = tuple(stage for stage in main if stage.kind == "gate")
    layout = PhaseLayout(phase, index, (*stages, *gates), main, reviser, checks)
    _check_first_step(layout, findings)
    return layout


def _list_stages(phase: Phase, findings: Findings) -> tuple[Stage, ...]:
    said, panel_step = phase.consultation, _find_panel_step(phase, findings)
    checks = {check.command.name: check for check in phase.checks}
    stages: list[Stage] = []
    for step in phase.steps:
        state = f"{phase.id}:{step.name}"
        if step is panel_step:
            stages.append(Stage(state, step.place, step, said))
        else:
            stages.append(Stage(state, step.place, step, checks.get(step.name)))
    if not stages:
        stages.append(Stage(phase.id, phase.place))
    if said is not None and panel_step is None:
        stages.append(Stage(f"{phase.id}:consult", said.place, work=said))
    return tuple(stages)


def _find_panel_step(phase: Phase, findings: Findings) -> StepRecord | None:
    consultation = phase.consultation
    if consultation is None:
        return None
    named = {step.name: step for step in phase.steps}
    on = consultation.on
    if on is not None:
        step = named.get(on.text.removeprefix(f"{phase.id}:"))
        if step is not None:
            return step
        _note_unknown_trigger(phase, on, named, findings)
    return next((named[name] for name in PANEL_STEPS if name in named), None)


def _note_unknown_trigger(
    phase: Phase, on: ScalarNode, named: Iterable[str], findings: Findings
) -> None:
    """Real files name moments here that are no step; only a slip of the pen is an error."""
    fix = did_you_mean(on.text.removeprefix(f"{phase.id}:"), named)
    waited = f"the consultation of '{phase.id}' waits for '{on.text[:80]}'"
    message = f"{waited}, which is not one of its steps"
    if fix and on.text not in KNOWN_TRIGGERS:
        findings.append(Finding("unknown-step", message, on.place, fix))
    else:
        behind = "; the reviewers are asked when the phase's work is done"
        findings.append(Finding("unknown-step", message + behind, on.place, severity="note"))


def _find_reviser(phase: Phase, stages: tuple[Stage, ...]) -> Stage | None:
    """The agent behind the panel that works only when changes were asked for."""
    panel = next((stage for stage in stages if stage.kind == "panel"), None)
    if panel is None or phase.consultation is None:
        return None
    behind = [s for s in stages[stages.index(panel) + 1 :] if s.kind == "agent"]
    next_ = phase.consultation.next
    if next_ is not None:
        named = [s for s in behind if next_.text in (s.state, s.name)]
        if named:
            return named[0]
    revise = [s for s in behind if s.name == REVISE_STEP]
    is_elsewhere = next_ is not None and any(next_.text in (s.state, s.name) for s in stages)
    return revise[0] if revise and not is_elsewhere else None


def _insert_gate(
    phase: Phase,
    way: list[Stage],
    stages: tuple[Stage, ...],
    reviser: Stage | None,
    findings: Findings,
) -> tuple[Stage, ...]:
    gate = phase.gate
    if gate is None:
        return tuple(way)
    stage = Stage(f"{phase.id}:gate", gate.place, work=gate)
    after = gate.after
    if after is None or after.text == phase.id:
        return (*way, stage)
    named = [s for s in stages if after.text in (s.state, s.name)]
    if not named:
        fix = did_you_mean(after.text, [s.name or s.state for s in stages])
        where = f"the gate of '{phase.id}' comes after '{after.text[:80]}'"
        message = f"{where}, which is not one of its steps"
        findings.append(Finding("unknown-step", message, after.place, fix))
        return (*way, stage)
    before = next(s for s in stages if s.kind == "panel") if named[0] is reviser else named[0]
    at = way.index(before) + 1
    return (*way[:at], stage, *way[at:])


def _check_first_step(layout: PhaseLayout, findings: Findings) -> None:
    first = layout.phase.first_step
    if first is not None and first.kind != "null" and layout.stage(first.text) is None:
        message = f"'{first.text[:80]}' is not a step of phase '{layout.phase.id}'"
        fix = did_you_mean(first.text, [stage.name for stage in layout.stages])
        findings.append(Finding("unknown-step", message, first.place, fix))
