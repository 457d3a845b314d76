"""Taking a run over, always the same way: after a crash, after a stop, or for the first time."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from porch.errors import UsageError
from porch.machine import facts as f
from porch.machine.evolve import PAID
from porch.machine.records import JournalRecord, RawRecord
from porch.machine.state import InHand, RunState
from porch.model.protocol import Agent, Exit, Panel, ReviewForm
from porch.run.agents.world import World
from porch.store import lock
from porch.system import crash_points, process_marks

Answer = Callable[[f.Fact], JournalRecord]
QuestionTurns = Callable[[World, str], list[str]]


def refuse_elsewhere(raws: Sequence[RawRecord], state: RunState, take_over: bool) -> None:
    """What was begun on another machine may still be running there; only a person knows."""
    last = next((r["fact"] for r in reversed(raws) if _is_runner_record(r)), None)
    if not state.in_hand or take_over or not isinstance(last, dict):
        return
    if (last.get("host"), last.get("boot")) == (lock.host_name(), lock.read_boot_id()):
        return
    same_host = last.get("host") == lock.host_name()
    where = "before this machine was restarted" if same_host else f"on {last.get('host')}"
    raise UsageError(
        f"the run was last running {where}, with {len(state.in_hand)} steps unfinished",
        fix="make sure that nothing of it still runs there, then add --take-over",
        code="begun-elsewhere",
    )


def _is_runner_record(record: dict[str, Any]) -> bool:
    fact = record.get("fact")
    return isinstance(fact, dict) and fact.get("is") == "RunnerStarted"


def settle_left_effects(world: World, answer: Answer, question_turns: QuestionTurns) -> int:
    """Stop what a dead runner left, then say of each begun effect what became of it."""
    crash_points.reach_point("takeover.before-reap")
    # Before the first runner nobody worked for the run but its set-up, which left nobody.
    looks = 1 if world.state().seq <= 1 else 2
    process_marks.reap_processes(world.mark + ":", looks)
    crash_points.reach_point("takeover.after-reap")
    left = list(world.state().in_hand.values())
    for hand in left:
        fate = _find_fate(world, hand, question_turns)
        if world.in_git and _is_watched(world, hand):
            from porch.run.handlers import outside_watch

            fate = outside_watch.add_changes(world, fate)
        answer(fate)
        crash_points.reach_point("takeover.after-settle")
    return len(left)


def _is_watched(world: World, hand: InHand) -> bool:
    """Of a turn that had not begun there is nothing to compare; not every check is watched."""
    if hand.kind in PAID:
        return bool(os.listdir(world.turn_directory(hand.effect)))
    from porch.run.handlers import outside_watch

    return hand.kind == "check" and outside_watch.has_stamp(world, hand.effect)


def _find_fate(world: World, hand: InHand, question_turns: QuestionTurns) -> f.EffectFact:
    """A final result in a transcript is the outcome; otherwise nobody knows how far it came."""
    if hand.kind not in ("agent", "review"):
        return f.EffectInterrupted(effect=hand.effect)
    if _is_typed(world, hand):
        # Its answer has to be measured, so the next try looks at what it said.
        return _find_typed_fate(world, hand, question_turns)
    from porch.run.agents import turn  # mostly nothing is left

    directory = world.turn_directory(hand.effect)
    outcome = turn.read_left_outcome(world, directory)
    if outcome is None:
        seen = turn.read_stopped_turn(world, directory)
        return f.EffectInterrupted(
            effect=hand.effect, usd=seen.usd, tokens=seen.tokens, session=seen.session
        )
    if hand.kind == "review":
        from porch.run.handlers import panel

        return panel.read_review_outcome(hand.effect, outcome, form=_find_form(world, hand))
    nonce = world.nonce(hand.effect)
    from porch.run.handlers import agent

    fact = agent.read_agent_outcome(hand.effect, _list_exits(world, hand), outcome, nonce=nonce)
    return agent.settle_agent_work(world, hand.position, fact)


def _find_typed_fate(
    world: World, hand: InHand, question_turns: QuestionTurns
) -> f.EffectInterrupted:
    from porch.run.agents import turn

    *before, last = question_turns(world, hand.effect) or [world.turn_directory(hand.effect)]
    # Of the last one nobody may know what it cost; the others came to their ends.
    seen = [
        *(turn.read_turn_cost(world, each) for each in before),
        turn.read_stopped_turn(world, last),
    ]
    usd, tokens = sum(each.usd for each in seen), sum(each.tokens for each in seen)
    session = next((each.session for each in reversed(seen) if each.session), "")
    return f.EffectInterrupted(effect=hand.effect, usd=usd, tokens=tokens, session=session)


def _is_typed(world: World, hand: InHand) -> bool:
    standing = world.state().positions.get(hand.position)
    actor = world.definition().protocol.states[standing.state].actor if standing else None
    return isinstance(actor, Agent) and actor.ask is not None


def _find_form(world: World, hand: InHand) -> ReviewForm:
    standing = world.state().positions.get(hand.position)
    actor = world.definition().protocol.states[standing.state].actor if standing else None
    return actor.form if isinstance(actor, Panel) else "verdict"


def _list_exits(world: World, hand: InHand) -> tuple[Exit, ...]:
    """What the agent could answer then; asked of the protocol, for a paused run wants nothing."""
    standing = world.state().positions.get(hand.position)
    if standing is None:
        return ()
    actor = world.definition().protocol.states[standing.state].actor
    return actor.exits if isinstance(actor, Agent) else ()
