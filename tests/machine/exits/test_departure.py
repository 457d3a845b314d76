"""Leaving by an exit: loops, budgets, joins, guards and ends."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import StartTimer
from porch.machine.evolve import evolve_state
from porch.machine.records import JournalRecord
from porch.machine.state import InHand
from porch.model import protocol as p
from porch.testing import Rig

T = p.Target


def stands(rig: Rig) -> list[str]:
    return list(rig.state.positions)


def altered(protocol: p.Protocol, *edges: p.Edge, **states: p.State) -> p.Protocol:
    """The house with some edges put before its own, and some states replaced."""
    named = {**protocol.states, **states}
    return replace(protocol, states=named, edges=(*edges, *protocol.edges))


def entered(record: JournalRecord) -> list[str]:
    return [move.position for move in record.moves if isinstance(move, m.Entered)]


# Loops


@pytest.mark.req("P-055", "P-056")
def test_a_loop_runs_its_states_for_each_item_in_order_and_then_goes_on(at_loop: Rig) -> None:
    walked = []
    for _ in range(3):
        walked += stands(at_loop)
        at_loop.exit("PHASE_IMPLEMENTED")
        walked += stands(at_loop)
        at_loop.check("unit/fast", "passed")
        walked += stands(at_loop)
        at_loop.exit("TESTS_WRITTEN")
    states = ("implement", "implement:check", "defend")
    assert walked == [f"{s}:{i}#1" for i in ("one", "two", "three") for s in states]
    assert stands(at_loop) == ["fork#1"]
    assert at_loop.state.items[("", "plan")].finished == ("one", "two", "three")


def test_an_empty_list_goes_on_behind_the_loop(at_gate: Rig) -> None:
    at_gate.decide("approved")
    at_gate.check("unit/fast", "passed")
    at_gate.reads()
    assert stands(at_gate) == ["fork#1"]


def test_a_list_that_is_read_again_keeps_what_is_finished_and_unchanged(at_loop: Rig) -> None:
    for _ in range(2):
        at_loop.exit("PHASE_IMPLEMENTED")
        at_loop.check("unit/fast", "passed")
        at_loop.exit("TESTS_WRITTEN")
    place = "implement#2"
    moves = (m.Left("implement:three#1"), m.Entered(place, "implement", 2))
    hand = InHand(f"{place}/items/plan/0", place, "items", "plan")
    wish = f.WishTaken(wish=f.Wish(id="w", kind="stop"))
    at_loop.state = evolve_state(at_loop.state, JournalRecord(99, "t", wish, moves, (hand,)))
    at_loop.reads("two=2", "one=changed", "four=4")
    assert at_loop.state.items[("", "plan")].finished == ("two",)
    assert stands(at_loop) == ["implement:one#2"]


def read_in_loop(protocol: p.Protocol, edge: p.Edge) -> Rig:
    """A run in the middle of its second item, where one edge leads elsewhere."""
    rig = Rig(altered(protocol, edge)).start()
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "failed")
    rig.asked()
    rig.decide("waived", "it is fine")
    rig.reads("one=1", "two=2")
    rig.exit("PHASE_IMPLEMENTED")
    return rig


def test_an_edge_may_name_the_item_it_leads_to(protocol: p.Protocol) -> None:
    rig = read_in_loop(protocol, p.Edge("implement:check", "passed", (T("defend", "two"),)))
    rig.check("unit/fast", "passed")
    assert stands(rig) == ["defend:two#1"]


def test_a_named_item_that_the_list_does_not_have_is_looked_for_again(protocol: p.Protocol) -> None:
    rig = read_in_loop(protocol, p.Edge("implement:check", "passed", (T("defend", "nine"),)))
    rig.check("unit/fast", "passed")
    assert stands(rig) == ["defend#1"]
    rig.reads("one=1", "two=2", "nine=9")
    assert stands(rig) == ["defend:nine#1"]


def test_l15_a_guard_knows_whether_other_items_of_a_loop_are_unfinished(
    protocol: p.Protocol,
) -> None:
    early = p.Edge("implement:check", "passed", (T("failed"),), (p.Guard("plan", "unfinished"),))
    others_are_open = read_in_loop(protocol, early)
    others_are_open.check("unit/fast", "passed")
    assert [place.partition("#")[0] for place in stands(others_are_open)] == ["failed"]
    rig = Rig(altered(protocol, early)).start()
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "failed")
    rig.asked()
    rig.decide("waived", "it is fine")
    rig.reads("one=1")
    rig.exit("PHASE_IMPLEMENTED")
    rig.check("unit/fast", "passed")
    assert stands(rig) == ["defend:one#1"]


def test_l15_a_loop_whose_list_was_never_read_has_no_unfinished_items(
    protocol: p.Protocol,
) -> None:
    edge = p.Edge("specify:draft", "SPEC_DRAFTED", (T("failed"),), (p.Guard("plan", "unfinished"),))
    rig = Rig(altered(protocol, edge)).start()
    rig.exit("SPEC_DRAFTED")
    assert "failed#1" not in stands(rig)


def test_a_loop_may_be_entered_at_a_named_item(protocol: p.Protocol) -> None:
    edge = p.Edge("specify:draft", "SPEC_DRAFTED", (T("implement", "two"),))
    rig = Rig(altered(protocol, edge)).start()
    rig.exit("SPEC_DRAFTED")
    rig.reads("one=1", "two=2")
    assert stands(rig) == ["implement:two#1"]
    rig.exit("PHASE_IMPLEMENTED")
    rig.check("unit/fast", "passed")
    rig.exit("TESTS_WRITTEN")
    assert stands(rig) == ["implement:one#1"]


def test_a_plan_that_cannot_be_read_asks_a_person_who_can_have_it_read_again(at_gate: Rig) -> None:
    at_gate.decide("approved")
    at_gate.check("unit/fast", "passed")
    lost = f.EffectFailed(effect=at_gate.held("items"), why="no plan", hopeless=True)
    at_gate.tell(lost)
    assert stands(at_gate) == ["failed:implement#1"]
    at_gate.tell(f.EffectFailed(effect=at_gate.held("items"), why="no plan", hopeless=True))
    assert list(at_gate.state.decisions) == ["failed:implement#1"]
    assert [r.kind for r in at_gate.wanted()] == ["stale"]
    at_gate.decide("retry")
    at_gate.reads("one=1")
    assert stands(at_gate) == ["implement:one#1"]


def test_skipping_a_plan_that_cannot_be_read_finishes_no_item(at_gate: Rig) -> None:
    at_gate.decide("approved")
    at_gate.check("unit/fast", "passed")
    for _ in range(2):
        at_gate.tell(f.EffectFailed(effect=at_gate.held("items"), why="no plan", hopeless=True))
    record = at_gate.decide("skip", "there is none")
    assert record is not None
    assert not any(isinstance(move, m.Finished) for move in record.moves)
    assert stands(at_gate) == ["fork#1"]


@pytest.mark.parametrize(
    "actor,exit_",
    [
        (p.Git((), ""), "refused"),
        (p.Panel(("a",), "", "", 1), "undecided"),
        (p.Check((p.Command("x"),)), "unmeasured"),
        (p.Agent("builder"), "exhausted"),
    ],
)
def test_an_unreadable_list_gives_each_actor_its_own_word_for_could_not(
    protocol: p.Protocol, actor: p.Actor, exit_: str
) -> None:
    state = p.State("specify:draft", "specify", actor, loop="plan")
    edge = p.Edge("specify:draft", exit_, (T("failed"),))
    rig = Rig(altered(protocol, edge, **{"specify:draft": state})).start()
    record = rig.tell(f.EffectFailed(effect=rig.held("items"), why="gone", hopeless=True))
    assert entered(record) == ["failed#1"]
    payload = rig.state.memory[("", "")][f"specify:draft.{exit_}"]
    assert payload["reason"] == "gone"


# Budgets


@pytest.mark.req("P-115", "P-117")
def test_a_failing_check_goes_back_three_times_with_a_delay_and_then_to_a_person(
    at_loop: Rig,
) -> None:
    for number in (1, 2, 3):
        at_loop.exit("PHASE_IMPLEMENTED")
        at_loop.check("unit/fast", "failed")
        assert stands(at_loop) == [f"implement:one#{number + 1}"]
        timer = at_loop.request("timer", "delay")
        assert isinstance(timer, StartTimer)
        assert (timer.seconds, timer.since) == (5, at_loop.state.at)
        at_loop.fires()
        assert at_loop.state.spent == {"retries@one": number}
    at_loop.exit("PHASE_IMPLEMENTED")
    at_loop.check("unit/fast", "failed")
    assert stands(at_loop) == ["failed:implement:one#1"]
    assert at_loop.state.spent == {"retries@one": 3}


def exhaust(rig: Rig) -> None:
    for _ in range(3):
        rig.exit("PHASE_IMPLEMENTED")
        rig.check("unit/fast", "failed")
        rig.fires()
    rig.exit("PHASE_IMPLEMENTED")
    rig.check("unit/fast", "failed")
    rig.asked()


@pytest.mark.req("P-119")
def test_a_person_may_have_a_failed_phase_tried_again_with_all_its_retries(at_loop: Rig) -> None:
    exhaust(at_loop)
    at_loop.decide("retry")
    assert stands(at_loop) == ["implement:one#5"]
    assert at_loop.state.spent == {"retries@one": 0}


@pytest.mark.req("P-120")
def test_a_person_may_skip_a_failed_phase_with_a_reason(at_loop: Rig) -> None:
    exhaust(at_loop)
    at_loop.decide("skip")
    assert stands(at_loop) == ["failed:implement:one#1"]
    at_loop.decide("skip", "not needed")
    assert stands(at_loop) == ["implement:two#1"]
    known = at_loop.state.memory[("", "one")]["failed:implement.skip"]
    assert known == {"text": "not needed", "by": "ada"}


def test_each_item_has_retries_of_its_own(at_loop: Rig) -> None:
    exhaust(at_loop)
    at_loop.decide("skip", "not needed")
    at_loop.exit("PHASE_IMPLEMENTED")
    at_loop.check("unit/fast", "failed")
    assert at_loop.state.spent == {"retries@one": 3, "retries@two": 1}
