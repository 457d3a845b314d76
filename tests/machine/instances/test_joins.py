"""Ways that part and meet again, guards, and how runs end."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
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


# Joins and ends


@pytest.mark.req("F-029")
def test_a_gate_is_withheld_until_all_it_requires_is_there_and_asked_once(at_fork: Rig) -> None:
    at_fork.exit("done")
    assert stands(at_fork) == ["right#1", "merge#1"]
    assert [r.position for r in at_fork.wanted()] == ["right#1"]
    at_fork.exit("done")
    assert stands(at_fork) == ["merge#1"]
    at_fork.asked()
    assert list(at_fork.state.decisions) == ["merge#1"]


def test_a_join_is_entered_once_when_one_exit_leads_there_twice(protocol: p.Protocol) -> None:
    edge = p.Edge("specify:draft", "SPEC_DRAFTED", (T("left"), T("merge"), T("merge")))
    rig = Rig(altered(protocol, edge)).start()
    rig.exit("SPEC_DRAFTED")
    assert stands(rig) == ["left#1", "merge#1"]


def test_a_join_that_has_begun_is_entered_anew(at_fork: Rig) -> None:
    at_fork.exit("done")
    at_fork.exit("done")
    at_fork.asked()
    moves = (m.Entered("left#2", "left", 2),)
    hand = InHand("left#2/agent/builder/0", "left#2", "agent", "builder")
    fact = f.WishTaken(wish=f.Wish(id="w", kind="stop"))
    at_fork.state = evolve_state(at_fork.state, JournalRecord(99, "t", fact, moves, (hand,)))
    at_fork.tell(f.ExitAccepted(effect=hand.effect, exit="done"))
    assert stands(at_fork) == ["merge#1", "merge#2"]


def test_a_join_at_a_named_item_is_joined_without_asking_for_the_item_twice(
    protocol: p.Protocol,
) -> None:
    join = p.State("merge", "merge", p.Agent("x"), loop="plan", waits_for=("left.done",))
    twice = (T("merge", "two"), T("merge", "two"), T("left"))
    edge = p.Edge("specify:draft", "SPEC_DRAFTED", twice)
    rig = Rig(altered(protocol, edge, merge=join)).start()
    record = rig.exit("SPEC_DRAFTED")
    assert entered(record) == ["merge#1", "left#1"]
    assert m.Marked("merge#1", "item", "two") in record.moves


def test_going_back_through_a_join_forgets_what_it_waited_for(at_fork: Rig) -> None:
    at_fork.exit("done")
    at_fork.exit("done")
    at_fork.asked()
    at_fork.decide("rejected", "both again")
    assert stands(at_fork) == ["left#2", "right#2"]
    at_fork.exit("done")
    assert "merge#2" in stands(at_fork)
    assert [r.position for r in at_fork.wanted()] == ["right#2"]


def test_nobody_arrives_beside_an_end_and_nobody_stays(protocol: p.Protocol) -> None:
    way = p.Edge("left", "done", (T("merge"), T("complete"), T("implement", "two")))
    fork = p.Edge("specify:draft", "SPEC_DRAFTED", (T("left"), T("right")))
    rig = Rig(altered(protocol, way, fork)).start()
    rig.exit("SPEC_DRAFTED")
    rig.exit("done")
    assert rig.state.outcome == "complete"
    assert stands(rig) == []


def instances(protocol: p.Protocol, *names: str) -> Rig:
    rig = Rig(protocol)
    moves: list[m.Move] = [m.Began("r", "1", "t", "house", "d")]
    hands = []
    for name in names:
        place = f"{name}/commit#1" if name else "commit#1"
        moves.append(m.Entered(place, "commit", 1, "", name))
        hands.append(InHand(f"{place}/commit/commit/0", place, "commit", "commit"))
    fact = f.RunStarted(run="r", id="1", title="t", protocol="house", digest="d")
    rig.state = evolve_state(rig.state, JournalRecord(1, "t", fact, tuple(moves), tuple(hands)))
    return rig


def test_the_end_of_an_instance_leaves_the_others_and_the_run_standing(
    protocol: p.Protocol,
) -> None:
    rig = instances(protocol, "", "a", "ab")
    rig.tell(f.CommitEnded(effect="a/commit#1/commit/commit/0", commit="c"))
    assert stands(rig) == ["commit#1", "ab/commit#1"]
    assert rig.state.outcome == ""


def test_the_end_of_the_run_is_the_end_of_its_instances(protocol: p.Protocol) -> None:
    rig = instances(protocol, "", "a", "ab")
    rig.tell(f.CommitEnded(effect="commit#1/commit/commit/0", commit="c"))
    assert stands(rig) == []
    assert rig.state.outcome == "complete"
    late = rig.tell(f.CommitEnded(effect="a/commit#1/commit/commit/0", commit="c"))
    assert late.moves == (m.Settled("a/commit#1/commit/commit/0"),)


def test_an_instance_spends_a_budget_of_its_own(protocol: p.Protocol) -> None:
    edge = p.Edge("commit", "clean", (T("commit"),), charges="rounds", spent=(T("failed"),))
    rig = instances(altered(protocol, edge), "a")
    rig.tell(f.CommitEnded(effect="a/commit#1/commit/commit/0", commit="c"))
    assert rig.state.spent == {"a/rounds": 1}
    assert stands(rig) == ["a/commit#2"]


# Guards


@pytest.mark.parametrize(
    "guard,holds",
    [
        (p.Guard("specify:draft.SPEC_DRAFTED", "present"), True),
        (p.Guard("specify:check.failed", "present"), True),
        (p.Guard("specify:check.passed", "present"), False),
        (p.Guard("specify:check.passed", "absent"), True),
        (p.Guard("specify:check.failed", "absent"), False),
        (p.Guard("specify:check.failed", "has", "unit/fast"), True),
        (p.Guard("specify:check.failed", "has", "lint"), False),
        (p.Guard("specify:check.passed", "has", "unit/fast"), False),
    ],
)
def test_the_first_edge_whose_guards_all_hold_is_taken(
    protocol: p.Protocol, guard: p.Guard, holds: bool
) -> None:
    edge = p.Edge("specify:check", "failed", (T("complete"),), guards=(guard,))
    rig = Rig(altered(protocol, edge)).start()
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "failed")
    assert bool(rig.state.outcome) is holds


def test_an_edge_may_forget_what_it_has_just_remembered(protocol: p.Protocol) -> None:
    path = "specify:draft.SPEC_DRAFTED"
    edge = p.Edge("specify:draft", "SPEC_DRAFTED", (T("specify:check"),), forgets=(path, "x.y"))
    rig = Rig(altered(protocol, edge)).start()
    record = rig.exit("SPEC_DRAFTED")
    assert m.Forgot(path) in record.moves
    assert rig.state.memory == {("", ""): {}}


def test_an_exit_without_an_edge_moves_nothing(protocol: p.Protocol) -> None:
    state = replace(protocol.states["commit"], name="lonely")
    rig = Rig(replace(altered(protocol, lonely=state), initial=T("lonely"))).start()
    record = rig.commits()
    assert len(record.moves) == 1
    assert stands(rig) == ["lonely#1"]
