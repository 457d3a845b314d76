"""What a fact moves: asked once, when the fact arrives. A late fact moves nothing."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from porch.machine import budgets, plans, wishes
from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.answers import answered, told
from porch.machine.automatic import followed
from porch.machine.evidence import checked, judged, review_of
from porch.machine.evolve import PAID
from porch.machine.leave import Leaving, enter, entered, from_nowhere, leave, still_finished
from porch.machine.retries import failed, interrupted
from porch.machine.state import InHand, Standing, State
from porch.model.protocol import SILENT, Human, Protocol, Target


def route(protocol: Protocol, state: State, fact: f.Fact) -> tuple[m.Move, ...]:
    """The moves of one fact; the empty tuple means recorded and ignored."""
    return followed(protocol, state, fact, _routed(protocol, state, fact))


def _routed(protocol: Protocol, state: State, fact: f.Fact) -> tuple[m.Move, ...]:
    match fact:
        case f.RunStarted():
            return tuple(_begin(protocol, state, fact))
        case f.RunAdopted():
            return tuple(_adopt(protocol, state, fact))
        case f.WishTaken(wish=wish):
            return wishes.granted(protocol, state, wish)
        case f.BudgetReached():
            return tuple(budgets.reached(protocol, state, fact))
        case f.PlanMoved():
            return tuple(plans.moved(state, fact))
        case f.QuestionPosed():
            return tuple(plans.posed(protocol, state, fact))
        case f.RunnerStarted() | f.WishRefused() | f.JournalRepaired() | f.StatusEdited():
            return ()
        case _:
            return _ended(protocol, state, fact)


def _begin(protocol: Protocol, state: State, fact: f.RunStarted) -> Iterator[m.Move]:
    if not state.run.name:
        yield _began(fact)
        if protocol.spec:
            key = str(fact.spec.get("id", ""))
            yield m.Spawned("", "", key, fact.spec, "", fact.branch, fact.into)
        yield from enter(from_nowhere(protocol, state), protocol.initial)


def _began(fact: f.RunStarted) -> m.Began:
    return m.Began(
        run=fact.run,
        id=fact.id,
        title=fact.title,
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
    )


def _adopt(protocol: Protocol, state: State, fact: f.RunAdopted) -> Iterator[m.Move]:
    if fact.start is not None:
        yield _began(fact.start)
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
    leaving = from_nowhere(protocol, state)
    if fact.item in [item.id for item in fact.items]:
        yield from entered(leaving, fact.state, fact.item)
    else:
        yield from enter(leaving, Target(fact.state, fact.item))


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


def _ended(protocol: Protocol, state: State, fact: f.EffectFact) -> tuple[m.Move, ...]:
    hand = state.in_hand.get(fact.effect)
    if hand is None:
        return ()
    settled = _settled(hand, fact)
    standing = state.positions.get(hand.position)
    if standing is None:
        return (settled, *plans.heard(protocol, hand, fact))
    if hand.kind not in _ENDS.get(type(fact), (hand.kind,)):
        # An answer of the wrong kind proves nothing, whatever it says.
        wrong = f"it was answered by {type(fact).__name__}"
        fact = f.EffectFailed(fact.effect, wrong)
    return (settled, *_moved(protocol, state, standing, hand, fact))


def _settled(hand: InHand, fact: f.EffectFact) -> m.Settled:
    usd, tokens = getattr(fact, "usd", 0), getattr(fact, "tokens", 0)
    # Only what agents take is kept by state; checks tell their time in their own evidence.
    seconds = getattr(fact, "seconds", 0) if hand.kind in PAID else 0
    return m.Settled(fact.effect, usd, tokens, seconds)


def _moved(
    protocol: Protocol, state: State, standing: Standing, hand: InHand, fact: f.EffectFact
) -> tuple[m.Move, ...]:
    match fact:
        case f.ExitAccepted() | f.TurnEndedSilent():
            return _turned(protocol, state, standing, hand, fact)
        case f.CheckEnded() | f.ReviewEnded() | f.FeedbackWritten():
            return _measured(protocol, state, standing, hand, fact)
        case f.EffectFailed() | f.EffectInterrupted() | f.EffectStopped():
            return _lost(protocol, state, standing, hand, fact)
        case f.ItemsRead():
            return tuple(_itemised(protocol, state, standing, fact))
        case f.DecisionAsked():
            return _asked(protocol, standing, fact)
        case f.TimerFired():
            return (m.Marked(standing.position, f"fired/{hand.name}"),)
        case f.CommitEnded() | f.GitEnded():
            return _by_git(protocol, state, standing, fact)
        case _:
            assert_never(fact)


def _turned(
    protocol: Protocol,
    state: State,
    standing: Standing,
    hand: InHand,
    fact: f.ExitAccepted | f.TurnEndedSilent,
) -> tuple[m.Move, ...]:
    if isinstance(fact, f.TurnEndedSilent):
        return _silent(protocol, state, standing, fact)
    moves = answered(protocol, state, standing, fact)
    if moves:
        return moves
    nowhere = f.EffectFailed(fact.effect, f"'{fact.exit}' leads nowhere from {standing.state}")
    return failed(protocol, state, standing, hand, nowhere)


def _measured(
    protocol: Protocol,
    state: State,
    standing: Standing,
    hand: InHand,
    fact: f.CheckEnded | f.ReviewEnded | f.FeedbackWritten,
) -> tuple[m.Move, ...]:
    match fact:
        case f.CheckEnded():
            return checked(protocol, state, standing, hand, fact)
        case f.ReviewEnded():
            return (m.Marked(standing.position, f"review/{hand.name}", review_of(fact)),)
        case f.FeedbackWritten(path=path):
            return judged(protocol, state, standing, path)
        case _:
            assert_never(fact)


def _lost(
    protocol: Protocol,
    state: State,
    standing: Standing,
    hand: InHand,
    fact: f.EffectFailed | f.EffectInterrupted | f.EffectStopped,
) -> tuple[m.Move, ...]:
    match fact:
        case f.EffectFailed():
            return failed(protocol, state, standing, hand, fact)
        case f.EffectInterrupted():
            return interrupted(protocol, state, standing, hand, fact)
        case f.EffectStopped(session=session):
            # Resumed, an agent goes on in its conversation, as after a crash.
            return (m.Marked(standing.position, "session", session),) if session else ()
        case _:
            assert_never(fact)


def _by_git(
    protocol: Protocol, state: State, standing: Standing, fact: f.CommitEnded | f.GitEnded
) -> tuple[m.Move, ...]:
    if isinstance(fact, f.GitEnded):
        return leave(protocol, state, standing, fact.exit, fact.payload)
    if fact.refused:
        return leave(protocol, state, standing, "refused", {"reason": fact.refused})
    return leave(protocol, state, standing, "clean", {"commit": fact.commit})


def _asked(protocol: Protocol, standing: Standing, fact: f.DecisionAsked) -> tuple[m.Move, ...]:
    actor = protocol.states[standing.state].actor
    if not isinstance(actor, Human):
        return ()
    asked = m.Asked(standing.position, actor.kind, actor.name, fact.digest, fact.artifacts)
    return (asked,)


def _silent(
    protocol: Protocol, state: State, standing: Standing, fact: f.TurnEndedSilent
) -> tuple[m.Move, ...]:
    if state.marked(standing.position, "reminded"):
        said = {"reason": "the agent ended twice without a signal", "said": fact.said}
        return leave(protocol, state, standing, SILENT, {**said, "notes": list(fact.notes)})
    return (
        *told(protocol, state, standing, fact.said),
        m.Marked(standing.position, "reminded"),
        m.Marked(standing.position, "session", fact.session),
    )


def _itemised(
    protocol: Protocol, state: State, standing: Standing, fact: f.ItemsRead
) -> Iterator[m.Move]:
    loop = protocol.states[standing.state].loop
    finished = still_finished(state.items_of(standing, loop), fact.items)
    yield m.Itemised(loop, fact.items, fact.digest, finished, standing.instance)
    yield m.Left(standing.position)
    asked = state.marked(standing.position, "item")
    rest = [item.id for item in fact.items if item.id not in finished]
    target = asked if asked in [item.id for item in fact.items] else next(iter(rest), "")
    leaving = Leaving(protocol, state, standing, "", {})
    if target:
        yield from entered(leaving, standing.state, target)
    else:
        yield from enter(leaving, protocol.loops[loop].after)
