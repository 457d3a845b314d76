"""The planner's way in, for an agent that is already running and asks what to do."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from porch.claims.legal_signal import LegalSignal, legal_signals
from porch.errors import FailedError, UsageError
from porch.machine import approvals
from porch.machine import effects as e
from porch.machine import facts as f
from porch.machine.state import RunState, Standing
from porch.model.protocol import Agent, Check, Protocol
from porch.run.engine.approved_artifacts import list_outdated_approvals
from porch.run.engine.caller import refuse_other_agents
from porch.run.engine.run_places import mark_of, payload_directory, workspace_of
from porch.store.where import ProjectPaths

if TYPE_CHECKING:  # what reads or drives a run is loaded only by whoever does that
    from porch.run.agents.world import World
    from porch.run.engine.drive_options import DriveResult, DriveWatch
    from porch.run.engine.session import HeldRun
    from porch.run.handlers.products import Products
    from porch.run.verbs.read_run import ReadRun


class AgentClaim(Struct, frozen=True):
    """What an agent says of its own work: its signal, the position it means, and why."""

    signal: str
    expect: str
    reason: str


def _make_world(where: ProjectPaths, found: "ReadRun") -> "World":
    from porch.run.drive.world_setup import make_world
    from porch.run.pinned_settings import load_settings_of_run, read_pinned_settings

    now = load_settings_of_run(where, found.state)
    digest = found.state.run.settings
    known = read_pinned_settings(where, found.name, digest, now)
    return make_world(
        where, found.name, known, state=lambda: found.state, definition=lambda: found.definition
    )


class NextEffect(Struct, frozen=True, kw_only=True):
    """Something that `run` would do now; what is said of it depends on its kind."""

    id: str
    position: str
    kind: str
    name: str
    prompt: str | UnsetType = UNSET
    signals: Sequence[str] | UnsetType = UNSET
    command: str | UnsetType = UNSET
    review: str | UnsetType = UNSET
    round: int | UnsetType = UNSET
    seconds: float | UnsetType = UNSET


class NextWork(Struct, frozen=True, kw_only=True):
    """What is to be done in a run, and what people have to decide."""

    run: str
    outcome: str | None
    paused: bool
    positions: Sequence[str]
    effects: Sequence[NextEffect]
    decisions: Sequence[Mapping[str, Any]]
    changed: Sequence[str] = ()


class MeasuredCheck(Struct, frozen=True, kw_only=True):
    """What a check says now."""

    check: str
    result: str
    report: str


def find_next_work(where: ProjectPaths, run: str) -> NextWork:
    """What `run` would do now, effect by effect, with whole prompts."""
    from porch.machine.wanted import wanted_effects
    from porch.run.verbs.read_run import read_run

    found = read_run(where, run)
    world = _make_world(where, found)
    protocol, changed = found.definition.protocol, _describe_outdated(world, found)
    effects = [
        _describe_effect(world, request)
        for position in found.state.positions
        for request in wanted_effects(protocol, found.state, position)
        if request.kind != e.PATIENT and not changed
    ]
    decisions = found.picture()["decisions"]
    return NextWork(
        run=run,
        outcome=found.state.outcome or None,
        paused=found.state.paused,
        positions=list(found.state.positions),
        effects=effects,
        decisions=decisions,
        changed=changed,
    )


def _describe_outdated(world: "World", found: "ReadRun") -> list[str]:
    """What has to be approved again before anything begins, in words; also if nobody asked yet."""
    protocol, state = found.definition.protocol, found.state
    if protocol.spec or state.outcome:
        return []
    asked = [f"{gate} must be approved first" for gate in approvals.open_questions(state)]
    outdated = list_outdated_approvals(world.workspace, world.payload_directory, protocol, state)
    return asked or [fact.question.reason.partition("\n")[0] for fact in outdated]


def _describe_effect(world: "World", request: e.Request) -> NextEffect:
    told = NextEffect(
        id=request.id, position=request.position, kind=request.kind, name=request.name
    )
    match request:
        case e.RunAgent():
            from porch.run.agents.agent_prompt import render_whole_prompt

            prompt = render_whole_prompt(world, request)
            return replace(told, prompt=prompt, signals=sorted(legal_signals(request.exits)))
        case e.RunCheck(command=command):
            return replace(told, command=command.shell or f"settings: {command.setting}")
        case e.AskReviewer(review=review, round=round_):
            return replace(told, review=review, round=round_)
        case e.StartTimer(seconds=seconds):
            return replace(told, seconds=seconds)
        case _:
            return told


def finish_agent_work(
    where: ProjectPaths,
    run: str,
    said: AgentClaim,
    *,
    watch: "DriveWatch",
    load_products: "Callable[[], Products]",
) -> "DriveResult":
    """Take the caller's word as an agent's exit, then do all that is not an agent's work."""
    refuse_other_agents(mark_of(where, run))
    rested = _claim_exit(where, run, said, watch)
    if rested is not None:
        return rested
    from porch.run.engine.drive_options import RunRequest
    from porch.run.engine.driver import DriveManner
    from porch.run.verbs.resume import resume_run

    wanted_ = RunRequest("", hands_off=("agent",))
    return resume_run(
        where, run, wanted_, DriveManner(), watch=watch, products=load_products(), is_whole=False
    )


