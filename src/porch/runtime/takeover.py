"""Taking a run over, always the same way: after a crash, after a stop, or for the first time."""

from collections.abc import Callable

from porch.adapters import crash, lock, marks
from porch.errors import UsageError
from porch.machine import facts as f
from porch.machine.records import Record
from porch.machine.state import InHand, State
from porch.model.protocol import Agent, Exit
from porch.runtime import turns
from porch.runtime.handlers import agent, panel
from porch.runtime.world import World

Answer = Callable[[f.Fact], Record]


def refuse_elsewhere(raws: list[dict[str, object]], state: State, take_over: bool) -> None:
    """What was begun on another machine may still be running there; only a person knows."""
    last = next((r["fact"] for r in reversed(raws) if _is_runner(r)), None)
    if not state.in_hand or take_over or not isinstance(last, dict):
        return
    if (last.get("host"), last.get("boot")) == (lock.host(), lock.boot_id()):
        return
    same_host = last.get("host") == lock.host()
    where = "before this machine was restarted" if same_host else f"on {last.get('host')}"
    raise UsageError(
        f"the run was last driven {where} and {len(state.in_hand)} effects were in hand",
        fix="make sure nothing of it runs there any more, then add --take-over",
        code="begun-elsewhere",
    )


def _is_runner(record: dict[str, object]) -> bool:
    fact = record.get("fact")
    return isinstance(fact, dict) and fact.get("is") == "RunnerStarted"


def settle(world: World, answer: Answer) -> int:
    """Stop what a dead runner left, then say of each begun effect what became of it."""
    crash.point("takeover.before-reap")
    marks.reap(world.mark + ":")
    crash.point("takeover.after-reap")
    left = list(world.state().in_hand.values())
    for hand in left:
        answer(_fate(world, hand))
        crash.point("takeover.after-settle")
    return len(left)


def _fate(world: World, hand: InHand) -> f.EffectFact:
    """A final result in a transcript is the outcome; otherwise nobody knows how far it came."""
    if hand.kind not in ("agent", "review"):
        return f.EffectInterrupted(hand.effect)
    if _is_typed(world, hand):
        # Its answer has to be measured, so the next try looks at what it said.
        return _typed_fate(world, hand)
    directory = world.turn_directory(hand.effect)
    outcome = turns.left_behind(world, directory)
    if outcome is None:
        seen = turns.seen(world, directory)
        return f.EffectInterrupted(hand.effect, seen.usd, seen.tokens, seen.session)
    if hand.kind == "review":
        return panel.judged(hand.effect, outcome)
    nonce = world.nonce(hand.effect)
    return agent.answered(hand.effect, _exits(world, hand), outcome, nonce=nonce)


def _typed_fate(world: World, hand: InHand) -> f.EffectInterrupted:
    from porch.runtime.tree import questions

    *before, last = questions.turns_of(world, hand.effect) or [world.turn_directory(hand.effect)]
    # Of the last one nobody may know what it cost; the others came to their ends.
    seen = [*(turns.told(world, each) for each in before), turns.seen(world, last)]
    usd, tokens = sum(each.usd for each in seen), sum(each.tokens for each in seen)
    session = next((each.session for each in reversed(seen) if each.session), "")
    return f.EffectInterrupted(hand.effect, usd, tokens, session)


def _is_typed(world: World, hand: InHand) -> bool:
    standing = world.state().positions.get(hand.position)
    actor = world.definition().protocol.states[standing.state].actor if standing else None
    return isinstance(actor, Agent) and actor.ask is not None


def _exits(world: World, hand: InHand) -> tuple[Exit, ...]:
    """What the agent could answer then; asked of the protocol, for a paused run wants nothing."""
    standing = world.state().positions.get(hand.position)
    if standing is None:
        return ()
    actor = world.definition().protocol.states[standing.state].actor
    return actor.exits if isinstance(actor, Agent) else ()
