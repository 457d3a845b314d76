"""What should be happening now for one position; remembers nothing, so resuming is no feature."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

from porch.machine import approvals
from porch.machine import effects as e
from porch.machine import moves as m
from porch.machine.effects import effect_header
from porch.machine.exits.absences import UNREADABLE
from porch.machine.exits.accepted_exits import asking_path
from porch.machine.exits.evidence import GIVEN, due_commands, last_tree
from porch.machine.exits.touched_files import list_touched_files
from porch.machine.instances import instance_effects
from porch.machine.state import RunState, Standing, effect_parts, position_text, work_text
from porch.machine.unread_words import is_about_unread_words, unread_words
from porch.model import protocol as p
from porch.model.memory_paths import evidence_path, is_last_words_path


def wanted_effects(protocol: p.Protocol, state: RunState, position: str) -> tuple[e.Request, ...]:
    """The effects of one position: none while the run is paused or the position waits."""
    standing = state.positions.get(position)
    if standing is None or state.paused or state.outcome:
        return ()
    kind = protocol.states[standing.state]
    if any(state.recall(standing, path) is None for path in kind.waits_for):
        return ()
    if standing.delay_s and not state.marked(position, "fired/delay"):
        return (_timer_request(state, standing, "delay", standing.delay_s, standing.entered_at),)
    if kind.loop and not standing.item and position not in state.decisions:
        source = protocol.loops[kind.loop].source
        mine = effect_header(state, standing, "items", kind.loop)
        return (_wait_or_work(state, standing, e.ReadItems(**mine, loop=kind.loop, source=source)),)
    return tuple(
        _wait_or_work(state, standing, work)
        for work in _actor_requests(protocol, state, standing, kind)
    )


def touched_positions(protocol: p.Protocol, state: RunState, moves: Sequence[m.Move]) -> set[str]:
    """The positions of which `wanted` may answer differently after these moves, gone ones too."""
    found: set[str] = set()
    if protocol.spec:
        from porch.machine.instances.tree_sight import list_seeing_positions

        found.update(list_seeing_positions(protocol, state, moves))
    for move in moves:
        if isinstance(move, m.Settled):
            found.add(effect_parts(move.effect)[0])
        elif isinstance(move, (m.Remembered, m.Forgot)):
            found.update(_reading_positions(protocol, state, move))
            found.update(_listening_positions(protocol, state, move))
        elif _concerns_everybody(move):
            found.update(state.positions)
        else:
            found.add(getattr(move, "position", ""))
    found.discard("")
    return found


def _concerns_everybody(move: m.Move) -> bool:
    """The end of a member of a tree is no end of the run."""
    is_over = isinstance(move, m.Ended) and not move.instance
    return is_over or isinstance(move, (m.Paused, m.Resumed, m.Pinned, m.Began))


def _reading_positions(
    protocol: p.Protocol, state: RunState, move: m.Remembered | m.Forgot
) -> Iterator[str]:
    """Standing positions that see what is remembered under this path, for this item or for all."""
    for name in protocol.readers_of(move.path):
        if protocol.states[name].loop and not move.item:
            for s in state.positions.values():
                if (s.state, s.instance) == (name, move.instance):
                    yield s.position
            continue
        visits = state.visits.get((move.instance, name, move.item), 0)
        if visits > len(state.positions):
            # An old run has entered a state more often than it stands anywhere.
            key = (name, move.instance, move.item)
            for s in state.positions.values():
                if (s.state, s.instance, s.item) == key:
                    yield s.position
            continue
        places = (position_text(move.instance, name, move.item, v + 1) for v in range(visits))
        yield from (place for place in places if place in state.positions)


def _listening_positions(
    protocol: p.Protocol, state: RunState, move: m.Remembered | m.Forgot
) -> Iterator[str]:
    """Agents hear what people said since an agent answered last; either changes what they see."""
    if not is_about_unread_words(protocol, state, move):
        return
    for standing in state.positions.values():
        kind = protocol.states.get(standing.state)
        is_agent = kind is not None and isinstance(kind.actor, p.Agent)
        if is_agent and standing.instance == move.instance:
            yield standing.position


def _wait_or_work(state: RunState, standing: Standing, work: e.Request) -> e.Request:
    """The work, or the back-off or rate limit that it has to sit out first."""
    wait = state.marked(standing.position, f"wait/{work_text(work.kind, work.name)}")
    if not wait or state.marked(standing.position, f"fired/{wait['name']}"):
        return work
    return _timer_request(state, standing, wait["name"], wait["seconds"], wait["since"])


def _timer_request(
    state: RunState, standing: Standing, name: str, seconds: float, since: str
) -> e.StartTimer:
    return e.StartTimer(
        **effect_header(state, standing, "timer", name), since=since, seconds=seconds
    )


def _actor_requests(
    protocol: p.Protocol, state: RunState, standing: Standing, kind: p.State
) -> Iterator[e.Request]:
    match kind.actor:
        case p.Agent() as agent:
            yield _agent_request(protocol, state, standing, kind, agent)
        case p.Check() as check:
            yield from _check_requests(protocol, state, standing, kind, check)
        case p.Panel() as panel:
            yield from _panel_requests(state, standing, kind, panel)
        case p.Human() as human:
            asked = approvals.asked_human(protocol, standing, human)
            yield from _human_requests(state, standing, asked)
        case p.Git() as git:
            yield _git_request(protocol, state, standing, kind, git)
        case p.Children() | p.Join() | p.End():
            # Those move by themselves, and nobody stands in an end.
            return
        case _:
            assert_never(kind.actor)


def _worktree_resource(standing: Standing) -> str:
    return f"{e.WORKTREE}:{standing.instance}"


def _quoted_inputs(state: RunState, standing: Standing, kind: p.State) -> tuple[e.QuotedInput, ...]:
    recalled = ((given.label, state.recall(standing, given.path)) for given in kind.inputs)
    return tuple(
        e.QuotedInput(label, payload) for label, payload in recalled if payload is not None
    )


def _git_request(
    protocol: p.Protocol, state: RunState, standing: Standing, kind: p.State, git: p.Git
) -> e.CommitPaths | e.MoveBranch:
    if git.op != "commit":
        return instance_effects.move_branch_request(protocol, state, standing, git)
    mine = effect_header(
        state, standing, "commit", kind.group, uses=(_worktree_resource(standing),)
    )
    return e.CommitPaths(**mine, paths=git.paths, message=git.message)


def _agent_request(
    protocol: p.Protocol, state: RunState, standing: Standing, kind: p.State, agent: p.Agent
) -> e.RunAgent | e.AskAgent:
    if agent.ask is not None:
        return instance_effects.ask_agent_request(protocol, state, standing, agent, agent.ask)
    noted = state.marked(standing.position, "reminded")
    reminded = bool(noted)
    name = "reminder" if reminded else agent.role
    mine = effect_header(
        state, standing, "agent", name, uses=(_worktree_resource(standing), e.AGENT_SLOT)
    )
    return e.RunAgent(
        **mine,
        state=standing.state,
        item=standing.item,
        visit=standing.visit,
        attempt=int(mine["id"].rpartition("/")[2]),
        role=agent.role,
        prompt=agent.prompt,
        exits=agent.exits,
        artifacts=agent.artifacts,
        permissions=agent.permissions,
        timeout_s=agent.timeout_s,
        reminder=reminded,
        noted=tuple(noted) if isinstance(noted, (list, tuple)) else (),
        session=_session_to_resume(state, standing),
        shown=(
            *_quoted_inputs(state, standing, kind),
            *_touched_inputs(state, agent),
            *unread_words(protocol, state, standing),
        ),
    )


def _touched_inputs(state: RunState, agent: p.Agent) -> Iterator[e.QuotedInput]:
    """Whoever writes about the work, such as a pull request, has to say what measured it."""
    names = list_touched_files(state) if agent.artifacts else ()
    if names:
        label = "Files that decide a measurement were changed; name them in what you write"
        yield e.QuotedInput(label, {"files": list(names)})


def _session_to_resume(state: RunState, standing: Standing) -> str:
    """Fresh at every visit, but for reminders, interrupted turns and answered questions."""
    own = str(state.marked(standing.position, "session") or "")
    if own or not standing.because.endswith(".answered"):
        return own
    return str((state.recall(standing, asking_path(standing.state)) or {}).get("session", ""))


def _check_requests(
    protocol: p.Protocol, state: RunState, standing: Standing, kind: p.State, check: p.Check
) -> Iterator[e.RunCheck]:
    # Beside work that waits for them, and that has the worktree in the queue before them.
    uses = f"turn:{standing.position}" if check.listed else _worktree_resource(standing)
    for command in due_commands(state, standing, check):
        if state.marked(standing.position, f"check/{command.name}") is not None:
            continue
        fresh = state.recall(standing, evidence_path(kind.group, command.name)) or {}
        tree = last_tree(state, standing, command) or fresh.get("tree", "")
        yield e.RunCheck(
            **effect_header(state, standing, "check", command.name, uses=(uses,)),
            command=command,
            item=standing.item,
            tree=tree if check.reuse and command.depends_on_files_alone else "",
            is_moot=command.about == "form" and not _has_worked_on(protocol, state, kind, command),
        )


def _has_worked_on(
    protocol: p.Protocol, state: RunState, kind: p.State, command: p.Command
) -> bool:
    """Whether an agent of this run has worked in a phase of this check, which may be repeated."""
    groups = {kind.group}
    for each in protocol.states.values():
        for known in each.actor.commands if isinstance(each.actor, p.Check) else ():
            if evidence_path(each.group, known.name) in command.evidence:
                groups.add(each.group)
    return not groups.isdisjoint(list_worked_groups(protocol, state))


def list_worked_groups(protocol: p.Protocol, state: RunState) -> set[str]:
    """The phases in which an agent of this run has worked; others wrote what the rest is about."""
    visited = (protocol.states[name] for _, name, _ in state.visits if name in protocol.states)
    return {kind.group for kind in visited if isinstance(kind.actor, p.Agent)}


def _panel_requests(
    state: RunState, standing: Standing, kind: p.State, panel: p.Panel
) -> Iterator[e.AskReviewer | e.WriteFeedback]:
    marks = state.marks.get(standing.position, {})
    missing = [name for name in panel.reviewers if f"review/{name}" not in marks]
    turns = () if panel.parallel else (f"turn:{standing.position}",)
    # Where others work beside it, nobody judges files that are being written.
    turns = (*turns, _worktree_resource(standing)) if kind.beside else turns
    for name in missing:
        yield e.AskReviewer(
            **effect_header(state, standing, "review", name, uses=(e.AGENT_SLOT, *turns)),
            state=standing.state,
            item=standing.item,
            review=panel.review,
            subject=panel.subject,
            round=standing.visit,
            artifacts=panel.artifacts,
            timeout_s=panel.timeout_s,
            shown=(
                *_discussed_inputs(state, standing, kind),
                *_unreadable_input(marks, name),
            ),
            form=panel.form,
            given=marks.get(f"{GIVEN}/{name}"),
        )
    if not missing:
        yield e.WriteFeedback(
            **effect_header(state, standing, "feedback", panel.subject),
            subject=panel.subject,
            item=standing.item,
            round=standing.visit,
            reviews={name: marks[f"review/{name}"] for name in panel.reviewers},
        )


def _unreadable_input(marks: Mapping[str, Any], reviewer: str) -> tuple[e.QuotedInput, ...]:
    why = marks.get(f"{UNREADABLE}/{reviewer}")
    return (e.QuotedInput("Your last reply could not be read", {"reason": why}),) if why else ()


def _discussed_inputs(
    state: RunState, standing: Standing, kind: p.State
) -> tuple[e.QuotedInput, ...]:
    """What was found before and answered to it; an author's words alone would only sway."""
    asked = [given.path for given in kind.inputs if not is_last_words_path(given.path)]
    is_open = any(state.recall(standing, path) is not None for path in asked)
    return _quoted_inputs(state, standing, kind) if is_open else ()


def _human_requests(
    state: RunState, standing: Standing, human: p.Human
) -> Iterator[e.AskPerson | e.StartTimer]:
    decision = state.decisions.get(standing.position)
    if decision is None:
        mine = effect_header(state, standing, "ask", human.name)
        files = tuple(_list_asked_files(state, standing, human))
        yield e.AskPerson(**mine, ask=human.kind, artifacts=human.artifacts, files=files)
    elif not state.marked(standing.position, f"fired/{human.name}"):
        mine = effect_header(state, standing, "stale", human.name)
        yield e.StartTimer(**mine, since=decision.asked_at, seconds=human.stale_after_s)


def _list_asked_files(state: RunState, standing: Standing, human: p.Human) -> Iterator[str]:
    """The files that work has changed, where a person is asked to confirm that work."""
    recalled = (state.recall(standing, path) or {} for path in human.files_of)
    yield from dict.fromkeys(str(name) for each in recalled for name in each.get("files", ()))
