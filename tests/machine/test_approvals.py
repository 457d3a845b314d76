"""Which approvals stand, for which bytes, and what is asked when they do not any more."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.approvals import FOUND, add_engine_states, asked_human
from porch.machine.evolve import fold_records
from porch.machine.records import JournalRecord
from porch.machine.state import Approval, RunState, Standing
from porch.machine.upgraded_gates import gates_to_ask
from porch.model import protocol as p
from porch.testing import Rig

ARTIFACTS = {"spec.md": "1"}
GATE = "spec-approval"
QUESTION = f.GateQuestion(
    digest="now", artifacts={"spec.md": "2"}, reason="changed", difference={"spec.md": "+x"},
    is_changed=True,
)  # fmt: skip
OUTDATED = f.ApprovalOutdated(gate=GATE, question=QUESTION)
AGAIN = f"changed:{GATE}#1"


def closed(*moves: m.Move) -> RunState:
    """A gate that was asked about one file, and then these moves."""
    entered = m.Entered("g#1", "g", 1)
    asked = m.Asked("g#1", "gate", "ok", "digest", ARTIFACTS)
    return fold_records(
        RunState(), [JournalRecord(1, "t1", f.TimerFired(effect="e"), (entered, asked, *moves))]
    )


def test_an_approval_is_for_the_hashes_that_its_record_carries() -> None:
    told = m.Closed("g#1", "approved", who="ada", digest="digest", artifacts={"spec.md": "2"})
    assert closed(told).approvals == {"ok": Approval("g#1", {"spec.md": "2"}, "approved", "ada")}


@pytest.mark.parametrize("digest,kept", [("digest", ARTIFACTS), ("other", {}), ("", {})])
def test_an_older_record_counts_where_it_was_for_what_was_asked(
    digest: str, kept: dict[str, str]
) -> None:
    state = closed(m.Closed("g#1", "waived", who="ada", digest=digest))
    assert state.approvals == {"ok": Approval("g#1", kept, "waived", "ada")}


@pytest.mark.parametrize("exit_", ["rejected", ""])
def test_only_a_gate_that_was_passed_is_an_approval(exit_: str) -> None:
    assert closed(m.Closed("g#1", exit_, digest="digest")).approvals == {}


@pytest.mark.parametrize("status,stands", [("waiting", False), ("approved", True)])
def test_a_gate_that_waits_again_has_no_approval(status: str, stands: bool) -> None:
    state = closed(m.Closed("g#1", "approved", digest="digest"), m.GateNoted("ok", status))
    assert ("ok" in state.approvals) is stands


@pytest.fixture
def approved(protocol: p.Protocol) -> Rig:
    """The gate of the specification was approved for one file; checks run behind it."""
    rig = Rig(add_engine_states(protocol)).start()
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed", "t1")
    rig.check("unit/fast", "passed", "t1")
    rig.panel(gemini="APPROVE", codex="APPROVE", claude="APPROVE")
    rig.tell(f.DecisionAsked(effect=rig.held("ask"), digest="then", artifacts=ARTIFACTS))
    answer(rig, "approved", "specify:gate#1", artifacts=ARTIFACTS)
    rig.let_go()
    return rig


def answer(rig: Rig, exit_: str, place: str, **more: object) -> None:
    wish = f.Wish(
        id=f"w{rig.state.seq}", kind="decide", position=place, exit=exit_, text="why", who="ada"
    )
    rig.tell(f.WishTaken(wish=wish, **more))  # type: ignore[arg-type]


def stands(rig: Rig) -> list[str]:
    return list(rig.state.positions)


def test_the_question_stands_beside_the_work_and_is_the_gate(approved: Rig) -> None:
    before = stands(approved)
    approved.tell(OUTDATED)
    assert stands(approved) == [*before, AGAIN]
    decision = approved.state.decisions[AGAIN]
    assert (decision.kind, decision.name, decision.digest) == ("gate", GATE, "now")
    assert approved.state.gates[GATE].status == "pending"
    told = approved.state.memory[("", GATE)][FOUND]
    assert told["difference"] == {"spec.md": "+x"}


def test_what_changed_again_is_asked_anew(approved: Rig) -> None:
    approved.tell(OUTDATED)
    approved.tell(OUTDATED)
    assert stands(approved)[-1] == f"changed:{GATE}#2"
    assert AGAIN not in stands(approved)


def test_a_gate_that_nobody_approved_cannot_be_outdated(approved: Rig) -> None:
    before = stands(approved)
    approved.tell(f.ApprovalOutdated(gate="merge-approval", question=QUESTION))
    approved.tell(f.ApprovalRestored(gate=GATE))
    assert stands(approved) == before


def test_approved_again_the_new_bytes_count(approved: Rig) -> None:
    approved.tell(OUTDATED)
    answer(approved, "approved", AGAIN, artifacts={"spec.md": "2"})
    assert AGAIN not in stands(approved)
    assert approved.state.approvals[GATE].artifacts == {"spec.md": "2"}
    assert FOUND not in approved.state.memory[("", GATE)]


def test_put_back_nothing_is_asked_and_the_old_word_stands(approved: Rig) -> None:
    approved.tell(OUTDATED)
    approved.tell(f.ApprovalRestored(gate=GATE))
    assert AGAIN not in stands(approved)
    gate = approved.state.gates[GATE]
    assert (gate.status, gate.by) == ("approved", "ada")
    assert approved.state.approvals[GATE].artifacts == ARTIFACTS


def test_rejected_the_run_goes_back_to_where_the_gate_sends_it(approved: Rig) -> None:
    approved.tell(OUTDATED)
    answer(approved, "rejected", AGAIN)
    assert stands(approved) == ["specify:revise#1"]
    assert GATE not in approved.state.approvals
    assert approved.state.gates[GATE].status == "waiting"
    assert approved.state.memory[("", "")]["specify:gate.rejected"]["text"] == "why"


def test_a_question_about_a_gate_that_is_gone_can_only_be_answered(approved: Rig) -> None:
    """Another definition took the gate away while its question was open."""
    approved.tell(OUTDATED)
    states = {k: v for k, v in approved.protocol.states.items() if k != "specify:gate"}
    approved.protocol = replace(approved.protocol, states=states)
    human = approved.protocol.states["changed"].actor
    assert isinstance(human, p.Human)
    asked = asked_human(approved.protocol, approved.state.positions[AGAIN], human)
    assert (asked.name, asked.artifacts) == (GATE, ())
    answer(approved, "rejected", AGAIN)
    assert AGAIN not in stands(approved)


def test_a_plan_that_is_approved_anew_has_its_new_list(approved: Rig) -> None:
    approved.check("unit/fast", "passed", "t1")
    approved.reads("one=1", "two=2")
    approved.tell(OUTDATED)
    items = (f.Item(id="one", title="One", description="", digest="sum of 1"),)
    answer(approved, "approved", AGAIN, artifacts={"spec.md": "2"}, loop="plan", items=items)
    assert approved.state.items[("", "plan")].items == items


def test_whoever_works_in_front_of_a_gate_again_opens_it(approved: Rig) -> None:
    approved.tell(OUTDATED)
    approved.tell(f.CheckEnded(effect=approved.held("check"), result="failed"))
    assert stands(approved) == ["specify:draft#2"]
    assert approved.state.gates[GATE].status == "waiting"
    assert approved.state.approvals == {}


def test_work_behind_a_gate_leaves_it_alone(approved: Rig) -> None:
    approved.check("unit/fast", "passed", "t1")
    approved.reads("one=1")
    assert approved.state.gates[GATE].status == "approved"
    approved.ask("rollback", state="specify:draft")
    assert [x for x in approved.records[-1].moves if isinstance(x, m.GateNoted)] == [
        m.GateNoted(GATE, "waiting")
    ]


def test_a_protocol_that_has_the_name_itself_is_not_asked_in_its_place(
    protocol: p.Protocol,
) -> None:
    own = p.State("changed", "changed", p.Agent("builder"))
    taken = replace(protocol, states={**protocol.states, "changed": own})
    rig = Rig(add_engine_states(taken)).start()
    assert rig.protocol.states["changed"] is own
    state = replace(rig.state, approvals={GATE: Approval("specify:gate#1", ARTIFACTS)})
    rig.state = state
    rig.tell(OUTDATED)
    assert stands(rig) == ["specify:draft#1"]


def gate(protocol: p.Protocol, **more: object) -> p.Protocol:
    kind = protocol.states["specify:gate"]
    changed = replace(kind, actor=replace(kind.actor, **more))
    return replace(protocol, states={**protocol.states, "specify:gate": changed})


def test_an_upgrade_asks_about_what_is_different(approved: Rig) -> None:
    old, state = approved.protocol, approved.state
    assert gates_to_ask(old, old, state) == {}
    assert gates_to_ask(old, gate(old, stale_after_s=9, title="other"), state) == {}
    asked = gates_to_ask(old, gate(old, description="Really?"), state)
    assert "question: none -> Really?" in asked[GATE]
    assert "files: spec.md -> none" in gates_to_ask(old, gate(old, artifacts=()), state)[GATE]


def test_an_upgrade_asks_about_new_gates_only_where_the_run_has_passed_them(approved: Rig) -> None:
    new, state = approved.protocol, approved.state
    old = gate(new, name="another")
    assert [each.state for each in state.positions.values()] == ["specify:again"]
    assert list(gates_to_ask(old, new, state)) == [GATE], "it is measured again after the gate"
    within = Standing("specify:draft#2", "", "specify:draft", "", 2, "t")
    inside = replace(state, positions={within.position: within})
    assert gates_to_ask(old, new, inside) == {}, "inside the phase it still comes to it"
    later = Standing("implement:one#1", "", "implement", "one", 1, "t")
    behind = replace(state, positions={later.position: later})
    assert list(gates_to_ask(old, new, behind)) == [GATE]
    assert gates_to_ask(old, new, replace(state, positions={})) == {}
