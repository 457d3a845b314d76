"""Records into the model: every phase is laid out, drawn, and then the whole is made to end."""

from collections.abc import Iterator
from typing import assert_never

from msgspec.structs import replace

from porch.dialects.phases.compiler.agent_states import (
    draw_agent,
    draw_blocked,
    draw_escalated,
    draw_failed,
)
from porch.dialects.phases.compiler.check_states import draw_check_step, draw_phase_completion
from porch.dialects.phases.compiler.gate_states import draw_behind_gate, draw_gate
from porch.dialects.phases.compiler.last_checks import draw_last_checks
from porch.dialects.phases.compiler.loops import assign_loops, draw_loops
from porch.dialects.phases.compiler.panel_states import draw_panel, draw_undecided
from porch.dialects.phases.compiler.phase_draft import PhaseDraft
from porch.dialects.phases.compiler.protocol_draft import (
    COMPLETE,
    DrawnEdge,
    ProtocolDraft,
    finish_protocol,
)
from porch.dialects.phases.compiler.signal_exits import find_exit_routes
from porch.dialects.phases.compiler.stages import PhaseLayout, Stage, lay_out_phase
from porch.dialects.phases.compiler.targets import PhaseLookup
from porch.dialects.phases.compiler.unfinished_items import draw_unfinished
from porch.dialects.phases.file_records import (
    DEFAULT_RETRIES,
    CheckRecord,
    Consultation,
    GateRecord,
    Phase,
    PhasesFile,
)
from porch.dialects.phases.mapping_reader import MOST_STEPS, Findings
from porch.errors import Finding
from porch.model.artifact_names import describe_name
from porch.model.budget_cycles import drop_knotted_resets
from porch.model.gate_ways import FINISH
from porch.model.memory_paths import last_words_path
from porch.model.protocol import (
    Agent,
    Check,
    Edge,
    End,
    Git,
    Human,
    Input,
    Panel,
    Protocol,
    State,
    Target,
)
from porch.model.validate import find_knots, free_steps


def compile_definition(
    definition: PhasesFile, prompts_dir: str, findings: Findings
) -> tuple[Protocol | None, ProtocolDraft]:
    draft = ProtocolDraft(findings)
    atlas = build_lookup(definition, findings)
    if definition.phases and not atlas.layouts:
        message = "every phase is an end, so there is no work"
        findings.append(
            Finding("missing-key", message, definition.place, "write a phase with work")
        )
    if not atlas.layouts or _is_too_long(definition, findings):
        return None, draft
    for layout in atlas.layouts.values():
        _draw_phase(_make_phase_draft(layout, atlas, definition, draft), prompts_dir)
    draw_ends(draft, definition)
    draw_loops(draft, atlas, definition)
    draw_last_checks(draft, atlas, definition.place)
    bound_cycles(draft, atlas)
    return _build_protocol(definition, atlas, draft), draft


def _is_too_long(definition: PhasesFile, findings: Findings) -> bool:
    """Drawing is quick for what a person can oversee; a hostile file must not cost minutes."""
    steps = sum(max(1, len(phase.steps)) for phase in definition.phases)
    if steps > MOST_STEPS:
        message = f"the protocol has {steps} steps; the limit is {MOST_STEPS}"
        findings.append(Finding("too-many", message, definition.place, "split the protocol"))
    return steps > MOST_STEPS


def _build_protocol(definition: PhasesFile, atlas: PhaseLookup, draft: ProtocolDraft) -> Protocol:
    draft.places[FINISH] = definition.finish_place
    blank = Protocol(
        definition.name,
        _initial_target(definition, atlas),
        {},
        (),
        definition.version,
        definition.description,
        definition.subject,
        limits=definition.limits,
        protected=definition.protected,
        is_protecting=definition.is_protecting,
        finish=definition.finish,
    )
    # Phases that lead back over others could restore each other's retries for ever.
    return drop_knotted_resets(add_state_inputs(finish_protocol(draft, blank), draft), find_knots)


