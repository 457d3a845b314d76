"""Which words end an agent's turn, and what each of them means for the way through the phase."""

from dataclasses import dataclass, replace
from typing import Literal

from porch.dialects.phases.layout import REVISE, Layout, Stage
from porch.dialects.phases.records import Definition, Signal
from porch.dialects.phases.targets import Atlas, Goal
from porch.model.protocol import BLOCKED, Exit, Target

COMPLETION = (
    "PHASE_COMPLETE", "PHASE_IMPLEMENTED", "TESTS_WRITTEN", "EVALUATION_COMPLETE",
    "REVIEW_COMPLETE",
)  # fmt: skip
DRAFTED_ALIASES = ("READY_FOR_REVIEW", "SPEC_READY")
REVISION_COMPLETE = "REVISION_COMPLETE"
_ALIKE_IN_EVALUATE = ("PHASE_COMPLETE", "EVALUATION_COMPLETE")

# onward: as the phase says; via: to a later stage, past the checks; leave: as the phase says, then
# out to this target; direct: straight to the target, because nothing is claimed to be finished.
Manner = Literal["onward", "via", "leave", "direct"]


@dataclass(frozen=True, slots=True)
class Way:
    """An exit of an agent and where it leads."""

    exit: Exit
    manner: Manner = "onward"
    target: Target = Target()
    signal: Signal | None = None

    @property
    def is_forward(self) -> bool:
        return self.manner != "direct"


def ways_of(
    layout: Layout, agent: Stage, definition: Definition, atlas: Atlas, out: Target
) -> tuple[Way, ...]:
    """`out` is where the phase leads when it is done."""
    ways = _declared(layout, agent, definition, atlas, out)
    own = [way for way in ways if way.is_forward and way.signal and not way.signal.common]
    names = {way.exit.name for way in ways}
    if _revises(layout, agent) and REVISION_COMPLETE not in names:
        ways.append(Way(_exit(REVISION_COMPLETE, "The findings have been dealt with")))
    required = _required(layout, agent, {way.exit.name for way in ways})
    if not own:
        ways = _with_completion(ways, agent, required)
    ways += required
    return tuple(_with_aliases(ways, layout))


def _exit(name: str, description: str = "", needs_reason: bool = False) -> Exit:
    return Exit(name, (name,), needs_reason, description)


def _revises(layout: Layout, agent: Stage) -> bool:
    return agent is layout.reviser or agent.name == REVISE


def _declared(
    layout: Layout, agent: Stage, definition: Definition, atlas: Atlas, out: Target
) -> list[Way]:
    ways: dict[str, Way] = {}
    for signal in (*layout.phase.signals, *definition.signals):
        if signal.name == BLOCKED or signal.name in ways:
            continue
        way = _way(signal, layout, agent, atlas, out)
        if way is not None and _belongs(way, layout, agent):
            ways[signal.name] = way
    return list(ways.values())


def _way(signal: Signal, layout: Layout, agent: Stage, atlas: Atlas, out: Target) -> Way | None:
    exit_ = _exit(signal.name, signal.description, signal.needs_reason)
    if signal.target is None:
        return Way(exit_, signal=signal)
    goal = atlas.goal(signal.target, layout, f"signal '{signal.name}' of '{layout.phase.id}'")
    if goal is None:
        return None
    if signal.name in COMPLETION:
        goal = replace(goal, target=atlas.looped(goal.target, layout))
    manner = _manner(signal, goal, layout, agent, out)
    return Way(exit_, manner, goal.target, signal)


def _manner(signal: Signal, goal: Goal, layout: Layout, agent: Stage, out: Target) -> Manner:
    following = layout.after(agent)
    leads_on = following is not None and goal.target == Target(following.state)
    if goal.onward or leads_on or (goal.target == out and goal.target.next_of):
        return "onward"
    if _is_here_already(signal, layout):
        return "onward"
    if goal.phase == layout.index and not goal.target.item:
        return _within(goal, layout)
    if goal.target == out:
        return "onward"
    return "leave" if goal.target.next_of or goal.phase > layout.index else "direct"


