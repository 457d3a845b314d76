"""Which words end an agent's turn, and what each of them means for the way through the phase."""

from msgspec.structs import replace

from porch.dialects.phases.compiler.stages import REVISE_STEP, PhaseLayout, Stage
from porch.dialects.phases.compiler.targets import (
    VERIFY,
    ExitRoute,
    PhaseLookup,
    ResolvedTarget,
    RouteKind,
)
from porch.dialects.phases.file_records import TOO_COMPLEX, PhasesFile, SignalRecord
from porch.model.protocol import BLOCKED, Exit, Target

COMPLETION_SIGNALS = (
    "PHASE_COMPLETE", "PHASE_IMPLEMENTED", "TESTS_WRITTEN", "EVALUATION_COMPLETE",
    "REVIEW_COMPLETE",
)  # fmt: skip
DRAFTED_ALIASES = ("READY_FOR_REVIEW", "SPEC_READY")
REVISION_COMPLETE = "REVISION_COMPLETE"
_ALIKE_IN_EVALUATE = ("PHASE_COMPLETE", "EVALUATION_COMPLETE")


def find_exit_routes(
    layout: PhaseLayout, agent: Stage, definition: PhasesFile, atlas: PhaseLookup, out: Target
) -> tuple[ExitRoute, ...]:
    """`out` is where the phase leads when it is done."""
    ways = _find_declared_routes(layout, agent, definition, atlas, out)
    own = [way for way in ways if way.is_forward and way.signal and not way.signal.common]
    names = {way.exit.name for way in ways}
    if _is_reviser(layout, agent) and REVISION_COMPLETE not in names:
        ways.append(ExitRoute(_make_exit(REVISION_COMPLETE, "Every finding is fixed or answered")))
    required = _required_routes(layout, agent, {way.exit.name for way in ways})
    if not own:
        ways = _with_completion(ways, agent, required)
    ways += required
    return tuple(_with_aliases(ways, layout))


def _make_exit(name: str, description: str = "", needs_reason: bool = False) -> Exit:
    return Exit(name, (name,), needs_reason, description)


def _is_reviser(layout: PhaseLayout, agent: Stage) -> bool:
    return agent is layout.reviser or agent.name == REVISE_STEP


def _find_declared_routes(
    layout: PhaseLayout, agent: Stage, definition: PhasesFile, atlas: PhaseLookup, out: Target
) -> list[ExitRoute]:
    ways: dict[str, ExitRoute] = {}
    for signal in (*layout.phase.signals, *definition.signals):
        if signal.name == BLOCKED or signal.name in ways:
            continue
        way = _find_signal_route(signal, layout, agent, atlas, out)
        if way is not None and _belongs_to_agent(way, layout, agent):
            ways[signal.name] = way
    return list(ways.values())


def _find_signal_route(
    signal: SignalRecord, layout: PhaseLayout, agent: Stage, atlas: PhaseLookup, out: Target
) -> ExitRoute | None:
    exit_ = _make_exit(signal.name, signal.description, signal.needs_reason)
    if signal.target is None:
        return ExitRoute(exit_, signal=signal)
    owner = "" if signal.common else f" of '{layout.phase.id}'"
    goal = atlas.goal(signal.target, layout, f"signal '{signal.name}'{owner}")
    if goal is None:
        return None
    if signal.name in COMPLETION_SIGNALS:
        goal = replace(goal, target=atlas.looped(goal.target, layout))
    if leads_on(signal, layout):
        return ExitRoute(exit_, "onward", goal.target, signal)
    is_direct = signal.name == TOO_COMPLEX and not goal.onward
    manner = "direct" if is_direct else _route_kind(goal, layout, agent, out)
    return ExitRoute(exit_, manner, goal.target, signal)


def _route_kind(goal: ResolvedTarget, layout: PhaseLayout, agent: Stage, out: Target) -> RouteKind:
    following = layout.after(agent)
    leads_on = following is not None and goal.target == Target(following.state)
    if goal.onward or leads_on or (goal.target == out and goal.target.next_of):
        return "onward"
    if goal.phase == layout.index and not goal.target.item:
        return _route_kind_inside(goal, layout)
    if goal.target == out:
        return "onward"
    return "leave" if goal.target.next_of or goal.phase > layout.index else "direct"


