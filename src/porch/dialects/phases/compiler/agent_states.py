"""Agent states: their exits, and the people who are asked when an agent cannot go on."""

from msgspec import Struct

from porch.dialects.phases.compiler.check_states import (
    chain_state_names,
    draw_chain,
    failure_paths,
    has_required_checks,
)
from porch.dialects.phases.compiler.phase_draft import PhaseDraft
from porch.dialects.phases.compiler.protocol_draft import ABANDONED
from porch.dialects.phases.compiler.signal_exits import is_asked_for_gate_words, required_gate_words
from porch.dialects.phases.compiler.stages import Stage
from porch.dialects.phases.compiler.targets import ExitRoute
from porch.model.protocol import (
    BLOCKED,
    EXHAUSTED,
    SILENT,
    Agent,
    Exit,
    Guard,
    Human,
    Option,
    Target,
)

MISSING_LIMIT = 3


def draw_agent(bench: PhaseDraft, stage: Stage, prompts_dir: str) -> None:
    phase, ways = bench.phase, bench.ways[stage.state]
    own_prompt = stage.step.prompt if stage.step else ""
    actor = Agent(
        phase.id,
        own_prompt or phase.prompt,
        (*(way.exit for way in ways), _blocked_exit(bench)),
        phase.artifacts,
        phase.permissions,
        may_write=phase.may_write or (),
    )
    described = stage.step.description if stage.step else ""
    bench.add(stage.state, actor, stage.place, described)
    bench.draft.prompts[stage.state] = prompt_files(actor.prompt, phase.id, prompts_dir)
    bench.draft.places[f"{stage.state}.prompt"] = phase.prompt_place or stage.place
    for way in ways:
        _draw_exit(bench, stage, way)
    bench.edge(stage.state, BLOCKED, Target(f"blocked:{stage.state}"))
    _draw_silence(bench, stage)
    bench.edge(stage.state, EXHAUSTED, bench.failed(stage))
    draw_chain(bench, stage)
    _forget_answers(bench, stage)


def _forget_answers(bench: PhaseDraft, stage: Stage) -> None:
    """What was asked and answered in one pass through a phase is not news in the next."""
    bench.draft.memory_of.setdefault(bench.phase.id, []).extend(
        (
            f"{stage.state}.{BLOCKED}",
            f"{stage.state}.{SILENT}",
            f"{stage.state}.{EXHAUSTED}",
            f"blocked:{stage.state}.answered",
            f"failed:{stage.state}.retry",
        )
    )


def _blocked_exit(bench: PhaseDraft) -> Exit:
    said = [s for s in (*bench.phase.signals, *bench.definition.signals) if s.name == BLOCKED]
    description = said[0].description if said else "Only a person can help; say what you need"
    return Exit(BLOCKED, (BLOCKED,), True, description)


def prompt_files(prompt: str, phase: str, directory: str) -> tuple[str, ...]:
    """Where a prompt may lie: in the prompts' directory, then beside the definition."""
    name = prompt or f"{phase}.md"
    inside = f"{directory.strip('/')}/{name.removeprefix('./')}"
    return tuple(dict.fromkeys((inside, name)))


def _tracked_exits(bench: PhaseDraft, stage: Stage) -> dict[str, ExitRoute]:
    """Exits whose memory decides the way later on."""
    return {
        f"{stage.state}.{way.exit.name}": way
        for way in bench.ways[stage.state]
        if way.manner in ("via", "leave")
    }


def _draw_exit(bench: PhaseDraft, stage: Stage, way: ExitRoute) -> None:
    place = way.signal.place if way.signal else stage.place
    bench.draft.places.setdefault(f"{stage.state}.{way.exit.name}", place)
    if way.manner == "direct":
        bench.edge(stage.state, way.exit.name, way.target)
    else:
        _draw_forward(bench, stage, way.exit.name, way)


def _draw_forward(bench: PhaseDraft, stage: Stage, exit_: str, way: ExitRoute | None) -> None:
    here = f"{stage.state}.{exit_}"
    others = tuple(path for path in _tracked_exits(bench, stage) if path != here)
    bench.draft.memory_of.setdefault(bench.phase.id, []).extend(_tracked_exits(bench, stage))
    guards = _guard_gate_words(bench, stage)
    chain = chain_state_names(bench, stage)
    if chain:
        bench.edge(stage.state, exit_, Target(chain[0]), guards=guards, forgets=others)
    elif way is not None and way.manner == "via":
        bench.edge(stage.state, exit_, way.target, guards=guards, forgets=others)
    elif bench.layout.after(stage) is None:
        to = way.target if way is not None and way.manner == "leave" else None
        bench.leave(stage.state, exit_, guards=guards, ignoring=others, to=to, forgets=others)
    else:
        bench.go_on(stage.state, exit_, stage, guards=guards, forgets=others)
    if guards:
        _draw_missing_words(bench, stage, exit_)


def _guard_gate_words(bench: PhaseDraft, stage: Stage) -> tuple[Guard, ...]:
    if not is_asked_for_gate_words(bench.layout, stage):
        return ()
    paths = [f"{stage.state}.{name}" for name in required_gate_words(bench.layout)]
    bench.draft.memory_of.setdefault(bench.phase.id, []).extend(paths)
    return tuple(Guard(path) for path in paths)


def _draw_missing_words(bench: PhaseDraft, stage: Stage, exit_: str) -> None:
    limit = max(MISSING_LIMIT, len(required_gate_words(bench.layout)))
    bench.edge(
        stage.state,
        exit_,
        Target(stage.state),
        charges=bench.budget(f"{bench.phase.id}:requires", limit),
        spent=bench.failed(stage),
    )


