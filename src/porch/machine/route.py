"""What a fact moves: asked once, when the fact arrives. A late fact moves nothing."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from porch.machine import approvals, base_commands, budgets, outside, wishes
from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.evolve import PAID, evolve_state
from porch.machine.exits.absences import absent_since_moves, given_before_moves, review_moves
from porch.machine.exits.accepted_exits import accepted_exit_moves, last_words_moves
from porch.machine.exits.departure import (
    Departure,
    departure_from_nowhere,
    entry_moves,
    exit_moves,
    state_entry_moves,
    still_finished,
)
from porch.machine.exits.evidence import (
    check_result_moves,
    idle_check_moves,
    review_round_moves,
)
from porch.machine.exits.retries import failure_moves, interruption_moves
from porch.machine.exits.sibling_updates import target_moved_moves
from porch.machine.exits.touched_files import more_touched_moves, touched_moves
from porch.machine.records import JournalRecord
from porch.machine.state import InHand, RunState, Standing
from porch.model.memory_paths import settled_path
from porch.model.protocol import (
    LAST_ITEM,
    SILENT,
    TRACK,
    Actor,
    Check,
    Human,
    Protocol,
    Target,
)

# Of what an agent said like a signal and did not count, so much is told back.
NOTES_TOLD = 5


def route_fact(protocol: Protocol, state: RunState, fact: f.Fact) -> tuple[m.Move, ...]:
    """The moves of one fact; the empty tuple means recorded and ignored."""
    moves = _fact_moves(protocol, state, fact)
    moves = (*moves, *approvals.reopened_gate_moves(protocol, state, moves))
    moves = (*moves, *_idle_check_moves(protocol, state, fact, moves))
    moves = (*moves, *absent_since_moves(protocol, state, moves))
    moves = (*moves, *given_before_moves(protocol, state, moves))
    if protocol.subject == TRACK:
        moves = _of_track(protocol, state, fact, moves)
    if not protocol.spec:
        return moves
    # Its rules are loaded where there is a tree.
    from porch.machine.instances.children import add_follow_up_moves

    return add_follow_up_moves(protocol, state, fact, moves)


def _fact_moves(protocol: Protocol, state: RunState, fact: f.Fact) -> tuple[m.Move, ...]:
    match fact:
        case f.RunStarted():
            return tuple(_start_moves(protocol, state, fact))
        case f.RunAdopted():
            return tuple(_adopt_moves(protocol, state, fact))
        case f.WishTaken():
            return wishes.wish_moves(protocol, state, fact.wish, fact)
        case f.BudgetReached() | f.CommandsDue() | f.ApprovalOutdated() | f.ApprovalRestored():
            return tuple(_aside_moves(protocol, state, fact))
        case f.PlanMoved() | f.QuestionPosed():
            return _of_plan(protocol, state, fact)
        case f.SettingsPinned() | f.WorkFinished() | f.BaseMeasured():
            return (_noted_move(fact),)
        case f.RunnerStarted() | f.WishRefused() | f.JournalRepaired() | f.StatusEdited():
            return ()
        case _:
            return _effect_ended_moves(protocol, state, fact)


def _of_track(
    protocol: Protocol, state: RunState, fact: f.Fact, moves: tuple[m.Move, ...]
) -> tuple[m.Move, ...]:
    """Its rules are loaded where there is a track."""
    from porch.machine.track.settled_states import add_settled_moves

    return add_settled_moves(protocol, state, fact, moves)


def _idle_check_moves(
    protocol: Protocol, state: RunState, fact: f.Fact, moves: tuple[m.Move, ...]
) -> tuple[m.Move, ...]:
    entered = [move for move in moves if isinstance(move, m.Entered)]
    if not any(_is_repeated(protocol.states[move.state].actor) for move in entered):
        return ()
    after = evolve_state(state, JournalRecord(state.seq, state.at, fact, moves))
    return idle_check_moves(protocol, after, moves)


def _is_repeated(actor: Actor) -> bool:
    return isinstance(actor, Check) and all(command.evidence for command in actor.commands)


def _aside_moves(
    protocol: Protocol,
    state: RunState,
    fact: f.BudgetReached | f.CommandsDue | f.ApprovalOutdated | f.ApprovalRestored,
) -> Iterator[m.Move]:
    """Questions of the engine itself, beside whatever the run does."""
    match fact:
        case f.CommandsDue():
            return base_commands.due_moves(protocol, state, fact)
        case f.BudgetReached():
            return budgets.budget_question_moves(protocol, state, fact)
        case f.ApprovalOutdated():
            return approvals.outdated_moves(protocol, state, fact)
        case f.ApprovalRestored():
            return approvals.restored_moves(state, fact)
        case _:
            assert_never(fact)


def _start_moves(protocol: Protocol, state: RunState, fact: f.RunStarted) -> Iterator[m.Move]:
    if not state.run.name:
        yield _began_move(fact)
        if protocol.spec:
            key = str(fact.spec.get("id", ""))
            yield m.Spawned("", "", key, fact.spec, "", fact.branch, fact.into)
        for name, payload in fact.settled.items():
            yield m.Remembered(settled_path(name), payload)
        yield from entry_moves(departure_from_nowhere(protocol, state), protocol.initial)


def _began_move(fact: f.RunStarted) -> m.Began:
    return m.Began(
        run=fact.run,
        id=fact.id,
        title=fact.title,
        heading=fact.heading,
        request_from=fact.request_from,
        protocol=fact.protocol,
        digest=fact.digest,
        inputs=fact.inputs,
        subject=fact.subject,
        project_dir=fact.project_dir,
        status_file=fact.status_file,
        worktree=fact.worktree,
        base_commit=fact.base_commit,
        agent=fact.agent,
        script=fact.script,
        base_tree=fact.base_tree,
        settings=fact.settings,
        own_worktree=fact.own_worktree,
        # The root of a tree has its own branch, which stands in its instance.
        branch=fact.branch if fact.own_worktree else "",
        # So has the branch into which a tree is merged.
        into="" if fact.spec else fact.into,
        commits_nothing=fact.commits_nothing,
        trust=fact.trust,
    )


def _noted_move(fact: f.SettingsPinned | f.WorkFinished | f.BaseMeasured) -> m.Move:
    """What is only to be remembered of the run as a whole."""
    if isinstance(fact, f.SettingsPinned):
        return m.PinnedSettings(fact.digest, fact.trust)
    if isinstance(fact, f.BaseMeasured):
        return m.Based(fact.base_tree, fact.base_commit, fact.into)
    return m.Delivered(
        how=fact.how,
        branch=fact.branch,
        head=fact.head,
        into=fact.into,
        commit=fact.commit,
        url=fact.url,
    )


def _adopt_moves(protocol: Protocol, state: RunState, fact: f.RunAdopted) -> Iterator[m.Move]:
    if fact.start is not None:
        yield _began_move(fact.start)
    for position in state.positions:
        yield m.Left(position)
    for name, gate in fact.gates.items():
        yield m.GateNoted(name, str(gate.get("status", "waiting")), "unknown (from a file)")
    if fact.state == "complete":
        yield m.Ended("complete")
        return
    loop = protocol.states[fact.state].loop
    if loop and fact.items:
        yield m.Itemised(loop, fact.items, "", fact.finished)
    leaving = departure_from_nowhere(protocol, state)
    if fact.item in [item.id for item in fact.items]:
        yield from state_entry_moves(leaving, fact.state, fact.item)
    else:
        yield from entry_moves(leaving, Target(fact.state, fact.item))
    if fact.paused:
        yield m.Paused()


# The kinds of effects that each fact ends; those not named here can end any.
_ENDS: Mapping[type, tuple[str, ...]] = {
    f.ExitAccepted: ("agent",),
    f.TurnEndedSilent: ("agent",),
    f.CheckEnded: ("check",),
    f.ReviewEnded: ("review",),
    f.FeedbackWritten: ("feedback",),
    f.ItemsRead: ("items",),
    f.DecisionAsked: ("ask",),
    f.TimerFired: ("timer", "stale"),
    f.CommitEnded: ("commit",),
    f.GitEnded: ("git",),
}


def _of_plan(
    protocol: Protocol, state: RunState, fact: f.PlanMoved | f.QuestionPosed
) -> tuple[m.Move, ...]:
    """Its rules are loaded where there is a plan."""
    if protocol.subject == budgets.ASK and isinstance(fact, f.QuestionPosed):
        from porch.machine.ask import run_rules as ask_rules

        return tuple(ask_rules.posed_moves(state, fact))
    from porch.machine.plan import run_rules

    if isinstance(fact, f.PlanMoved):
        return tuple(run_rules.plan_change_moves(state, fact))
    return tuple(run_rules.question_moves(protocol, state, fact))


def _effect_ended_moves(
    protocol: Protocol, state: RunState, fact: f.EffectFact
) -> tuple[m.Move, ...]:
    hand = state.in_hand.get(fact.effect)
    if hand is None:
        return ()
    settled = _settled_move(hand, fact)
    standing = state.positions.get(hand.position)
    if standing is None:
        from porch.machine.plan import run_rules

        return (settled, *run_rules.plan_review_moves(protocol, hand, fact))
    if hand.kind not in _ENDS.get(type(fact), (hand.kind,)):
        # An answer of the wrong kind proves nothing, whatever it says.
        wrong = f"it got an unexpected answer of type {type(fact).__name__}"
        fact = f.EffectFailed(effect=fact.effect, why=wrong)
    moved = target_moved_moves(protocol, state, standing, getattr(fact, "target_head", ""))
    if moved:
        # What follows looks at memory: an update that is due comes before the next work.
        state = evolve_state(state, JournalRecord(state.seq, state.at, fact, moved))
    seen = outside.outside_moves(protocol, state, standing, getattr(fact, "outside", {}))
    return (settled, *moved, *seen, *_effect_moves(protocol, state, standing, hand, fact))


def _settled_move(hand: InHand, fact: f.EffectFact) -> m.Settled:
    usd, tokens = getattr(fact, "usd", 0), getattr(fact, "tokens", 0)
    # Only what agents take is kept by state; checks tell their time in their own evidence.
    seconds = getattr(fact, "seconds", 0) if hand.kind in PAID else 0
    return m.Settled(fact.effect, usd, tokens, seconds)


def _effect_moves(
    protocol: Protocol, state: RunState, standing: Standing, hand: InHand, fact: f.EffectFact
) -> tuple[m.Move, ...]:
    match fact:
        case f.ExitAccepted() | f.TurnEndedSilent():
            return _turn_moves(protocol, state, standing, hand, fact)
        case f.CheckEnded() | f.ReviewEnded() | f.FeedbackWritten():
            return _measurement_moves(protocol, state, standing, hand, fact)
        case f.EffectFailed() | f.EffectInterrupted() | f.EffectStopped():
            return _lost_effect_moves(protocol, state, standing, hand, fact)
        case f.ItemsRead():
            return tuple(_items_read_moves(protocol, state, standing, fact))
        case f.DecisionAsked():
            return _decision_asked_moves(protocol, standing, fact)
        case f.TimerFired():
            return (m.Marked(standing.position, f"fired/{hand.name}"),)
        case f.CommitEnded() | f.GitEnded():
            return _git_moves(protocol, state, standing, fact)
        case _:
            assert_never(fact)


def _turn_moves(
    protocol: Protocol,
    state: RunState,
    standing: Standing,
    hand: InHand,
    fact: f.ExitAccepted | f.TurnEndedSilent,
) -> tuple[m.Move, ...]:
    touched = touched_moves(protocol, state, standing, fact)
    if isinstance(fact, f.TurnEndedSilent):
        return (*touched, *_silent_turn_moves(protocol, state, standing, fact))
    moves = accepted_exit_moves(protocol, state, standing, fact)
    if moves:
        return (*touched, *moves)
    nowhere = f.EffectFailed(
        effect=fact.effect, why=f"'{fact.exit}' has no next step from {standing.state}"
    )
    return failure_moves(protocol, state, standing, hand, nowhere)


def _measurement_moves(
    protocol: Protocol,
    state: RunState,
    standing: Standing,
    hand: InHand,
    fact: f.CheckEnded | f.ReviewEnded | f.FeedbackWritten,
) -> tuple[m.Move, ...]:
    match fact:
        case f.CheckEnded():
            touched = more_touched_moves(protocol, state, standing, fact.touched)
            return (*touched, *check_result_moves(protocol, state, standing, hand, fact))
        case f.ReviewEnded():
            touched = more_touched_moves(protocol, state, standing, fact.touched)
            return (*touched, *review_moves(state, standing, hand, fact))
        case f.FeedbackWritten(path=path):
            return review_round_moves(protocol, state, standing, path)
        case _:
            assert_never(fact)


def _lost_effect_moves(
    protocol: Protocol,
    state: RunState,
    standing: Standing,
    hand: InHand,
    fact: f.EffectFailed | f.EffectInterrupted | f.EffectStopped,
) -> tuple[m.Move, ...]:
    match fact:
        case f.EffectFailed():
            return failure_moves(protocol, state, standing, hand, fact)
        case f.EffectInterrupted():
            return interruption_moves(protocol, state, standing, hand, fact)
        case f.EffectStopped(session=session):
            # Resumed, an agent goes on in its conversation, as after a crash.
            return (m.Marked(standing.position, "session", session),) if session else ()
        case _:
            assert_never(fact)


def _git_moves(
    protocol: Protocol, state: RunState, standing: Standing, fact: f.CommitEnded | f.GitEnded
) -> tuple[m.Move, ...]:
    if isinstance(fact, f.GitEnded):
        return exit_moves(protocol, state, standing, fact.exit, fact.payload)
    if fact.refused:
        return exit_moves(protocol, state, standing, "refused", {"reason": fact.refused})
    return exit_moves(protocol, state, standing, "clean", {"commit": fact.commit})


def _decision_asked_moves(
    protocol: Protocol, standing: Standing, fact: f.DecisionAsked
) -> tuple[m.Move, ...]:
    actor = protocol.states[standing.state].actor
    if not isinstance(actor, Human):
        return ()
    human = approvals.asked_human(protocol, standing, actor)
    asked = m.Asked(standing.position, human.kind, human.name, fact.digest, fact.artifacts)
    return (asked,)


def _silent_turn_moves(
    protocol: Protocol, state: RunState, standing: Standing, fact: f.TurnEndedSilent
) -> tuple[m.Move, ...]:
    # What was denied to the agent says nothing about its signals.
    noted = [note for note in fact.notes if not note.startswith(f.DENIED)][:NOTES_TOLD]
    if state.marked(standing.position, "reminded"):
        reason = "; ".join(("the agent ended twice without giving a signal", *noted))
        said = {"reason": reason, "said": fact.said, "notes": list(fact.notes)}
        return exit_moves(protocol, state, standing, SILENT, said)
    return (
        *last_words_moves(protocol, state, standing, fact.said),
        m.Marked(standing.position, "reminded", noted or True),
        m.Marked(standing.position, "session", fact.session),
    )


def _items_read_moves(
    protocol: Protocol, state: RunState, standing: Standing, fact: f.ItemsRead
) -> Iterator[m.Move]:
    loop = protocol.states[standing.state].loop
    finished = still_finished(state.items_of(standing, loop), fact.items)
    yield m.Itemised(loop, fact.items, fact.digest, finished, standing.instance)
    yield m.Left(standing.position)
    asked = state.marked(standing.position, "item")
    asked = fact.items[-1].id if asked == LAST_ITEM and fact.items else asked
    rest = [item.id for item in fact.items if item.id not in finished]
    target = asked if asked in [item.id for item in fact.items] else next(iter(rest), "")
    leaving = Departure(protocol, state, standing, "", {})
    if target:
        yield from state_entry_moves(leaving, standing.state, target)
    else:
        yield from entry_moves(leaving, protocol.loops[loop].after)
