"""Effects start in the order in which they became wanted, when all they use is free."""

from porch.machine import moves as m
from porch.machine.effects import PATIENT
from porch.machine.evolve import evolve_state
from porch.machine.facts import RunnerStarted
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.model import protocol as p
from porch.run.engine.queue import EffectQueue

AGENT = p.Agent("work", exits=(p.Exit("DONE", ("DONE",)),))
HUMAN = p.Human("gate", "ok", "OK?", (p.Option("approved", "go on"),))
PROTOCOL = p.Protocol(
    "two",
    p.Target("a"),
    {
        "a": p.State("a", "a", AGENT),
        "b": p.State("b", "b", AGENT),
        "gate": p.State("gate", "gate", HUMAN),
    },
    (),
)


def stands(*moves: m.Move, state: RunState | None = None) -> RunState:
    before = state or RunState()
    return evolve_state(
        before,
        JournalRecord(
            before.seq + 1, "t", RunnerStarted(host="", boot="", pid=1, release=""), moves
        ),
    )


def entered(state: str) -> m.Entered:
    return m.Entered(f"{state}#1", state, 1)


def test_two_effects_of_one_worktree_start_one_after_the_other() -> None:
    queue = EffectQueue({"agent": 4})
    state = stands(entered("a"), entered("b"))
    queue.load(PROTOCOL, state)
    chosen = queue.choose()
    assert [hand.position for hand in chosen] == ["a#1"]
    queue.take(chosen[0])
    assert queue.choose() == []
    settled = (m.Settled(chosen[0].effect), m.Left("a#1"))
    queue.refresh(PROTOCOL, stands(*settled, state=state), settled)
    assert [hand.position for hand in queue.choose()] == ["b#1"]


def test_what_is_in_hand_and_no_longer_wanted_is_unwanted_until_it_is_settled() -> None:
    queue = EffectQueue({"agent": 4})
    state = stands(entered("a"))
    queue.load(PROTOCOL, state)
    hand = queue.choose()[0]
    queue.take(hand)
    left = (m.Left("a#1"),)
    queue.refresh(PROTOCOL, stands(*left, state=state), left)
    assert queue.unwanted == {hand.effect}
    assert queue.is_busy()
    queue.refresh(PROTOCOL, state, (m.Settled(hand.effect),))
    assert queue.holds_nothing()
    assert queue.unwanted == set()


def test_a_kind_that_is_nobodys_here_is_wanted_but_never_chosen() -> None:
    queue = EffectQueue({"agent": 4}, hands_off=("agent",))
    queue.load(PROTOCOL, stands(entered("a")))
    assert queue.choose() == []
    assert queue.waiting


def test_the_timer_of_a_gate_is_no_reason_to_stay() -> None:
    queue = EffectQueue({})
    state = stands(entered("gate"), m.Asked("gate#1", "gate", "ok"))
    queue.load(PROTOCOL, state)
    hand = queue.choose()[0]
    assert hand.kind == PATIENT
    queue.take(hand)
    assert not queue.is_busy()
    assert not queue.holds_nothing()


def test_what_a_state_holds_is_held_from_the_start() -> None:
    first = EffectQueue({"agent": 4})
    state = stands(entered("a"), entered("b"))
    first.load(PROTOCOL, state)
    begun = tuple(first.choose())
    record = JournalRecord(
        state.seq + 1, "t", RunnerStarted(host="", boot="", pid=1, release=""), (), begun
    )
    again = EffectQueue({"agent": 4})
    again.load(PROTOCOL, evolve_state(state, record))
    assert again.choose() == []
    assert again.is_busy()
