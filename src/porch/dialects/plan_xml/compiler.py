"""A plan as a protocol: an agent for each task, gates before and after, one after another.

Statuses have no say in it, so a plan that is half done compiles to what it was at its beginning.
"""

from collections.abc import Iterable, Mapping

from porch.dialects.plan_xml import gate_states, stage_texts
from porch.dialects.plan_xml.protocol_draft import ABANDONED, COMPLETE, TrackDraft
from porch.dialects.plan_xml.stage_ways import (
    StageWays,
    find_stage_ways,
    group_stages,
    needs_closing,
)
from porch.dialects.plan_xml.track_plan import TrackPhase, TrackPlan
from porch.dialects.plan_xml.walk import PlanStage, list_stages
from porch.model.protocol import (
    BLOCKED,
    EXHAUSTED,
    SILENT,
    TRACK,
    Agent,
    Check,
    Command,
    End,
    Exit,
    Human,
    Input,
    Join,
    Option,
    Protocol,
    State,
    Target,
)
from porch.model.track_names import (
    CODUMENT,
    DONE,
    REOPENED,
    blocked_state,
    closing_state,
    intent_state,
    join_state,
    rework_state,
)

GateGroups = Mapping[tuple[str, str], list[PlanStage]]
_SIGNAL = "TASK_DONE"
_BLOCKED_EXIT = Exit(BLOCKED, (BLOCKED,), True, "Only a person can help; say what you need")


def compile_plan(plan: TrackPlan, *, coalesce: bool = False) -> TrackDraft:
    draft = TrackDraft(plan)
    stages = list_stages(plan, coalesce=coalesce)
    ways, gates = find_stage_ways(stages), _group_gates(stages)
    draft.first = ways.first
    for group in group_stages(stages):
        fork, phase = group[0].beside, group[0].phase
        if fork:
            draft.add_silent(phase, fork, Join(), f"{phase.id}: side by side")
            draft.edge(fork, "ready", *ways.heads[fork])
        for stage in group:
            draft.beside = fork
            _draw_stage(draft, stage, ways, gates)
        draft.beside = ""
        if fork:
            draft.add_silent(phase, join_state(fork), Join(), f"{phase.id}: all are there")
            draft.edge(join_state(fork), "ready", ways.onward[join_state(fork)])
    if needs_closing(stages):
        _draw_closing(draft, stages[-1].phase)
    draft.states[ABANDONED] = State(ABANDONED, ABANDONED, End("abandoned"), "Abandoned")
    draft.states[COMPLETE] = State(COMPLETE, COMPLETE, End("complete"), "Complete")
    return draft


def _draw_stage(draft: TrackDraft, stage: PlanStage, ways: StageWays, gates: GateGroups) -> None:
    if stage.kind == "work":
        before, after = (gates.get((stage.node.id, m), []) for m in ("before", "after"))
        _draw_work(draft, stage, ways, before, after)
        return
    mates = gates[stage.node.id, stage.moment]
    if mates[0] is stage:
        _draw_way_back(draft, stage, mates, ways)
    gate_states.draw_gate(
        draft, stage, ways.onward[stage.state], _way_back(stage), mates, ways.mates_of(stage)
    )


def _draw_closing(draft: TrackDraft, phase: TrackPhase) -> None:
    """A step that begins, so that what was confirmed is compared before the run ends."""
    state = closing_state(phase.id)
    words = "what was confirmed in this phase is as it was confirmed"
    check = Check((Command("confirmed", "true", description=words, once=True),))
    draft.add_silent(phase, state, check, f"{phase.id}: close")
    for exit_ in ("passed", "failed", "unmeasured"):
        draft.edge(state, exit_, COMPLETE)


def make_protocol(draft: TrackDraft) -> Protocol:
    return Protocol(
        CODUMENT,
        Target(draft.first),
        draft.states,
        tuple(draft.edges),
        description=draft.plan.goal or draft.plan.name,
        subject=TRACK,
        budgets=draft.budgets,
    )


