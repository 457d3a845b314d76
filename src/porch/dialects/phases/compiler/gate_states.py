"""Gates: what a person is shown, and where each answer leads."""

from collections.abc import Iterator
from typing import Any

from porch.dialects.phases.compiler.check_states import (
    chain_state_names,
    draw_recheck,
    failure_paths,
    recheck_commands,
)
from porch.dialects.phases.compiler.phase_draft import PhaseDraft
from porch.dialects.phases.compiler.signal_exits import gate_name
from porch.dialects.phases.compiler.stages import PANEL_STEPS, Stage
from porch.dialects.phases.file_records import GateRecord
from porch.errors import Finding
from porch.model.protocol import Check, Guard, Human, Option, Target

_WAIVER = "continue without running the checks again"


def draw_gate(bench: PhaseDraft, stage: Stage, gate: GateRecord) -> None:
    mender = bench.layout.mender(stage)
    _refuse_late_steps(bench, stage, gate)
    failed = _chain_failure_paths(bench, ":verification")
    bench.add(stage.state, _gate_question(bench, stage, gate, failed), gate.place, gate.description)
    bench.draft.shown(bench.phase.id, "Rejected by a person", f"{stage.state}.rejected")
    _draw_approval(bench, stage, failed)
    _draw_past_gate(bench, stage, stage.state, "waived")
    again = [
        name
        for name in (f"{bench.phase.id}:rounds", f"{bench.phase.id}:verification")
        if name in bench.draft.budgets
    ]
    bench.edge(stage.state, "rejected", Target(mender.state), resets=again)


def _refuse_late_steps(bench: PhaseDraft, stage: Stage, gate: GateRecord) -> None:
    behind = bench.layout.main[bench.layout.main.index(stage) + 1 :]
    for word in gate.requires:
        if bench.layout.stage(word.text) in behind:
            message = f"the gate of '{bench.phase.id}' requires '{word.text}', which comes after it"
            fix = "move the gate with 'after', or the step before it"
            bench.draft.findings.append(Finding("late-step", message, word.place, fix))


def _gate_question(
    bench: PhaseDraft, stage: Stage, gate: GateRecord, failed: tuple[str, ...]
) -> Human:
    phase, layout = bench.phase, bench.layout
    changes = (f"{layout.panel.state}.changes",) if layout.panel else ()
    return Human(
        "gate",
        gate_name(layout),
        f"{phase.title}: {gate_name(layout)}",
        (
            Option("approved", "continue"),
            Option("rejected", f"send it back to {layout.mender(stage).state}", needs_text=True),
            Option("waived", _WAIVER, needs_text=True, needs_failure=True),
        ),
        gate.description,
        gate.artifacts or phase.artifacts,
        changes + failed + _chain_failure_paths(bench, ":checks"),
        failed,
        bench.definition.limits.gate_wait_s,
        requires=dict(_list_requirements(bench, gate)),
    )


def _list_requirements(bench: PhaseDraft, gate: GateRecord) -> Iterator[tuple[str, str]]:
    """Where each name is done; signals are not here, because the way to the gate asks for them."""
    chains = [state for agent in bench.layout.agents for state in chain_state_names(bench, agent)]
    checks = {
        command.name: state
        for state in chains
        if state in bench.draft.states
        and isinstance(actor := bench.draft.states[state].actor, Check)
        for command in actor.commands
    }
    for word in gate.requires:
        stage, panel = bench.layout.stage(word.text), bench.layout.panel
        if stage is not None:
            yield word.text, stage.state
        elif panel is not None and word.text in PANEL_STEPS:
            yield word.text, panel.state
        elif word.text in checks:
            yield word.text, f"{checks[word.text]} {word.text}"


def _chain_failure_paths(bench: PhaseDraft, ending: str) -> tuple[str, ...]:
    chains = [state for agent in bench.layout.agents for state in chain_state_names(bench, agent)]
    states = [state for state in dict.fromkeys(chains) if state.endswith(ending)]
    return tuple(path for state in states for path in failure_paths(state))


def _draw_approval(bench: PhaseDraft, stage: Stage, failed: tuple[str, ...]) -> None:
    panel = bench.layout.panel
    changes = (f"{panel.state}.changes",) if panel else ()
    closed = (f"{stage.state}.rejected", *changes, *failed)
    if not _has_checks(bench):
        _draw_past_gate(bench, stage, stage.state, "approved", forgets=closed)
        return
    for path in failed:
        # A person who approved over a shown failure must not be asked to repeat it.
        _draw_past_gate(
            bench, stage, stage.state, "approved", forgets=closed, guards=(Guard(path),)
        )
    bench.edge(stage.state, "approved", Target(f"{bench.phase.id}:recheck"), forgets=closed)


def _has_checks(bench: PhaseDraft) -> bool:
    return bool(recheck_commands(bench))


def _draw_past_gate(bench: PhaseDraft, stage: Stage, here: str, exit_: str, **more: Any) -> None:
    """`next` of the gate comes before the stages that may stand behind it."""
    gate = bench.phase.gate
    inner = bench.atlas.inner_next(bench.layout)
    if inner is not None:
        bench.edge(here, exit_, Target(inner.state), **more)
    elif gate is not None and gate.next is not None:
        bench.leave(here, exit_, **more)
    else:
        bench.go_on(here, exit_, stage, **more)


def draw_behind_gate(bench: PhaseDraft, stage: Stage) -> None:
    if _has_checks(bench):
        draw_recheck(
            bench,
            stage,
            lambda here, **more: _draw_past_gate(bench, stage, here, "passed", **more),
        )