def build_lookup(definition: PhasesFile, findings: Findings) -> PhaseLookup:
    working = [phase for phase in definition.phases if not phase.is_end]
    ends = {phase.id for phase in definition.phases if phase.is_end} | set(definition.ends)
    order = tuple(phase.id for phase in definition.phases)
    laid = [_lay_out_in_order(phase, order, findings) for phase in working]
    layouts = {layout.phase.id: layout for layout in laid if layout is not None}
    atlas = PhaseLookup(layouts, order, frozenset(ends), findings)
    return replace(atlas, layouts=assign_loops(layouts, order))


def _lay_out_in_order(
    phase: Phase, order: tuple[str, ...], findings: Findings
) -> PhaseLayout | None:
    return lay_out_phase(phase, order.index(phase.id), findings)


def _make_phase_draft(
    layout: PhaseLayout, atlas: PhaseLookup, definition: PhasesFile, draft: ProtocolDraft
) -> PhaseDraft:
    out = atlas.leave(layout)
    ways = {
        agent.state: find_exit_routes(layout, agent, definition, atlas, out)
        for agent in layout.agents
    }
    return PhaseDraft(layout, atlas, definition, draft, out, ways)


def _draw_phase(bench: PhaseDraft, prompts_dir: str) -> None:
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
    draw_escalated(bench)
    draw_unfinished(bench)


def _draw_stage(bench: PhaseDraft, stage: Stage, prompts_dir: str) -> None:
    match stage.work:
        case None:
            draw_agent(bench, stage, prompts_dir)
        case CheckRecord() as record:
            draw_check_step(bench, stage, record)
        case Consultation() as said:
            draw_panel(bench, stage, said)
        case GateRecord() as gate:
            draw_gate(bench, stage, gate)
            draw_behind_gate(bench, stage)
        case _:
            assert_never(stage.work)


def _initial_target(definition: PhasesFile, atlas: PhaseLookup) -> Target:
    first = Target(next(iter(atlas.layouts.values())).first)
    if definition.initial is None or definition.initial.kind == "null":
        return first
    goal = atlas.goal(definition.initial, None, "'initial'")
    if goal is not None and goal.target == COMPLETE:
        message = "'initial' names the end of the protocol"
        fix = f"write '{first.state}'"
        atlas.findings.append(Finding("wrong-value", message, definition.initial.place, fix))
    return goal.target if goal is not None else first


def draw_commit(bench: PhaseDraft) -> None:
    if not bench.commit:
        return
    phase, agent = bench.phase, bench.layout.mender(None)
    message = (
        f"{bench.definition.name}: {phase.title} {', '.join(map(describe_name, phase.commits))}"
    )
    bench.add(bench.commit, Git(phase.commits, message), phase.place)
    refusals = tuple(f"{bench.commit}.{exit_}" for exit_ in ("refused", "conflict"))
    bench.leave(bench.commit, "clean", forgets=refusals)
    for exit_ in ("refused", "conflict"):
        bench.edge(bench.commit, exit_, bench.failed(agent))


def draw_ends(draft: ProtocolDraft, definition: PhasesFile) -> None:
    draft.add(State("abandoned", "abandoned", End("abandoned"), "Abandoned"), definition.place)
    draft.add(State("complete", "complete", End("complete"), "Complete"), definition.place)


def bound_cycles(draft: ProtocolDraft, atlas: PhaseLookup) -> None:
    """The file cannot say how often a signal may lead back; three times, then a person decides."""
    order = {name: number for number, name in enumerate(draft.states)}
    edges = [drawn.edge for drawn in draft.edges]
    knot_of = find_knots(free_steps(draft.states, edges, draft.loops))
    for drawn in draft.edges:
        here = drawn.edge.state
        for target in drawn.edge.targets:
            there = draft.loops[target.next_of].after.state if target.next_of else target.state
            is_back = order.get(there, len(order)) <= order[here]
            if (
                is_back
                and not drawn.edge.charges
                and knot_of.get(here, -1) == knot_of.get(there, -2)
            ):
                _charge_edge(draft, drawn, atlas)


