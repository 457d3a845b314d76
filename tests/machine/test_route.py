"""What each fact moves, and what moves nothing."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import RunAgent, RunCheck
from porch.machine.evolve import evolve_state
from porch.machine.records import JournalRecord
from porch.machine.route import route_fact
from porch.machine.state import InHand, RunState
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


# Signals


@pytest.mark.req("P-096")
def test_a_signal_moves_the_run_along_its_edge(rig: Rig) -> None:
    record = rig.exit("SPEC_DRAFTED", summary="short")
    assert stands(rig) == ["specify:check#1"]
    assert m.Remembered("specify:draft.SPEC_DRAFTED", {"summary": "short"}) in record.moves
    assert rig.state.positions["specify:check#1"].because == "specify:draft.SPEC_DRAFTED"


@pytest.mark.req("P-004")
@pytest.mark.parametrize("signal", ["PHASE_IMPLEMENTED", "REVISED", "approved", "passed"])
def test_the_signal_of_another_phase_does_not_move_the_run(rig: Rig, signal: str) -> None:
    record = rig.exit(signal)
    assert stands(rig) == ["specify:draft#1"]
    assert entered(record) == []
    assert rig.state.memory == {}


@pytest.mark.req("P-004")
def test_an_agent_that_only_gives_foreign_signals_comes_to_a_person(rig: Rig) -> None:
    for _ in range(4):
        rig.exit("PHASE_IMPLEMENTED")
        rig.fires()
    rig.exit("PHASE_IMPLEMENTED")
    assert stands(rig) == ["failed#1"]


def test_a_question_of_the_agent_comes_to_a_person_with_its_reason(rig: Rig) -> None:
    rig.exit(p.BLOCKED, reason="which database?")
    assert stands(rig) == ["failed#1"]
    standing = rig.state.positions["failed#1"]
    assert rig.state.recall(standing, "specify:draft.BLOCKED") == {"reason": "which database?"}


def silent(rig: Rig) -> JournalRecord:
    return rig.tell(
        f.TurnEndedSilent(
            effect=rig.held("agent"), notes=("odd", "denied: sh"), said="well", session="session-1"
        )
    )


@pytest.mark.req("P-144")
def test_a_silent_turn_gets_one_reminder_in_its_conversation_and_then_a_person_decides(
    rig: Rig,
) -> None:
    silent(rig)
    reminder = rig.request("agent")
    assert isinstance(reminder, RunAgent)
    assert (reminder.reminder, reminder.session) == (True, "session-1")
    assert reminder.noted == ("odd",)
    assert reminder.id == "specify:draft#1/agent/reminder/0"
    silent(rig)
    rig.asked()
    assert list(rig.state.decisions) == ["failed#1"]
    known = rig.state.recall(rig.state.positions["failed#1"], "specify:draft.silent")
    assert known == {
        "reason": "the agent ended twice without giving a signal; odd",
        "said": "well",
        "notes": ["odd", "denied: sh"],
    }


def test_a_signal_after_the_reminder_counts(rig: Rig) -> None:
    silent(rig)
    rig.exit("SPEC_DRAFTED")
    assert stands(rig) == ["specify:check#1"]


# People


@pytest.mark.req("P-193")
def test_a_gate_blocks_until_a_person_decides(at_gate: Rig) -> None:
    assert [r.kind for r in at_gate.wanted()] == ["stale"]
    at_gate.fires("stale")
    assert at_gate.wanted() == []
    assert stands(at_gate) == ["specify:gate#1"]
    at_gate.decide("approved")
    assert stands(at_gate) == ["specify:again#1"]


def test_a_person_is_asked_without_a_digest_rather_than_not_at_all(protocol: p.Protocol) -> None:
    rig = Rig(replace(protocol, initial=T("specify:gate"))).start()
    for _ in range(4):
        rig.fails("ask")
        rig.fires()
    rig.fails("ask")
    assert rig.state.decisions["specify:gate#1"].digest == ""


def test_git_that_refuses_is_an_exit_of_its_own(at_fork: Rig, protocol: p.Protocol) -> None:
    rig = Rig(replace(protocol, initial=T("commit"))).start()
    rig.commits(refused="dirty")
    assert rig.state.outcome == "complete"
    assert rig.state.memory[("", "")]["commit.refused"] == {"reason": "dirty"}
    rig = Rig(replace(protocol, initial=T("commit"))).start()
    rig.commits()
    assert rig.state.memory[("", "")]["commit.clean"] == {"commit": "c0ffee"}


# Facts that come too late, twice, or to the wrong place


def test_a_fact_of_an_effect_that_nobody_holds_moves_nothing(rig: Rig) -> None:
    effect = rig.held("agent")
    rig.exit("SPEC_DRAFTED")
    assert rig.tell(f.ExitAccepted(effect=effect, exit="SPEC_DRAFTED")).moves == ()
    assert rig.tell(f.CheckEnded(effect="nonsense", result="passed")).moves == ()
    assert stands(rig) == ["specify:check#1"]


def test_a_fact_of_an_effect_whose_position_is_gone_only_settles_it(rig: Rig) -> None:
    effect = rig.held("agent")
    rig.exit("SPEC_DRAFTED")
    rig.ask("rollback", state="specify:draft")
    check = rig.held("check", "lint")
    record = rig.tell(f.CheckEnded(effect=check, result="passed", tree="t"))
    assert record.moves == (m.Settled(check),)
    assert effect not in rig.state.in_hand
    assert rig.state.memory[("", "")] == {}


@pytest.mark.parametrize(
    "fact",
    [
        f.CheckEnded(effect="specify:draft#1/agent/builder/0", result="passed"),
        f.ReviewEnded(effect="specify:draft#1/agent/builder/0", verdict="APPROVE"),
        f.FeedbackWritten(effect="specify:draft#1/agent/builder/0", path="x"),
        f.DecisionAsked(effect="specify:draft#1/agent/builder/0", digest="x"),
        f.ItemsRead(effect="specify:draft#1/agent/builder/0", reading="json", items=(), digest="x"),
        f.CommitEnded(effect="specify:draft#1/agent/builder/0", commit="c"),
        f.TimerFired(effect="specify:draft#1/agent/builder/0"),
    ],
)
def test_an_answer_of_the_wrong_kind_counts_as_a_failed_try(rig: Rig, fact: f.EffectFact) -> None:
    rig.tell(fact)
    assert stands(rig) == ["specify:draft#1"]
    failure = rig.state.marked("specify:draft#1", "failure")
    assert failure == f"it got an unexpected answer of type {type(fact).__name__}"


@pytest.mark.parametrize("kind", ["ask", "feedback", "other"])
def test_an_effect_that_its_state_never_asks_for_moves_nothing(rig: Rig, kind: str) -> None:
    """As after an upgrade that gave the state another actor."""
    place = "specify:draft#1"
    hand = InHand(f"{place}/{kind}/x/0", place, kind, "x")
    fact = f.WishTaken(wish=f.Wish(id="w", kind="stop"))
    rig.state = evolve_state(rig.state, JournalRecord(9, "t", fact, (), (hand,)))
    told: dict[str, f.EffectFact] = {
        "ask": f.DecisionAsked(effect=hand.effect, digest="d"),
        "feedback": f.FeedbackWritten(effect=hand.effect, path="x"),
        "other": f.EffectStopped(effect=hand.effect),
    }
    assert rig.tell(told[kind]).moves == (m.Settled(hand.effect),)


def test_what_nobody_can_do_is_given_up_without_a_word(protocol: p.Protocol) -> None:
    state = p.State("specify:draft", "x", p.Children("other", "specs"), loop="plan")
    rig = Rig(altered(protocol, **{"specify:draft": state})).start()
    record = rig.tell(f.EffectFailed(effect=rig.held("items"), why="gone", hopeless=True))
    assert len(record.moves) == 1


def test_a_second_beginning_begins_nothing(rig: Rig) -> None:
    again = f.RunStarted(run="other", id="1", title="t", protocol="house", digest="d")
    assert rig.tell(again).moves == ()


@pytest.mark.parametrize(
    "fact",
    [
        f.RunnerStarted(host="host", boot="boot", pid=1, release="0.1"),
        f.WishRefused(wish=f.Wish(id="w", kind="stop"), reason="no"),
        f.JournalRepaired(kept=3, lost_bytes=10, aside="aside"),
        f.StatusEdited(aside="aside"),
    ],
)
def test_facts_about_the_run_itself_move_nothing(rig: Rig, fact: f.Fact) -> None:
    assert rig.tell(fact).moves == ()


# Adopting what somebody else wrote


def adopted(protocol: p.Protocol, fact: f.RunAdopted) -> Rig:
    rig = Rig(protocol).start()
    rig.tell(fact)
    return rig


ITEMS = (
    f.Item(id="one", title="One", description="", digest="1"),
    f.Item(id="two", title="Two", description="", digest="2"),
)


def test_an_adopted_run_stands_where_the_file_said_and_nowhere_else(protocol: p.Protocol) -> None:
    gates = {"spec-approval": {"status": "approved"}, "odd": {}}
    rig = adopted(protocol, f.RunAdopted(state="specify:consult", gates=gates))
    assert stands(rig) == ["specify:consult#1"]
    assert rig.state.gates["spec-approval"].status == "approved"
    assert rig.state.gates["spec-approval"].by == "unknown (from a file)"
    assert rig.state.gates["odd"].status == "waiting"
    assert rig.unwanted() == ["specify:draft#1/agent/builder/0"]


def test_an_adopted_run_may_bring_its_own_beginning(protocol: p.Protocol) -> None:
    start = f.RunStarted(run="other", id="0074", title="Found", protocol="house", digest="d7")
    rig = Rig(protocol)
    rig.tell(f.RunAdopted(state="specify:consult", start=start))
    assert (rig.state.run.id, rig.state.run.digest) == ("0074", "d7")
    assert stands(rig) == ["specify:consult#1"]
    assert rig.replayed() == rig.state


def test_a_run_that_is_adopted_paused_wants_nothing_before_somebody_resumes_it(
    protocol: p.Protocol,
) -> None:
    rig = adopted(protocol, f.RunAdopted(state="specify:consult", paused=True))
    assert rig.state.paused
    assert stands(rig) == ["specify:consult#1"]
    assert rig.wanted() == []


def test_what_an_adopted_run_changes_counts_from_where_it_goes_on(protocol: p.Protocol) -> None:
    rig = adopted(protocol, f.RunAdopted(state="specify:consult", paused=True))
    rig.tell(f.BaseMeasured(base_tree="t9", base_commit="c9", into="main"))
    run = rig.state.run
    assert (run.base, run.base_commit, run.into) == ("t9", "c9", "main")
    assert rig.replayed() == rig.state


def test_an_adopted_loop_keeps_its_finished_items(protocol: p.Protocol) -> None:
    fact = f.RunAdopted(state="implement", item="two", items=ITEMS, finished=("one",))
    rig = adopted(protocol, fact)
    rig.let_go()
    assert stands(rig) == ["implement:two#1"]
    rig.exit("PHASE_IMPLEMENTED")
    rig.check("unit/fast", "passed")
    rig.exit("TESTS_WRITTEN")
    assert stands(rig) == ["fork#1"]


def test_an_adopted_item_without_its_list_is_looked_for_in_the_plan(protocol: p.Protocol) -> None:
    rig = adopted(protocol, f.RunAdopted(state="implement", item="two"))
    rig.let_go()
    rig.reads("one=1", "two=2")
    assert stands(rig) == ["implement:two#1"]


@pytest.mark.parametrize("state,outcome", [("complete", "complete"), ("stopped", "abandoned")])
def test_an_adopted_run_that_is_over_is_over(
    protocol: p.Protocol, state: str, outcome: str
) -> None:
    rig = adopted(protocol, f.RunAdopted(state=state))
    assert (rig.state.outcome, stands(rig)) == (outcome, [])


def test_routing_looks_at_nothing_but_its_arguments(rig: Rig) -> None:
    fact = f.ExitAccepted(effect=rig.held("agent"), exit="SPEC_DRAFTED")
    assert route_fact(rig.protocol, rig.state, fact) == route_fact(rig.protocol, rig.state, fact)
    assert route_fact(rig.protocol, RunState(), fact) == ()
    request = rig.request("agent")
    assert not isinstance(request, RunCheck)