def _group_gates(stages: Iterable[PlanStage]) -> GateGroups:
    """The gates of each node at each moment, in the order of the walk."""
    found: dict[tuple[str, str], list[PlanStage]] = {}
    for stage in stages:
        if stage.kind != "work":
            found.setdefault((stage.node.id, stage.moment), []).append(stage)
    return found


def _way_back(stage: PlanStage) -> str:
    """Where what a gate did not let pass is changed."""
    if stage.moment == "before":
        return intent_state(stage.node.id)
    return stage.task_state if stage.task is not None else rework_state(stage.node.id)


def _draw_way_back(
    draft: TrackDraft, stage: PlanStage, mates: list[PlanStage], ways: StageWays
) -> None:
    """In front of the first gate of a node and a moment: who changes what was not confirmed."""
    back = _way_back(stage)
    if stage.moment == "after" and stage.task is not None:
        return  # the task itself
    is_intent = stage.moment == "before"
    text = (stage_texts.render_intent if is_intent else stage_texts.render_rework)(
        draft.plan, stage
    )
    title = f"{stage.node.id}: {'say the intent anew' if is_intent else 'rework'}"
    _draw_agent(draft, stage, back, title, text=text, gates=mates)
    # Of an intent only the words are new.
    entry = ways.entry(stage)
    gate_states.draw_done(draft, back, entry, () if is_intent else mates, ways)
    _draw_blocked(draft, stage, back, entry, "ask again without a change")


def _draw_work(
    draft: TrackDraft,
    stage: PlanStage,
    ways: StageWays,
    before: list[PlanStage],
    after: list[PlanStage],
) -> None:
    """A task that is given up takes its open questions along: its way leads past them."""
    text, title = stage_texts.render_work(draft.plan, stage), f"{stage.name} {stage.node.name}"
    _draw_agent(draft, stage, stage.state, title.strip(), text=text, gates=(*before, *after))
    gate_states.draw_done(draft, stage.state, ways.onward[stage.state], after, ways)
    past = ways.past(stage, after)
    _draw_blocked(draft, stage, stage.state, past, "give this task up and go on without it")


def _draw_agent(
    draft: TrackDraft,
    stage: PlanStage,
    state: str,
    title: str,
    *,
    text: str,
    gates: Iterable[PlanStage],
) -> None:
    done = Exit(DONE, (_SIGNAL,), description="it is done, and every criterion holds")
    heard = [
        Input("What has to change", path)
        for gate in gates
        for path in gate_states.change_paths(gate)
    ]
    blocked = blocked_state(state)
    heard += [
        Input("A person asked for another try", f"{blocked}.retry"),
        Input("A person said: undo what was begun, and start over", f"{blocked}.restart"),
        Input("A person took back that it is done", f"{REOPENED}{state}"),
    ]
    actor = Agent("task", exits=(done, _BLOCKED_EXIT))
    draft.add(stage, state, actor, title, heard)
    draft.texts[state] = text
    for exit_ in (BLOCKED, SILENT, EXHAUSTED):
        draft.edge(state, exit_, blocked)


def _draw_blocked(draft: TrackDraft, stage: PlanStage, state: str, past: str, skipped: str) -> None:
    name = blocked_state(state)
    shown = tuple(f"{state}.{exit_}" for exit_ in (BLOCKED, SILENT, EXHAUSTED))
    ask = Human(
        "failure",
        blocked_state(":".join(filter(None, (stage.node.id, state.partition(":")[2])))),
        f"{stage.node_words} is blocked",
        (
            Option("retry", "go on with it"),
            Option("restart", "undo what was begun, and start over"),
            Option("skip", skipped, needs_text=True),
            Option("stopped", "end the run"),
        ),
        shows=shown,
    )
    draft.add(stage, name, ask, f"{stage.node.id} is blocked")
    told = (*shown, f"{name}.retry", f"{name}.restart")
    draft.edge(name, "retry", state, forgets=told)
    draft.edge(name, "restart", state, forgets=told)
    draft.edge(name, "skip", past, forgets=told)
    draft.edge(name, "stopped", ABANDONED)
