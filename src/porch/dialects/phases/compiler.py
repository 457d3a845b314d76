"""Records into the model: every phase is laid out, drawn, and then the whole is made to end."""

from dataclasses import replace
from typing import assert_never

from porch.dialects.phases.agents import draw_agent, draw_blocked, draw_failed
from porch.dialects.phases.bench import Bench
from porch.dialects.phases.checks import draw_check_step, draw_phase_completion
from porch.dialects.phases.draft import COMPLETE, Draft, drawn_protocol
from porch.dialects.phases.endings import bound_cycles, draw_commit, draw_ends
from porch.dialects.phases.forms import MOST_STEPS, Findings
from porch.dialects.phases.gates import draw_behind_gate, draw_gate
from porch.dialects.phases.inputs import with_inputs
from porch.dialects.phases.layout import Layout, Stage, lay_out
from porch.dialects.phases.loops import draw_loops, looped
from porch.dialects.phases.panels import draw_panel, draw_undecided
from porch.dialects.phases.records import CheckRecord, Consultation, Definition, Gate, Phase
from porch.dialects.phases.signals import ways_of
from porch.dialects.phases.targets import Atlas
from porch.errors import Finding
from porch.model.protocol import Protocol, Target
from porch.model.rounds import untied
from porch.model.validate import knots


def compile_definition(
    definition: Definition, prompts_dir: str, findings: Findings
) -> tuple[Protocol | None, Draft]:
    draft = Draft(findings)
    atlas = _atlas(definition, findings)
    if not atlas.layouts or _is_too_long(definition, findings):
        return None, draft
    for layout in atlas.layouts.values():
        _draw_phase(_bench(layout, atlas, definition, draft), prompts_dir)
    draw_ends(draft, definition)
    draw_loops(draft, atlas, definition)
    bound_cycles(draft, atlas)
    return _protocol(definition, atlas, draft), draft


def _is_too_long(definition: Definition, findings: Findings) -> bool:
    """Drawing is quick for what a person can oversee; a hostile file must not cost minutes."""
    steps = sum(max(1, len(phase.steps)) for phase in definition.phases)
    if steps > MOST_STEPS:
        message = f"the protocol has {steps} steps; at most {MOST_STEPS} are drawn"
        findings.append(Finding("too-many", message, definition.place, "split the protocol"))
    return steps > MOST_STEPS


def _protocol(definition: Definition, atlas: Atlas, draft: Draft) -> Protocol:
    blank = Protocol(
        definition.name,
        _initial(definition, atlas),
        {},
        (),
        definition.version,
        definition.description,
        definition.subject,
        limits=definition.limits,
    )
    # Phases that lead back over others could restore each other's retries for ever.
    return untied(with_inputs(drawn_protocol(draft, blank), draft), knots)


def _atlas(definition: Definition, findings: Findings) -> Atlas:
    working = [phase for phase in definition.phases if not phase.is_end]
    ends = {phase.id for phase in definition.phases if phase.is_end} | set(definition.ends)
    order = tuple(phase.id for phase in definition.phases)
    laid = [_laid_out(phase, order, findings) for phase in working]
    layouts = {layout.phase.id: layout for layout in laid if layout is not None}
    atlas = Atlas(layouts, order, frozenset(ends), findings)
    return replace(atlas, layouts=looped(layouts, order))


def _laid_out(phase: Phase, order: tuple[str, ...], findings: Findings) -> Layout | None:
    return lay_out(phase, order.index(phase.id), findings)


def _bench(layout: Layout, atlas: Atlas, definition: Definition, draft: Draft) -> Bench:
    out = atlas.leave(layout)
    ways = {agent.state: ways_of(layout, agent, definition, atlas, out) for agent in layout.agents}
    return Bench(layout, atlas, definition, draft, out, ways)


def _draw_phase(bench: Bench, prompts_dir: str) -> None:
    """In the order of travel, because that is how far along a run is said to be."""
    layout = bench.layout
    for stage in layout.main:
        _draw_stage(bench, stage, prompts_dir)
        if stage.kind == "panel" and layout.reviser is not None:
            draw_agent(bench, layout.reviser, prompts_dir)
    draw_commit(bench)
    if bench.completion:
        draw_phase_completion(bench)
    if layout.panel is not None:
        draw_undecided(bench, layout.panel)
    for agent in layout.agents:
        draw_failed(bench, agent)
        draw_blocked(bench, agent)


def _draw_stage(bench: Bench, stage: Stage, prompts_dir: str) -> None:
    match stage.work:
        case None:
            draw_agent(bench, stage, prompts_dir)
        case CheckRecord() as record:
            draw_check_step(bench, stage, record)
        case Consultation() as said:
            draw_panel(bench, stage, said)
        case Gate() as gate:
            draw_gate(bench, stage, gate)
            draw_behind_gate(bench, stage)
        case _:
            assert_never(stage.work)


def _initial(definition: Definition, atlas: Atlas) -> Target:
    first = Target(next(iter(atlas.layouts.values())).first)
    if definition.initial is None or definition.initial.kind == "null":
        return first
    goal = atlas.goal(definition.initial, None, "'initial'")
    if goal is not None and goal.target == COMPLETE:
        message = "'initial' begins the protocol at its end"
        fix = f"write '{first.state}'"
        atlas.findings.append(Finding("wrong-value", message, definition.initial.place, fix))
    return goal.target if goal is not None else first