def _draw_silence(bench: PhaseDraft, stage: Stage) -> None:
    """Saying nothing is taken for 'done' only where checks will tell or the file says so."""
    if has_required_checks(bench, stage) or _has_default(bench, stage):
        _draw_forward(bench, stage, SILENT, None)
    else:
        bench.edge(stage.state, SILENT, bench.failed(stage))


def _has_default(bench: PhaseDraft, stage: Stage) -> bool:
    gate = bench.phase.gate
    after = gate.after if gate is not None else None
    if after is not None and bench.layout.stage(after.text) is stage:
        return True
    return bench.layout.leaves(stage) and bench.phase.ways.on_complete is not None


def draw_failed(bench: PhaseDraft, stage: Stage) -> None:
    state = f"failed:{stage.state}"
    gate = bench.layout.gate_ahead(stage)
    onward = f"go to the gate of {bench.phase.title}" if gate else "continue without this phase"
    ends = _list_endings(bench) if stage is bench.layout.mender(None) else ()
    ask = Human(
        "failure",
        state,
        f"{bench.phase.title} failed",
        (
            Option("retry", f"start {stage.state} again with new budgets"),
            Option("skip", "; ".join((onward, *(end.meaning for end in ends))), needs_text=True),
            Option("stopped", "end the run"),
        ),
        artifacts=bench.phase.artifacts,
        shows=_reported_paths(bench, stage),
    )
    bench.add(state, ask, stage.place)
    again = ("phase_completion",) if bench.completion else ()
    untrue = [f"{stage.state}.{EXHAUSTED}", f"{stage.state}.{SILENT}", *_commit_failures(bench)]
    bench.edge(state, "retry", Target(stage.state), refreshes=True, resets=again, forgets=untrue)
    for end in ends:
        _draw_skip(bench, state, end)
    if gate is not None:
        bench.edge(state, "skip", Target(gate.state))
    else:
        bench.leave(state, "skip")
    bench.edge(state, "stopped", ABANDONED)


def _reported_paths(bench: PhaseDraft, stage: Stage) -> tuple[str, ...]:
    states = [*chain_state_names(bench, stage)]
    states += [s.state for s in bench.layout.main if s.kind == "check"]
    states += [name for name in (f"{bench.phase.id}:recheck", bench.completion) if name]
    known = [state for state in states if state in bench.draft.states]
    paths = [path for state in known for path in failure_paths(state)]
    paths += _commit_failures(bench)
    return (*paths, f"{stage.state}.{EXHAUSTED}", f"{stage.state}.{SILENT}")


class _PhaseEnding(Struct, frozen=True):
    """What comes last in a phase and can fail: how a person goes past it, in words."""

    paths: tuple[str, ...]
    meaning: str
    loop: str = ""


def _commit_failures(bench: PhaseDraft) -> tuple[str, ...]:
    return (f"{bench.commit}.refused", f"{bench.commit}.conflict") if bench.commit else ()


def _list_endings(bench: PhaseDraft) -> tuple[_PhaseEnding, ...]:
    past_commit = "if only the commit failed, continue without it"
    past_checks = "if the checks of the whole plan phase failed, continue behind them"
    commit = (_PhaseEnding(_commit_failures(bench), past_commit),) if bench.commit else ()
    if not bench.completion:
        return commit
    failed = failure_paths(bench.completion)
    return (*commit, _PhaseEnding(failed, past_checks, bench.layout.loop))


def _draw_skip(bench: PhaseDraft, state: str, end: _PhaseEnding) -> None:
    """Past what failed last: going that way again would ask the same person for ever."""
    for path in end.paths:
        cause = (Guard(path, "cause"),)
        if end.loop:
            bench.edge(
                state,
                "skip",
                Target(next_of=end.loop),
                guards=cause,
                resets=("phase_completion",),
                forgets=end.paths,
                leaves=True,
            )
        else:
            bench.leave(state, "skip", guards=cause, uncommitted=True, forgets=end.paths)


def draw_blocked(bench: PhaseDraft, stage: Stage) -> None:
    state = f"blocked:{stage.state}"
    ask = Human(
        "question",
        state,
        f"{bench.phase.title}: the agent needs an answer",
        (
            Option("answered", f"continue with {stage.state}", needs_text=True),
            Option("stopped", "end the run"),
        ),
        artifacts=bench.phase.artifacts,
        shows=(f"{stage.state}.{BLOCKED}",),
    )
    bench.add(state, ask, stage.place)
    bench.edge(state, "answered", Target(stage.state))
    bench.edge(state, "stopped", ABANDONED)


def draw_escalated(bench: PhaseDraft) -> None:
    """What the file hands over to a person: only where something in the phase leads there."""
    state, gate = bench.layout.escalated, bench.layout.gate
    edges = [drawn.edge for drawn in bench.draft.edges if drawn.phase == bench.phase.id]
    causes = [f"{edge.state}.{edge.exit}" for edge in edges if Target(state) in edge.targets]
    if not causes:
        return
    onward = f"go to the gate of {bench.phase.title}" if gate else "continue without this phase"
    ask = Human(
        "failure",
        state,
        f"{bench.phase.title}: a person has to decide",
        (
            Option("retry", f"start {bench.phase.title} again with new budgets"),
            Option("skip", onward, needs_text=True),
            Option("stopped", "end the run; the work may need another protocol"),
        ),
        artifacts=bench.phase.artifacts,
        shows=tuple(dict.fromkeys(causes)),
    )
    bench.add(state, ask, bench.phase.place)
    first = Target(bench.layout.first)
    bench.edge(state, "retry", first, refreshes=True, forgets=causes)
    if gate is not None:
        bench.edge(state, "skip", Target(gate.state), forgets=causes)
    else:
        bench.leave(state, "skip", forgets=causes)
    bench.edge(state, "stopped", ABANDONED)