def _claim_exit(
    where: ProjectPaths, run: str, said: AgentClaim, watch: "DriveWatch"
) -> "DriveResult | None":
    """Record the claim; None if what follows takes a driver."""
    from porch.machine.wishes import find_refusal
    from porch.run.drive.short_drive import drive_without_loop
    from porch.run.engine.drive_options import DriveResult
    from porch.run.engine.session import hold_run

    with hold_run(where, run, "porch done") as found:
        found.drain()
        state, protocol = found.book.state, found.book.definition.protocol
        if state.outcome:
            watch.notice(f"{run} is already {state.outcome}; nothing was changed")
            return DriveResult(run, "ended", state)
        standing = _find_agent_position(protocol, state, said.expect)
        exit_ = _find_exit(protocol, standing, said.signal)
        id_ = f"done-{state.seq + 1}"
        wish = f.Wish(
            id=id_,
            kind="done",
            position=standing.position,
            exit=exit_,
            text=said.reason,
            who="agent",
            channel="done",
        )
        _ask_outdated(found)
        refused = find_refusal(protocol, found.book.state, wish)
        if refused is not None:
            raise FailedError(f"{run}: {refused.reason}", code="wish-refused")
        _keep_work(found, standing.position, id_, watch)
        wish = replace(wish, data=_look_outside(found))
        found.book.record(f.WishTaken(wish=wish))
        found.wishes.tell_late_changes(found.book.record)
        if _is_over(found):
            # By this claim; whoever drives it now would say that it was over before.
            found.drain()
            return DriveResult(run, "ended", found.book.state)
        return drive_without_loop(found, watch)


def _is_over(found: "HeldRun") -> bool:
    """Ended, with nothing in hand that somebody would have to stop."""
    state = found.book.state
    return bool(state.outcome) and not state.in_hand and not found.book.definition.protocol.spec


def _ask_outdated(found: "HeldRun") -> None:
    """Nobody has looked at what was approved before an agent began that porch does not drive."""
    book, place = found.book, workspace_of(found.where, found.book.state)
    if book.definition.protocol.spec or approvals.open_questions(book.state):
        return
    store = payload_directory(found.where, found.name)
    outdated = list_outdated_approvals(place, store, book.definition.protocol, book.state)
    for fact in list(outdated):
        book.record(fact)


def _keep_work(found: "HeldRun", position: str, effect: str, watch: "DriveWatch") -> None:
    """As for an agent that porch started itself: in a worktree of its own work is committed."""
    state, where = found.book.state, found.where
    if state.run.own_worktree:
        from porch.run.engine.run_commits import WorkPlaces, commit_exit_work
        from porch.store.worktree_records import find_record_of

        place = workspace_of(where, state)
        places = WorkPlaces(place, found.directory, find_record_of(where, place))
        kept = commit_exit_work(places, state, position, effect)
        for note in kept.notes:
            watch.notice(note)


def _look_outside(found: "HeldRun") -> dict[str, Any]:
    state, where = found.book.state, found.where
    if not state.run.own_worktree:
        return {}
    from porch.run.engine.early_merge import find_early_merge

    root = "" if where.is_bare else where.root
    early = find_early_merge(workspace_of(where, state), root, state)
    return {"outside": early} if early else {}


def _find_agent_position(protocol: Protocol, state: RunState, expect: str) -> Standing:
    agents = [s for s in state.positions.values() if _is_agent(protocol, s)]
    here = ", ".join(state.positions)
    if expect:
        fits = [s for s in agents if expect in (s.position, s.label)]
        if fits:
            return fits[0]
        raise FailedError(f"the run is not at {expect}", fix=f"it is at {here}", code="moved")
    if len(agents) == 1:
        return agents[0]
    raise UsageError(
        "no agent is working at this point" if not agents else "several agents are working",
        fix=f"the run is at {here}; choose one with --expect",
        code="not-an-agent",
    )


def _is_agent(protocol: Protocol, standing: Standing) -> bool:
    return isinstance(protocol.states[standing.state].actor, Agent)


def _find_exit(protocol: Protocol, standing: Standing, signal: str) -> str:
    actor = protocol.states[standing.state].actor
    exits = actor.exits if isinstance(actor, Agent) else ()
    known: dict[str, LegalSignal] = legal_signals(exits)
    if not signal:
        return next(iter(known.values())).exit
    found = {name.upper(): each.exit for name, each in known.items()}.get(signal.upper())
    if found is None:
        raise UsageError(
            f"'{signal}' is not a signal of {standing.label}",
            fix=f"possible signals: {', '.join(sorted(known))}",
            code="unknown-signal",
        )
    return found


def run_checks(where: ProjectPaths, run: str) -> list[MeasuredCheck]:
    """Run the checks of the current phases now, for the eye only: nothing moves."""
    import asyncio

    from porch.run.verbs.read_run import read_run

    found = read_run(where, run)
    world = _make_world(where, found)
    return asyncio.run(_measure_checks(world, list(_list_check_requests(found))))


def _list_check_requests(found: "ReadRun") -> list[e.RunCheck]:
    protocol, requests = found.definition.protocol, {}
    for standing in found.state.positions.values():
        group = protocol.states[standing.state].group
        for state in protocol.states.values():
            if state.group == group and isinstance(state.actor, Check):
                for command in state.actor.commands:
                    id_ = f"{standing.position}/look/{command.name}/{found.state.seq}"
                    requests[command.name] = e.RunCheck(
                        id=id_,
                        position=standing.position,
                        kind="check",
                        name=command.name,
                        command=command,
                        item=standing.item,
                    )
    return list(requests.values())


async def _measure_checks(world: "World", requests: list[e.RunCheck]) -> list[MeasuredCheck]:
    from porch.run.handlers import check

    told = []
    for request in requests:
        fact = await check.run_check(world, request)
        if isinstance(fact, f.CheckEnded):
            told.append(MeasuredCheck(check=request.name, result=fact.result, report=fact.report))
    return told