def _charge_edge(draft: ProtocolDraft, drawn: DrawnEdge, atlas: PhaseLookup) -> None:
    edge = drawn.edge
    budget = draft.budget(drawn.phase, f"{edge.state}.{edge.exit}", DEFAULT_RETRIES)
    is_agent = isinstance(draft.states[edge.state].actor, Agent)
    agent = edge.state if is_agent else atlas.layouts[drawn.phase].mender(None).state
    drawn.edge = replace(edge, charges=budget, spent=(Target(f"failed:{agent}"),))
    _note_own_bound(draft, drawn)


def _note_own_bound(draft: ProtocolDraft, drawn: DrawnEdge) -> None:
    """Taken because the file has none; whoever wrote it should know the number."""
    edge = drawn.edge
    there = " or ".join(draft.states[t.state].group for t in edge.targets if t.state)
    message = (
        f"'{edge.exit}' of '{edge.state}' leads back to '{there}', and nothing in the file says "
        f"how often: porch allows it {DEFAULT_RETRIES} times (budget '{edge.charges}'), then a "
        "person decides"
    )
    place = draft.places.get(f"{edge.state}.{edge.exit}") or draft.places.get(edge.state)
    draft.findings.append(Finding("own-bound", message, place, severity="note"))


def add_state_inputs(protocol: Protocol, draft: ProtocolDraft) -> Protocol:
    incoming = _loop_inputs(protocol, draft)
    order = {name: number for number, name in enumerate(protocol.states)}
    for edge in protocol.edges:
        for target in edge.targets:
            if order.get(target.state, len(order)) <= order[edge.state]:
                incoming[target.state].extend(_list_return_inputs(protocol, edge))
    states = dict(protocol.states)
    for name, state in protocol.states.items():
        if isinstance(state.actor, Agent):
            states[name] = _with_agent_inputs(state, draft, incoming.get(name, []))
        elif isinstance(state.actor, Panel):
            states[name] = replace(
                state, inputs=tuple(_list_panel_inputs(protocol, draft, state.group))
            )
    return replace(protocol, states=states)


def _list_panel_inputs(protocol: Protocol, draft: ProtocolDraft, phase: str) -> Iterator[Input]:
    """Reviewers of a later round see what was asked for before, and what was said to it."""
    asked = {
        given.path: given
        for given in draft.paths_of.get(phase, [])
        if isinstance(protocol.states[given.path.rpartition(".")[0]].actor, (Panel, Human))
    }
    yield from asked.values()
    edges = [edge for edge in protocol.edges if f"{edge.state}.{edge.exit}" in asked]
    menders = dict.fromkeys(target.state for edge in edges for target in edge.targets)
    known = {name: protocol.states[name].actor for name in menders if name in protocol.states}
    agents = [name for name, actor in known.items() if isinstance(actor, Agent)]
    yield from (Input(f"What {name} answered", last_words_path(name)) for name in agents)


def _loop_inputs(protocol: Protocol, draft: ProtocolDraft) -> dict[str, list[Input]]:
    """Whoever works in a loop sees why its item was begun again."""
    return {
        name: [
            Input("Failed at the end of the plan phase", path)
            for path in draft.completions.get(state.loop, ())
        ]
        for name, state in protocol.states.items()
    }


def _with_agent_inputs(state: State, draft: ProtocolDraft, incoming: list[Input]) -> State:
    own = [
        Input("Answer to your question", f"blocked:{state.name}.answered"),
        Input("A person asked for another try", f"failed:{state.name}.retry"),
    ]
    paths: dict[str, Input] = {}
    for shown in (*draft.paths_of.get(state.group, []), *own, *incoming):
        paths.setdefault(shown.path, shown)
    return replace(state, inputs=tuple(paths.values()))


def _list_return_inputs(protocol: Protocol, edge: Edge) -> Iterator[Input]:
    """A failed check or a signal that leads back carries the reason with it."""
    path, actor = f"{edge.state}.{edge.exit}", protocol.states[edge.state].actor
    if isinstance(actor, Check) and edge.exit != "passed":
        yield Input("Failed checks", path)
    elif isinstance(actor, Agent):
        yield Input(f"Sent back by {edge.state}", path)
