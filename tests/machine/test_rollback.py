"""Going back: what is void then, and what stands."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.records import JournalRecord
from porch.machine.state import GateStatus
from porch.model import protocol as p
from porch.testing import Rig

T = p.Target


def stands(rig: Rig) -> list[str]:
    return list(rig.state.positions)


def back(rig: Rig, state: str, item: str = "") -> JournalRecord:
    record = rig.ask("rollback", state=state, item=item)
    assert record is not None
    assert isinstance(record.fact, f.WishTaken), record.fact
    return record


def refused(rig: Rig, state: str, item: str = "") -> str:
    record = rig.ask("rollback", state=state, item=item)
    assert record is not None
    assert isinstance(record.fact, f.WishRefused)
    assert record.moves == ()
    return record.fact.reason


def remembered(rig: Rig, item: str = "") -> list[str]:
    return sorted(rig.state.memory.get(("", item), {}))


def finished(rig: Rig, loop: str) -> list[str]:
    return list(rig.state.items[("", loop)].finished)


def finish(rig: Rig) -> None:
    rig.exit("PHASE_IMPLEMENTED")
    rig.check("unit/fast", "passed", "t2")
    rig.exit("TESTS_WRITTEN")


def test_evidence_reviews_and_approvals_at_and_after_the_target_are_void(at_loop: Rig) -> None:
    finish(at_loop)
    back(at_loop, "specify:consult")
    assert stands(at_loop) == ["specify:consult#2"]
    # The gate's own check measured the same evidence again, and it lies behind the target.
    assert remembered(at_loop) == [
        "evidence.specify:lint",
        "specify:check.passed",
        "specify:draft.SPEC_DRAFTED",
    ]
    assert remembered(at_loop, "one") == []
    assert at_loop.state.gates == {"spec-approval": GateStatus("waiting")}
    assert at_loop.state.items[("", "plan")].finished == ()


def test_what_lies_before_the_target_stands(at_loop: Rig) -> None:
    finish(at_loop)
    back(at_loop, "implement")
    assert at_loop.state.gates["spec-approval"].status == "approved"
    assert "specify:gate.approved" in remembered(at_loop)
    assert "evidence.specify:unit/fast" in remembered(at_loop)
    assert stands(at_loop) == ["implement#2"]


def test_nothing_old_is_reused_for_the_new_pass(at_loop: Rig) -> None:
    old = {hand.effect for record in at_loop.records for hand in record.begun}
    back(at_loop, "specify:draft")
    at_loop.let_go()
    at_loop.exit("SPEC_DRAFTED")
    at_loop.check("lint", "passed")
    at_loop.check("unit/fast", "passed")
    at_loop.panel(gemini="APPROVE", codex="APPROVE", claude="APPROVE")
    at_loop.asked()
    assert list(at_loop.state.decisions) == ["specify:gate#2"]
    new = [hand.effect for record in at_loop.records[-9:] for hand in record.begun]
    assert new
    assert not old.intersection(new)


def test_what_was_in_hand_is_no_longer_wanted_and_its_late_answer_moves_nothing(
    at_loop: Rig,
) -> None:
    effect = at_loop.held("agent")
    back(at_loop, "specify:draft")
    assert effect in at_loop.unwanted()
    at_loop.tell(f.ExitAccepted(effect=effect, exit="PHASE_IMPLEMENTED"))
    assert stands(at_loop) == ["specify:draft#2"]


def test_an_open_decision_goes_with_its_position(at_gate: Rig) -> None:
    back(at_gate, "specify:draft")
    assert at_gate.state.decisions == {}
    assert at_gate.state.gates == {"spec-approval": GateStatus("waiting")}


def test_budgets_are_full_again(at_loop: Rig) -> None:
    at_loop.exit("PHASE_IMPLEMENTED")
    at_loop.check("unit/fast", "failed")
    assert at_loop.state.spent["retries@one"] == 1
    record = back(at_loop, "implement", "one")
    assert m.Charged("retries@one", 0) in record.moves
    assert set(at_loop.state.spent.values()) == {0}


def test_going_back_to_an_item_keeps_the_items_before_it(at_loop: Rig) -> None:
    finish(at_loop)
    finish(at_loop)
    at_loop.exit("PHASE_IMPLEMENTED")
    back(at_loop, "implement", "two")
    assert stands(at_loop) == ["implement:two#2"]
    assert at_loop.state.items[("", "plan")].finished == ("one",)
    assert remembered(at_loop, "one") == [
        "defend.TESTS_WRITTEN",
        "evidence.implement:unit/fast",
        "implement.PHASE_IMPLEMENTED",
        "implement:check.passed",
    ]
    assert remembered(at_loop, "two") == []
    assert remembered(at_loop, "three") == []


def test_going_back_into_an_item_keeps_its_own_earlier_work_and_nothing_of_later_items(
    at_loop: Rig,
) -> None:
    finish(at_loop)
    finish(at_loop)
    at_loop.exit("PHASE_IMPLEMENTED")
    back(at_loop, "defend", "two")
    assert stands(at_loop) == ["defend:two#2"]
    assert remembered(at_loop, "two") == [
        "evidence.implement:unit/fast",
        "implement.PHASE_IMPLEMENTED",
        "implement:check.passed",
    ]
    assert remembered(at_loop, "three") == []


def test_going_back_into_a_loop_without_an_item_begins_with_its_first(at_loop: Rig) -> None:
    finish(at_loop)
    back(at_loop, "implement")
    at_loop.let_go()
    assert at_loop.state.items[("", "plan")].finished == ()
    at_loop.reads("one=1", "two=2", "three=3")
    assert stands(at_loop) == ["implement:one#2"]


def test_from_behind_a_loop_any_of_its_items_lies_back(at_fork: Rig) -> None:
    back(at_fork, "implement", "three")
    assert stands(at_fork) == ["implement:three#2"]
    assert at_fork.state.items[("", "plan")].finished == ("one", "two")


def test_two_loops_over_the_same_items_are_told_apart(protocol: p.Protocol) -> None:
    second = p.State("left", "merge", p.Agent("x", exits=(p.Exit("done"),)), loop="other")
    loops = {
        "plan": p.Loop("plan", "plan.md", "implement", T("left")),
        "other": p.Loop("other", "plan.md", "left", T("complete")),
    }
    way = p.Edge("left", "done", (T(next_of="other"),))
    states = {**protocol.states, "left": second}
    edges = (way, *(edge for edge in protocol.edges if edge.state != "left"))
    rig = Rig(replace(protocol, states=states, edges=edges, loops=loops, initial=T("implement")))
    rig.start()
    rig.reads("one=1", "two=2")
    finish(rig)
    finish(rig)
    rig.reads("one=1", "two=2")
    rig.exit("done")
    assert finished(rig, "other") == ["one"]
    back(rig, "defend", "two")
    assert finished(rig, "plan") == ["one"]
    assert finished(rig, "other") == []
    assert "left.done" not in remembered(rig, "one")
    assert "defend.TESTS_WRITTEN" in remembered(rig, "one")


# Refusals


@pytest.mark.parametrize("state", ["nowhere", "", "complete"])
def test_only_a_state_of_the_protocol_can_be_gone_back_to(at_gate: Rig, state: str) -> None:
    reason = refused(at_gate, state)
    assert reason == f"'{state}' is not a phase or state of house that a run can go back to"


def test_a_rollback_goes_backwards_only(at_gate: Rig) -> None:
    assert (
        refused(at_gate, "implement")
        == "'implement' has not been reached yet; a rollback can only go back"
    )
    back(at_gate, "specify:gate")
    assert stands(at_gate) == ["specify:gate#2"]


def test_an_item_that_the_list_does_not_have_is_refused(at_loop: Rig) -> None:
    assert "'nine' is not a plan phase of implement" in refused(at_loop, "implement", "nine")
    assert "'one' is not a plan phase of specify:draft" in refused(at_loop, "specify:draft", "one")


def test_backwards_counts_items_before_states(at_loop: Rig) -> None:
    finish(at_loop)
    assert "not been reached yet" in refused(at_loop, "implement", "three")
    assert "not been reached yet" in refused(at_loop, "defend", "two")
    back(at_loop, "defend", "one")
    assert stands(at_loop) == ["defend:one#2"]


def test_going_back_into_one_of_two_branches_would_strand_the_join(at_fork: Rig) -> None:
    at_fork.exit("done")
    at_fork.exit("done")
    at_fork.asked()
    reason = refused(at_fork, "left")
    assert reason == "merge would then wait forever for right.done; go back further"
    back(at_fork, "fork")
    assert stands(at_fork) == ["fork#2"]


def test_a_branch_can_be_redone_while_what_the_other_gave_stands(at_fork: Rig) -> None:
    at_fork.exit("done")
    at_fork.exit("done")
    back(at_fork, "right")
    at_fork.let_go()
    assert stands(at_fork) == ["right#2"]
    at_fork.exit("done")
    assert stands(at_fork) == ["merge#2"]
    at_fork.asked()


def test_what_an_instance_has_done_does_not_stand_for_the_run(at_fork: Rig) -> None:
    at_fork.exit("done")
    at_fork.record(f.StatusEdited(aside="x"), (m.Remembered("right.done", {}, "", "child"),))
    assert "wait forever for right.done" in refused(at_fork, "left")


def test_a_join_that_waits_can_be_gone_back_to_only_when_it_would_begin(at_fork: Rig) -> None:
    at_fork.exit("done")
    assert "merge#1" in stands(at_fork)
    assert "wait forever for right.done" in refused(at_fork, "merge")
    at_fork.exit("done")
    back(at_fork, "merge")
    assert stands(at_fork) == ["merge#2"]
    assert [r.kind for r in at_fork.wanted() if r.position == "merge#2"] == ["ask"]


def test_a_run_that_stands_nowhere_can_be_helped_by_going_back(rig: Rig) -> None:
    rig.state = replace(rig.state, positions={})
    back(rig, "specify:draft")
    assert stands(rig) == ["specify:draft#2"]


def test_memory_of_a_state_that_no_longer_exists_is_let_be(at_gate: Rig) -> None:
    """As after an upgrade that dropped it."""
    nothing: dict[str, object] = {}
    memory = {("", ""): {"dropped.done": nothing, "evidence.dropped:x": nothing}}
    at_gate.state = replace(at_gate.state, memory=memory)
    back(at_gate, "specify:draft")
    assert remembered(at_gate) == ["dropped.done", "evidence.dropped:x"]
