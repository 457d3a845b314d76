"""What people may ask of a run, and what it says when they may not."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import RunAgent
from porch.machine.evolve import evolve_state
from porch.machine.records import JournalRecord
from porch.machine.wishes import KINDS, find_refusal
from porch.model import protocol as p
from porch.testing import Rig

T = p.Target


def stands(rig: Rig) -> list[str]:
    return list(rig.state.positions)


def refused(record: JournalRecord | None) -> str:
    assert record is not None
    assert isinstance(record.fact, f.WishRefused)
    assert record.moves == ()
    return record.fact.reason


def is_notice(record: JournalRecord | None) -> bool:
    assert record is not None
    assert isinstance(record.fact, f.WishRefused)
    return record.fact.notice


def taken(record: JournalRecord | None) -> JournalRecord:
    assert record is not None
    assert isinstance(record.fact, f.WishTaken), record.fact
    return record


def decide(
    rig: Rig, exit_: str, digest: str = "", now: str = "", **more: str
) -> JournalRecord | None:
    name = f"w{rig.state.seq}"
    wish = f.Wish(
        id=name,
        kind="decide",
        position="specify:gate#1",
        exit=exit_,
        digest=digest,
        who="ada",
        **more,  # type: ignore[arg-type]
    )
    return rig.wish(wish, now)


# Decisions


@pytest.mark.req("P-193")
def test_an_approval_names_who_and_how_and_goes_on_at_once(at_gate: Rig) -> None:
    record = taken(decide(at_gate, "approved", channel="cli", text="good"))
    closed = m.Closed("specify:gate#1", "approved", "good", "ada", "cli")
    assert record.moves[0] == closed
    assert at_gate.state.gates["spec-approval"].by == "ada"
    assert stands(at_gate) == ["specify:again#1"]


def test_approving_what_was_shown_is_refused_once_it_has_changed(at_gate: Rig) -> None:
    assert "changed" in refused(decide(at_gate, "approved", digest="shown", now="now"))
    assert "changed" in refused(decide(at_gate, "approved", digest="shown", now=""))
    assert list(at_gate.state.decisions) == ["specify:gate#1"]
    taken(decide(at_gate, "approved", digest="shown", now="shown"))


def test_an_approval_without_a_digest_means_as_it_is_now(at_gate: Rig) -> None:
    taken(decide(at_gate, "approved", now="whatever"))


def test_only_the_answers_that_were_offered_count(at_gate: Rig) -> None:
    assert (
        refused(decide(at_gate, "perhaps")) == "'perhaps' is not a possible answer to spec-approval"
    )


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_rejection_needs_a_reason(at_gate: Rig, text: str) -> None:
    assert refused(decide(at_gate, "rejected", text=text)) == "'rejected' needs a reason"


def test_a_rejections_reason_is_shown_to_the_agent_and_the_gate_can_be_approved_later(
    at_gate: Rig,
) -> None:
    taken(decide(at_gate, "rejected", text="name the tables"))
    assert at_gate.state.gates["spec-approval"].status == "rejected"
    request = at_gate.request("agent")
    assert isinstance(request, RunAgent)
    assert [(s.label, s.payload) for s in request.shown] == [
        ("The architect said no", {"text": "name the tables", "by": "ada"})
    ]
    at_gate.exit("REVISED")
    at_gate.panel(gemini="APPROVE", codex="APPROVE", claude="APPROVE")
    at_gate.asked()
    taken(at_gate.decide("approved"))
    assert at_gate.state.gates["spec-approval"].status == "approved"


def test_approving_in_spite_of_a_failure_needs_an_override_with_a_reason(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "failed")
    rig.asked()
    assert refused(decide(rig, "approved")) == (
        "specify:check failed; to approve anyway, add --override with a reason"
    )
    assert refused(decide(rig, "waived")) == "'waived' needs a reason"
    taken(decide(rig, "waived", text="known flake"))
    assert stands(rig) == ["implement#1"]
    assert rig.state.gates["spec-approval"].status == "waived"
    assert rig.state.memory[("", "")]["specify:gate.waived"]["text"] == "known flake"


def test_once_the_check_passes_no_override_is_needed(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "failed")
    rig.asked()
    rig.ask("rollback", state="specify:check")
    rig.let_go()
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    rig.panel(gemini="APPROVE", codex="APPROVE", claude="APPROVE")
    rig.asked()
    taken(rig.decide("approved"))


def test_only_what_is_being_asked_can_be_decided(rig: Rig) -> None:
    assert refused(decide(rig, "approved")) == "specify:gate#1 is no longer waiting for an answer"


def test_a_second_approval_is_a_notice_and_a_late_rejection_is_not(at_gate: Rig) -> None:
    taken(decide(at_gate, "approved"))
    late = f.Wish(
        id="late",
        kind="decide",
        position="specify:gate#1",
        exit="approved",
        data={"name": "spec-approval"},
    )
    record = at_gate.wish(late)
    assert refused(record) == "spec-approval is already approved"
    assert is_notice(record)
    no = replace(late, id="no", exit="rejected", text="x")
    assert not is_notice(at_gate.wish(no))
    other = replace(late, id="other", data={"name": "merge-approval"})
    assert not is_notice(at_gate.wish(other))


def test_an_answered_wish_is_not_answered_twice(at_gate: Rig) -> None:
    wish = f.Wish(id="same", kind="decide", position="specify:gate#1", exit="approved")
    taken(at_gate.wish(wish))
    seq = at_gate.state.seq
    assert at_gate.wish(wish) is None
    assert at_gate.state.seq == seq


def test_a_decision_over_a_state_that_is_no_persons_any_more_has_no_answers(at_gate: Rig) -> None:
    """As after an upgrade that gave the state another actor."""
    states = {**at_gate.protocol.states}
    states["specify:gate"] = replace(states["specify:gate"], actor=p.Git((), ""))
    protocol = replace(at_gate.protocol, states=states)
    no = find_refusal(
        protocol,
        at_gate.state,
        f.Wish(id="w", kind="decide", position="specify:gate#1", exit="approved"),
    )
    assert no is not None
    assert no.reason == "'approved' is not a possible answer to spec-approval"


# Done


def done(rig: Rig, position: str, exit_: str, text: str = "") -> JournalRecord | None:
    return rig.wish(
        f.Wish(id=f"w{rig.state.seq}", kind="done", position=position, exit=exit_, text=text)
    )


@pytest.mark.req("P-096")
def test_done_says_a_signal_in_place_of_the_agent(rig: Rig) -> None:
    taken(done(rig, "specify:draft#1", "SPEC_DRAFTED"))
    assert stands(rig) == ["specify:check#1"]
    assert rig.unwanted() == ["specify:draft#1/agent/builder/0"]


def test_done_keeps_the_reason_that_was_given(rig: Rig) -> None:
    assert refused(done(rig, "specify:draft#1", "BLOCKED")) == "'BLOCKED' needs a reason"
    taken(done(rig, "specify:draft#1", "BLOCKED", "which one?"))
    assert rig.state.memory[("", "")]["specify:draft.BLOCKED"] == {"reason": "which one?"}


def test_done_is_refused_while_the_run_is_stopped(rig: Rig) -> None:
    rig.ask("stop")
    reason = refused(done(rig, "specify:draft#1", "SPEC_DRAFTED"))
    assert reason == "the run was stopped by a person; continue with `porch resume`"


def test_done_is_refused_when_the_run_has_moved_from_where_it_was_expected(rig: Rig) -> None:
    taken(done(rig, "specify:draft#1", "SPEC_DRAFTED"))
    reason = refused(done(rig, "specify:draft#1", "SPEC_DRAFTED"))
    assert reason == "the run is no longer at specify:draft#1"


@pytest.mark.req("P-004")
def test_done_is_refused_where_no_agent_works_and_for_foreign_signals(at_gate: Rig) -> None:
    reason = refused(done(at_gate, "specify:gate#1", "approved"))
    assert reason == "specify:gate#1 is not an agent's work"
    at_gate.ask("rollback", state="specify:draft")
    reason = refused(done(at_gate, "specify:draft#2", "TESTS_WRITTEN"))
    assert reason == "'TESTS_WRITTEN' is not a signal of specify:draft"


@pytest.mark.req("P-004")
def test_done_cannot_skip_an_item_by_coming_before_its_list_is_read(at_gate: Rig) -> None:
    at_gate.decide("approved")
    at_gate.check("unit/fast", "passed")
    assert stands(at_gate) == ["implement#1"]
    reason = refused(done(at_gate, "implement#1", "PHASE_IMPLEMENTED"))
    assert reason == "the work at implement#1 has not started"


def test_done_cannot_skip_what_a_join_waits_for(protocol: p.Protocol) -> None:
    join = replace(protocol.states["left"], waits_for=("right.done",))
    rig = Rig(replace(protocol, states={**protocol.states, "left": join}, initial=T("left")))
    rig.start()
    assert refused(done(rig, "left#1", "done")) == "the work at left#1 has not started"


# Stop and resume


def test_stopping_stops_what_is_in_hand_and_resuming_gives_it_a_new_number(rig: Rig) -> None:
    taken(rig.ask("stop"))
    assert rig.unwanted() == ["specify:draft#1/agent/builder/0"]
    rig.let_go()
    assert rig.state.in_hand == {}
    taken(rig.ask("resume"))
    assert list(rig.state.in_hand) == ["specify:draft#1/agent/builder/1"]


def test_stopping_keeps_open_decisions_which_can_still_be_taken(at_gate: Rig) -> None:
    taken(at_gate.ask("stop"))
    at_gate.let_go()
    assert list(at_gate.state.decisions) == ["specify:gate#1"]
    taken(at_gate.decide("approved"))
    assert at_gate.state.in_hand == {}
    taken(at_gate.ask("resume"))
    assert [r.position for r in at_gate.wanted()] == ["specify:again#1"]


def test_what_an_agent_said_while_it_was_being_stopped_is_not_lost(rig: Rig) -> None:
    effect = rig.held("agent")
    rig.ask("stop")
    rig.tell(f.ExitAccepted(effect=effect, exit="SPEC_DRAFTED"))
    assert stands(rig) == ["specify:check#1"]
    assert rig.state.in_hand == {}


def test_stopping_twice_and_resuming_what_runs_are_notices(rig: Rig) -> None:
    assert is_notice(rig.ask("resume"))
    rig.ask("stop")
    record = rig.ask("stop")
    assert (refused(record), is_notice(record)) == ("the run is already stopped", True)


# Replan


def items(*texts: str) -> list[dict[str, str]]:
    parts = [text.partition("=") for text in texts]
    return [
        {"id": key, "title": key, "description": "", "digest": f"sum of {text}"}
        for key, _, text in parts
    ]


def replan(rig: Rig, *texts: str) -> JournalRecord | None:
    return rig.ask("replan", loop="plan", items=items(*texts), digest="new")


def test_a_plan_that_was_never_read_cannot_be_read_again(rig: Rig) -> None:
    assert refused(replan(rig, "one=1")) == "this run has read no plan yet"
    assert refused(rig.ask("replan")) == "this run has read no plan yet"


def finish_one(rig: Rig) -> None:
    rig.exit("PHASE_IMPLEMENTED")
    rig.check("unit/fast", "passed")
    rig.exit("TESTS_WRITTEN")


def test_a_new_plan_keeps_what_is_finished_and_the_work_in_progress(at_loop: Rig) -> None:
    finish_one(at_loop)
    taken(replan(at_loop, "one=1", "two=other", "four=4"))
    assert stands(at_loop) == ["implement:two#1"]
    known = at_loop.state.items[("", "plan")]
    assert [item.id for item in known.items] == ["one", "two", "four"]
    assert (known.finished, known.digest) == (("one",), "new")
    finish_one(at_loop)
    assert stands(at_loop) == ["implement:four#1"]


def test_a_finished_item_whose_text_changed_is_done_again(at_loop: Rig) -> None:
    finish_one(at_loop)
    taken(replan(at_loop, "one=changed", "two=2"))
    finish_one(at_loop)
    assert stands(at_loop) == ["implement:one#2"]


def test_work_on_a_vanished_item_moves_on_to_what_is_left(at_loop: Rig) -> None:
    taken(replan(at_loop, "two=2", "three=3"))
    assert stands(at_loop) == ["implement#2"]
    assert at_loop.unwanted() == ["implement:one#1/agent/builder/0"]
    at_loop.let_go()
    at_loop.reads("two=2", "three=3")
    assert stands(at_loop) == ["implement:two#1"]


def test_when_nothing_is_left_of_a_plan_the_run_goes_on_behind_it(at_loop: Rig) -> None:
    finish_one(at_loop)
    taken(replan(at_loop, "one=1"))
    assert stands(at_loop) == ["fork#1"]


def test_two_branches_on_a_vanished_item_become_one_way_on(at_loop: Rig) -> None:
    more = m.Entered("defend:one#1", "defend", 1, "one")
    child = m.Entered("c/defend:one#1", "defend", 1, "one", "c")
    fact = f.StatusEdited(aside="x")
    at_loop.state = evolve_state(at_loop.state, JournalRecord(99, "t", fact, (more, child)))
    record = taken(replan(at_loop, "two=2"))
    assert [move.position for move in record.moves if isinstance(move, m.Entered)] == [
        "implement#2"
    ]
    assert stands(at_loop) == ["c/defend:one#1", "implement#2"]


def test_a_plan_may_arrive_as_items_too(at_loop: Rig) -> None:
    item = f.Item(id="one", title="One", description="", digest="sum of 1")
    taken(at_loop.ask("replan", loop="plan", items=(item,), digest="new"))
    assert at_loop.state.items[("", "plan")].items == (item,)


# The rest


def test_another_definition_is_pinned_by_its_digest_also_after_the_end(rig: Rig) -> None:
    taken(rig.ask("upgrade", digest="d2"))
    assert rig.state.run.digest == "d2"
    rig.state = replace(rig.state, outcome="complete")
    taken(rig.ask("upgrade", digest="d3"))
    assert rig.state.run.digest == "d3"


def test_a_wish_of_an_unknown_kind_is_refused(rig: Rig) -> None:
    assert refused(rig.ask("dance")) == "unknown request 'dance'"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "upgrade"])
def test_a_run_that_is_over_refuses_every_wish_with_a_notice(rig: Rig, kind: str) -> None:
    rig.state = replace(rig.state, outcome="complete")
    record = rig.ask(kind, "specify:draft#1", state="specify:draft")
    assert refused(record) == "the run is already complete"
    assert is_notice(record)