def _is_here_already(signal: Signal, layout: Layout) -> bool:
    """A signal for all phases that leads to this very phase has nowhere to go but on."""
    word = signal.target
    return signal.common and word is not None and word.text == layout.phase.id


def _within(goal: Goal, layout: Layout) -> Manner:
    stage = layout.stage(goal.stage)
    return "via" if stage is not None and stage.kind in ("panel", "gate") else "direct"


def _belongs(way: Way, layout: Layout, agent: Stage) -> bool:
    """In a phase of several agents a finished step is not yet a finished phase."""
    if len(layout.agents) == 1:
        return True
    if way.manner in ("via", "direct"):
        return not any(_leads_to(layout, other, way.target) for other in layout.agents)
    named = way.signal is not None and way.signal.target is not None
    is_next_stage = named and _leads_to(layout, agent, way.target)
    is_common = way.signal is not None and way.signal.common
    return is_next_stage or is_common or layout.leaves(agent)


def _leads_to(layout: Layout, agent: Stage, target: Target) -> bool:
    following = layout.after(agent)
    return following is not None and following.state == target.state


def _with_completion(ways: list[Way], agent: Stage, required: list[Way]) -> list[Way]:
    """One exit for all the words that say 'done', unless the file means something else by one.

    Words are compared without regard to case, as they are when an agent has spoken.
    """
    spoken = {way.exit.name.lower() for way in (*ways, *required)} - {COMPLETION[0].lower()}
    words = (*COMPLETION, agent.step.name) if agent.step is not None else COMPLETION
    spellings: dict[str, str] = {}
    for word in words:
        if word.lower() not in spoken:
            spellings.setdefault(word.lower(), word)
    found = next((way for way in ways if way.exit.name == COMPLETION[0]), None)
    if found is None:
        return [
            *ways,
            Way(Exit(COMPLETION[0], tuple(spellings.values()), False, "The work is done")),
        ]
    spelled = replace(found, exit=replace(found.exit, signals=tuple(spellings.values())))
    return [spelled if way is found else way for way in ways]


def required_names(layout: Layout) -> tuple[str, ...]:
    """What a gate requires and nothing in the phase supplies: the agent has to say it."""
    gate, phase = layout.phase.gate, layout.phase
    if gate is None:
        return ()
    checks = {check.command.name for check in phase.checks}
    if phase.verification:
        checks |= {check.command.name for check in phase.verification.checks}
    panel = {"consult", "consultation", "review"} if phase.consultation else set()
    return tuple(
        dict.fromkeys(
            word.text
            for word in gate.requires
            if word.text not in checks | panel and layout.stage(word.text) is None
        )
    )


def _required(layout: Layout, agent: Stage, known: set[str]) -> list[Way]:
    if not is_asked(layout, agent):
        return []
    name = gate_name(layout)
    return [
        Way(_exit(word, f"Needed before the gate '{name}'"))
        for word in required_names(layout)
        if word not in known
    ]


def is_asked(layout: Layout, agent: Stage) -> bool:
    """The last agent on the way to the gate is the one who supplies what it requires."""
    return bool(required_names(layout)) and agent is layout.last_agent_before(layout.gate)


def gate_name(layout: Layout) -> str:
    gate = layout.phase.gate
    return (gate.name if gate else "") or f"{layout.phase.id}_approval"


def _with_aliases(ways: list[Way], layout: Layout) -> list[Way]:
    taken = {word for way in ways for word in way.exit.signals}
    aliased = []
    for way in ways:
        extra = [word for word in _aliases(way, layout) if word not in taken]
        taken |= set(extra)
        exit_ = replace(way.exit, signals=(*way.exit.signals, *extra))
        aliased.append(replace(way, exit=exit_))
    return aliased


def _aliases(way: Way, layout: Layout) -> tuple[str, ...]:
    if way.exit.name.endswith("_DRAFTED"):
        return DRAFTED_ALIASES
    if layout.phase.id == "evaluate" and way.exit.name in _ALIKE_IN_EVALUATE:
        return _ALIKE_IN_EVALUATE
    return ()