def leads_on(signal: SignalRecord, layout: PhaseLayout) -> bool:
    """Whether a signal of all phases means that this one is done: its own way counts then.

    A word for 'done' cannot lead all phases to one place, and `verify` means the reviewers of a
    phase that has some. Every other signal means what it says.
    """
    word = signal.target
    is_own_review = word is not None and word.text == VERIFY and layout.panel is not None
    return signal.common and (signal.name in COMPLETION_SIGNALS or is_own_review)


def _route_kind_inside(goal: ResolvedTarget, layout: PhaseLayout) -> RouteKind:
    stage = layout.stage(goal.stage)
    return "via" if stage is not None and stage.kind in ("panel", "gate") else "direct"


def _belongs_to_agent(way: ExitRoute, layout: PhaseLayout, agent: Stage) -> bool:
    """In a phase of several agents a finished step is not yet a finished phase."""
    if len(layout.agents) == 1:
        return True
    if way.manner in ("via", "direct"):
        return not any(_leads_to(layout, other, way.target) for other in layout.agents)
    named = way.signal is not None and way.signal.target is not None
    is_next_stage = named and _leads_to(layout, agent, way.target)
    is_common = way.signal is not None and way.signal.common
    return is_next_stage or is_common or layout.leaves(agent)


def _leads_to(layout: PhaseLayout, agent: Stage, target: Target) -> bool:
    following = layout.after(agent)
    return following is not None and following.state == target.state


def _with_completion(
    ways: list[ExitRoute], agent: Stage, required: list[ExitRoute]
) -> list[ExitRoute]:
    """One exit for all the words that say 'done', unless the file means something else by one.

    Words are compared without regard to case, as they are when an agent has spoken.
    """
    spoken = {way.exit.name.lower() for way in (*ways, *required)} - {COMPLETION_SIGNALS[0].lower()}
    words = (*COMPLETION_SIGNALS, agent.step.name) if agent.step is not None else COMPLETION_SIGNALS
    spellings: dict[str, str] = {}
    for word in words:
        if word.lower() not in spoken:
            spellings.setdefault(word.lower(), word)
    found = next((way for way in ways if way.exit.name == COMPLETION_SIGNALS[0]), None)
    if found is None:
        return [
            *ways,
            ExitRoute(
                Exit(COMPLETION_SIGNALS[0], tuple(spellings.values()), False, "The work is done")
            ),
        ]
    spelled = replace(found, exit=replace(found.exit, signals=tuple(spellings.values())))
    return [spelled if way is found else way for way in ways]


def required_gate_words(layout: PhaseLayout) -> tuple[str, ...]:
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


def _required_routes(layout: PhaseLayout, agent: Stage, known: set[str]) -> list[ExitRoute]:
    if not is_asked_for_gate_words(layout, agent):
        return []
    name = gate_name(layout)
    return [
        ExitRoute(_make_exit(word, f"Needed before the gate '{name}'"))
        for word in required_gate_words(layout)
        if word not in known
    ]


def is_asked_for_gate_words(layout: PhaseLayout, agent: Stage) -> bool:
    """The last agent on the way to the gate is the one who supplies what it requires."""
    return bool(required_gate_words(layout)) and agent is layout.last_agent_before(layout.gate)


def gate_name(layout: PhaseLayout) -> str:
    gate = layout.phase.gate
    return (gate.name if gate else "") or f"{layout.phase.id}_approval"


def _with_aliases(ways: list[ExitRoute], layout: PhaseLayout) -> list[ExitRoute]:
    taken = {word for way in ways for word in way.exit.signals}
    aliased = []
    for way in ways:
        extra = [word for word in _exit_aliases(way, layout) if word not in taken]
        taken |= set(extra)
        exit_ = replace(way.exit, signals=(*way.exit.signals, *extra))
        aliased.append(replace(way, exit=exit_))
    return aliased


def _exit_aliases(way: ExitRoute, layout: PhaseLayout) -> tuple[str, ...]:
    if way.exit.name.endswith("_DRAFTED"):
        return DRAFTED_ALIASES
    if layout.phase.id == "evaluate" and way.exit.name in _ALIKE_IN_EVALUATE:
        return _ALIKE_IN_EVALUATE
    return ()
