"""Check states: behind an agent, as a step, behind an approval, at the end of a plan phase."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from porch.dialects.phases.compiler.phase_draft import PhaseDraft
from porch.dialects.phases.compiler.stages import Stage
from porch.dialects.phases.file_records import CheckRecord, Verification
from porch.errors import Finding
from porch.model.protocol import Check, Command, Guard, Target
from porch.text.nodes import ScalarNode

FAILED = "failed"
UNMEASURED = "unmeasured"
RECHECK_LIMIT = 3
RETRY = "retry"


def failure_paths(state: str) -> tuple[str, str]:
    return f"{state}.{FAILED}", f"{state}.{UNMEASURED}"


CheckGroup = tuple[CheckRecord, ...] | Verification


def chain_state_names(bench: PhaseDraft, agent: Stage) -> tuple[str, ...]:
    """The check states between an agent that has finished and whoever looks at its work."""
    return tuple(_chain_groups(bench, agent))


def _chain_groups(bench: PhaseDraft, agent: Stage) -> dict[str, CheckGroup]:
    is_checked = bench.layout.leaves(agent) or any(
        way.manner == "via" for way in bench.ways[agent.state]
    )
    owner = bench.phase.id if len(bench.layout.agents) == 1 else agent.state
    links: dict[str, CheckGroup] = {}
    if is_checked and bench.layout.checks:
        links[f"{owner}:checks"] = bench.layout.checks
    if is_checked and bench.phase.verification:
        links[f"{owner}:verification"] = bench.phase.verification
    return links


def has_required_checks(bench: PhaseDraft, agent: Stage) -> bool:
    """Whether passing the chain proves anything."""
    verification = bench.phase.verification
    records = bench.layout.checks + (verification.checks if verification else ())
    telling = [r for r in records if not (r.command.optional or _is_added(r))]
    return bool(chain_state_names(bench, agent)) and bool(telling)


def _is_added(record: CheckRecord) -> bool:
    """Whether porch has added it; what it proves is not that the work is done."""
    return record.command.protects or bool(record.command.files)


def draw_chain(bench: PhaseDraft, agent: Stage) -> None:
    links = _chain_groups(bench, agent)
    behind = [*links, ""][1:]
    for (state, link), onward in zip(links.items(), behind, strict=True):
        passed = _drawer_to_state(bench, onward) if onward else _drawer_past_chain(bench, agent)
        if isinstance(link, Verification):
            _draw_verification(bench, state, link, agent, passed)
        else:
            draw_checks(bench, state, link, agent, passed)


DrawPassedEdge = Callable[..., None]


def _drawer_to_state(bench: PhaseDraft, state: str) -> DrawPassedEdge:
    return lambda here, **more: bench.edge(here, "passed", Target(state), **more)


def _drawer_past_chain(bench: PhaseDraft, agent: Stage) -> DrawPassedEdge:
    """A signal that aimed at another stage of the phase is followed once the checks have passed."""

    def passing(here: str, **more: object) -> None:
        for way in bench.ways[agent.state]:
            if way.manner == "via":
                guard = Guard(f"{agent.state}.{way.exit.name}")
                bench.edge(here, "passed", way.target, guards=(guard,), **more)
        bench.go_on(here, "passed", agent, **more)

    return passing


def draw_check_step(bench: PhaseDraft, stage: Stage, record: CheckRecord) -> None:
    agent = bench.layout.last_agent_before(stage)
    draw_checks(
        bench,
        stage.state,
        (record,),
        agent,
        lambda here, **more: bench.go_on(here, "passed", stage, **more),
    )


def draw_checks(
    bench: PhaseDraft,
    state: str,
    records: tuple[CheckRecord, ...],
    agent: Stage,
    passed: DrawPassedEdge,
) -> None:
    bench.add(state, Check(list_commands(records)), records[0].place)
    bench.draft.shown(bench.phase.id, "Failed checks", *failure_paths(state))
    budgets = [
        bench.budget(f"{state}.{record.command.name}", record.max_retries) for record in records
    ]
    passed(state, resets=budgets, forgets=failure_paths(state))
    telling = [record for record in records if not record.command.optional] or records
    for record in telling:
        guard = Guard(f"{state}.{FAILED}", "has", record.command.name)
        _draw_failure(bench, state, record, agent, (guard,))
    _draw_failure(bench, state, telling[0], agent, ())
    _draw_unmeasured(bench, state, bench.failed(agent))


def _draw_unmeasured(bench: PhaseDraft, state: str, person: Target) -> None:
    """No agent can mend what could not be measured, so no retry is spent on it."""
    bench.edge(state, UNMEASURED, person, forgets=(f"{state}.{FAILED}",))


def _draw_failure(
    bench: PhaseDraft, state: str, record: CheckRecord, agent: Stage, guards: Iterable[Guard]
) -> None:
    bench.edge(
        state,
        FAILED,
        _fail_target(bench, record, agent),
        guards=guards,
        charges=f"{state}.{record.command.name}",
        spent=bench.failed(agent),
        forgets=(f"{state}.{UNMEASURED}",),
        delay_s=record.delay_s,
        place=record.place,
    )


def _fail_target(bench: PhaseDraft, record: CheckRecord, agent: Stage) -> Target:
    word = record.on_fail if record.on_fail is not None else bench.phase.ways.on_fail
    retry = Target(agent.state)
    if word is None or word.kind == "null" or (word.text == RETRY and not _is_phase(bench, word)):
        return retry
    goal = bench.atlas.goal(word, bench.layout, f"'on_fail' in '{bench.phase.id}'")
    if goal is None:
        return retry
    if goal.onward or goal.phase >= len(bench.atlas.order):
        message = f"'on_fail' in '{bench.phase.id}' continues as if nothing had failed"
        fix = "write 'retry' or a phase, or make the check optional"
        bench.draft.findings.append(Finding("wrong-value", message, word.place, fix))
        return retry
    return goal.target


def _is_phase(bench: PhaseDraft, word: ScalarNode) -> bool:
    return word.text in bench.atlas.layouts


def list_commands(records: Iterable[CheckRecord]) -> tuple[Command, ...]:
    return tuple(record.command for record in records)


def _draw_verification(
    bench: PhaseDraft, state: str, verification: Verification, agent: Stage, passed: DrawPassedEdge
) -> None:
    bench.add(state, Check(list_commands(verification.checks)), verification.place)
    bench.draft.shown(bench.phase.id, "Failed verification", *failure_paths(state))
    budget = bench.budget(f"{bench.phase.id}:verification", verification.max_retries)
    gate = bench.layout.gate_ahead(agent)
    person = Target(gate.state) if gate else bench.failed(agent)
    passed(state, resets=(budget,), forgets=failure_paths(state))
    _draw_return(bench, state, Target(agent.state), budget, person)


def _draw_return(bench: PhaseDraft, state: str, back: Target, budget: str, person: Target) -> None:
    """What failed goes back while the budget lasts; then, or unmeasured, a person decides."""
    forgets = (f"{state}.{UNMEASURED}",)
    bench.edge(state, FAILED, back, charges=budget, spent=person, forgets=forgets)
    _draw_unmeasured(bench, state, person)


def recheck_commands(bench: PhaseDraft) -> tuple[Command, ...]:
    """Everything a phase measures, once; a verification may reuse the name of a check."""
    # Behind a gate whatever changed since is a person's doing.
    checks = [record for record in bench.phase.checks if not _is_added(record)]
    found = {command.name: command for command in list_commands(checks)}
    verification = bench.phase.verification
    for command in list_commands(verification.checks) if verification else ():
        if found.get(command.name, command) != command:
            name = f"verification-{command.name}"
            found[name] = replace(command, name=name)
        else:
            found[command.name] = command
    return tuple(found.values())


def draw_recheck(bench: PhaseDraft, gate: Stage, passed: DrawPassedEdge) -> None:
    """An approval stands on fresh evidence: what is stale is measured again."""
    state = f"{bench.phase.id}:recheck"
    agent = bench.layout.mender(gate)
    bench.add(state, Check(recheck_commands(bench), reuse=True), gate.place)
    bench.draft.shown(bench.phase.id, "Failed after the approval", *failure_paths(state))
    budget = bench.budget(state, RECHECK_LIMIT)
    passed(state, resets=(budget,), forgets=failure_paths(state))
    _draw_return(bench, state, Target(agent.state), budget, bench.failed(agent))


def draw_phase_completion(bench: PhaseDraft) -> None:
    """The last look at a plan phase; a failure begins it again."""
    state, records = bench.completion, bench.definition.phase_completion
    loop = bench.layout.loop
    budget = bench.draft.budget("", "phase_completion", max(r.max_retries for r in records))
    agent = bench.layout.mender(None)
    bench.add(state, Check(list_commands(records)), records[0].place)
    bench.draft.completions[loop] = failure_paths(state)
    bench.edge(
        state, "passed", Target(next_of=loop), resets=(budget,), forgets=failure_paths(state)
    )
    first = Target(bench.atlas.layouts[loop].first)
    _draw_return(bench, state, first, budget, bench.failed(agent))
