"""What each fact moves, and what moves nothing."""

from dataclasses import replace

import pytest

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import RunAgent, RunCheck, StartTimer
from porch.machine.evolve import evolve
from porch.machine.records import Record
from porch.machine.route import route
from porch.machine.state import InHand, State
from porch.model import protocol as p
from porch.testing import CheckResult, Rig, Verdict

T = p.Target


def stands(rig: Rig) -> list[str]:
    return list(rig.state.positions)


def altered(protocol: p.Protocol, *edges: p.Edge, **states: p.State) -> p.Protocol:
    """The house with some edges put before its own, and some states replaced."""
    named = {**protocol.states, **states}
    return replace(protocol, states=named, edges=(*edges, *protocol.edges))


def entered(record: Record) -> list[str]:
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


def silent(rig: Rig) -> Record:
    return rig.tell(f.TurnEndedSilent(rig.held("agent"), ("odd",), "well", "session-1"))


@pytest.mark.req("P-144")
def test_a_silent_turn_gets_one_reminder_in_its_conversation_and_then_a_person_decides(
    rig: Rig,
) -> None:
    silent(rig)
    reminder = rig.request("agent")
    assert isinstance(reminder, RunAgent)
    assert (reminder.reminder, reminder.session) == (True, "session-1")
    assert reminder.id == "specify:draft#1/agent/reminder/0"
    silent(rig)
    rig.asked()
    assert list(rig.state.decisions) == ["failed#1"]
    known = rig.state.recall(rig.state.positions["failed#1"], "specify:draft.silent")
    assert known == {
        "reason": "the agent ended twice without a signal",
        "said": "well",
        "notes": ["odd"],
    }


def test_a_signal_after_the_reminder_counts(rig: Rig) -> None:
    silent(rig)
    rig.exit("SPEC_DRAFTED")
    assert stands(rig) == ["specify:check#1"]


# Failures of infrastructure


@pytest.mark.req("P-142")
def test_a_crashed_agent_is_run_again_after_waits_that_double_and_after_five_a_person_decides(
    rig: Rig,
) -> None:
    waits = []
    for attempt in range(4):
        assert rig.held("agent") == f"specify:draft#1/agent/builder/{attempt}"
        rig.fails("agent")
        timer = rig.request("timer")
        assert isinstance(timer, StartTimer)
        assert timer.since == ""
        waits.append(timer.seconds)
        assert not any(hand.kind == "agent" for hand in rig.state.in_hand.values())
        rig.fires()
    rig.fails("agent")
    assert waits == [1, 2, 4, 8]
    assert stands(rig) == ["failed#1"]
    known = rig.state.recall(rig.state.positions["failed#1"], "specify:draft.exhausted")
    assert known == {"reason": "5 tries failed; the last: crashed code 1"}
    assert rig.state.spent == {}


def test_a_reminder_that_crashes_counts_with_the_turn_before_it(rig: Rig) -> None:
    for _ in range(2):
        rig.fails("agent")
        rig.fires()
    silent(rig)
    for _ in range(2):
        rig.fails("agent")
        rig.fires()
    rig.fails("agent")
    assert stands(rig) == ["failed#1"]


def test_a_new_visit_has_all_its_tries_again(rig: Rig) -> None:
    for _ in range(4):
        rig.fails("agent")
        rig.fires()
    rig.exit(p.BLOCKED, reason="x")
    rig.asked()
    rig.decide("retry")
    rig.fails("agent")
    assert rig.request("timer").name == "backoff-agent-1"


def test_trying_again_when_that_cannot_help_is_not_tried(rig: Rig) -> None:
    rig.tell(f.EffectFailed(rig.held("agent"), "no such agent", hopeless=True))
    assert stands(rig) == ["failed#1"]


def test_a_rate_limit_waits_until_an_instant_and_charges_nothing(rig: Rig) -> None:
    for attempt in range(12):
        rig.fails("agent", wait_s=300)
        timer = rig.request("timer")
        assert isinstance(timer, StartTimer)
        assert timer.seconds == 300
        assert timer.since == rig.state.at
        assert timer.id == f"specify:draft#1/timer/limit-agent-{attempt}/0"
        rig.fires()
    assert rig.held("agent") == "specify:draft#1/agent/builder/12"
    assert rig.state.spent == {}


def test_the_third_interruption_of_a_visit_asks_a_person(rig: Rig) -> None:
    for count in range(2):
        rig.tell(f.EffectInterrupted(rig.held("agent"), usd=0.5, session=f"s{count}"))
        request = rig.request("agent")
        assert isinstance(request, RunAgent)
        assert request.session == f"s{count}"
    rig.tell(f.EffectInterrupted(rig.held("agent"), usd=0.5))
    assert stands(rig) == ["failed#1"]
    assert rig.state.usd == 1.5
    known = rig.state.recall(rig.state.positions["failed#1"], "specify:draft.exhausted")
    assert known == {"reason": "the runner died 3 times under this agent"}


def test_an_interruption_without_a_known_conversation_begins_a_new_one(rig: Rig) -> None:
    rig.tell(f.EffectInterrupted(rig.held("agent")))
    request = rig.request("agent")
    assert isinstance(request, RunAgent)
    assert (request.session, request.attempt) == ("", 1)


def test_an_interrupted_check_is_simply_run_again(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    for attempt in range(9):
        assert rig.held("check", "lint") == f"specify:check#1/check/lint/{attempt}"
        rig.tell(f.EffectInterrupted(rig.held("check", "lint")))


def test_a_wait_that_fails_is_over(rig: Rig) -> None:
    rig.fails("agent")
    rig.fails("timer")
    assert rig.held("agent") == "specify:draft#1/agent/builder/1"


# Checks


@pytest.mark.parametrize(
    "lint,unit,leads_to",
    [
        ("passed", "passed", "specify:consult#1"),
        ("failed", "passed", "specify:consult#1"),
        ("unmeasured", "passed", "specify:consult#1"),
        ("passed", "failed", "specify:gate#1"),
        ("passed", "unmeasured", "specify:gate#1"),
        ("failed", "unmeasured", "specify:gate#1"),
    ],
)
def test_only_binding_checks_decide_and_what_was_not_measured_never_passes(
    rig: Rig, lint: CheckResult, unit: CheckResult, leads_to: str
) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", lint)
    assert stands(rig) == ["specify:check#1"]
    rig.check("unit/fast", unit)
    assert stands(rig) == [leads_to]


def test_the_report_of_a_failed_check_is_remembered(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "failed")
    effect = rig.held("check", "unit/fast")
    record = rig.tell(f.CheckEnded(effect, "failed", "2 failed", "t9"))
    payload = {"failed": ["unit/fast"], "unmeasured": [], "reports": {"unit/fast": "2 failed"}}
    assert m.Remembered("specify:check.failed", payload) in record.moves
    kept = {"result": "failed", "report": "2 failed", "tree": "t9"}
    assert m.Marked("specify:check#1", "check/unit/fast", kept) in record.moves


def test_a_check_that_cannot_be_run_is_unmeasured_after_five_tries(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    for _ in range(4):
        rig.fails("check", "unit/fast")
        rig.fires()
    rig.fails("check", "unit/fast")
    assert stands(rig) == ["specify:gate#1"]
    known = rig.state.recall(rig.state.positions["specify:gate#1"], "specify:check.unmeasured")
    assert known is not None
    assert known["unmeasured"] == ["unit/fast"]


def test_one_check_waits_for_its_next_try_while_another_is_run(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.fails("check", "lint")
    assert rig.held("timer") == "specify:check#1/timer/backoff-check-lint-1/0"
    rig.check("unit/fast", "passed")
    rig.fires()
    rig.check("lint", "passed")
    assert stands(rig) == ["specify:consult#1"]


def test_evidence_is_remembered_only_of_what_passed_on_known_content(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed", "t1")
    assert rig.state.memory[("", "")]["evidence.specify:unit/fast"] == {"tree": "t1"}
    assert "evidence.specify:lint" not in rig.state.memory[("", "")]


# Panels


@pytest.mark.req("P-101", "P-152")
@pytest.mark.parametrize(
    "gemini,codex,claude,exit_",
    [
        ("APPROVE", "APPROVE", "APPROVE", "approved"),
        ("APPROVE", "APPROVE", "ABSTAIN", "approved"),
        ("APPROVE", "REQUEST_CHANGES", "APPROVE", "changes"),
        ("REQUEST_CHANGES", "APPROVE", "ABSTAIN", "changes"),
        ("APPROVE", "ABSTAIN", "ABSTAIN", "undecided"),
        ("REQUEST_CHANGES", "ABSTAIN", "ABSTAIN", "undecided"),
        ("ABSTAIN", "ABSTAIN", "ABSTAIN", "undecided"),
    ],
)
def test_a_panel_counts_real_verdicts_and_an_abstention_is_none(
    rig: Rig, gemini: Verdict, codex: Verdict, claude: Verdict, exit_: str
) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    record = rig.panel(gemini=gemini, codex=codex, claude=claude)
    remembered = [move.path for move in record.moves if isinstance(move, m.Remembered)]
    assert remembered == [f"specify:consult.{exit_}"]
    where = "specify:revise#1" if exit_ == "changes" else "specify:gate#1"
    assert stands(rig) == [where]


@pytest.mark.parametrize("quorum", [0, 1])
def test_a_panel_of_abstentions_approves_nothing_whatever_the_quorum(
    protocol: p.Protocol, quorum: int
) -> None:
    panel = p.Panel(("a",), "any", "x", quorum)
    state = replace(protocol.states["specify:draft"], actor=panel)
    ways = (
        p.Edge("specify:draft", "approved", (T("complete"),)),
        p.Edge("specify:draft", "undecided", (T("failed"),)),
    )
    rig = Rig(altered(protocol, *ways, **{"specify:draft": state})).start()
    rig.panel(a="ABSTAIN")
    assert stands(rig) == ["failed#1"]


def test_findings_name_who_asked_and_fall_back_on_the_summary(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    rig.review("gemini", "REQUEST_CHANGES", "name it", "shorten it")
    rig.review("codex", "REQUEST_CHANGES")
    rig.review("claude", "APPROVE", "not asked for")
    rig.tell(f.FeedbackWritten(rig.held("feedback"), "round-1.md"))
    known = rig.state.recall(rig.state.positions["specify:revise#1"], "specify:consult.changes")
    assert known == {
        "file": "round-1.md",
        "findings": [
            {"by": "gemini", "finding": "name it"},
            {"by": "gemini", "finding": "shorten it"},
            {"by": "codex", "finding": "codex thinks"},
        ],
        "coverage": "3 of 3 reviewers gave a verdict",
    }


@pytest.mark.req("P-152")
def test_a_reviewer_that_cannot_be_reached_abstains_and_disturbs_no_other(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    for _ in range(4):
        rig.fails("review", "gemini")
        assert rig.held("review", "codex") == "specify:consult#1/review/codex/0"
        assert rig.unwanted() == []
        rig.fires()
    rig.fails("review", "gemini")
    assert rig.state.marked("specify:consult#1", "review/gemini")["verdict"] == "ABSTAIN"
    rig.panel(codex="APPROVE", claude="APPROVE")
    assert stands(rig) == ["specify:gate#1"]


def test_feedback_that_cannot_be_kept_leaves_the_panel_undecided(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    for name in ("gemini", "codex", "claude"):
        rig.review(name, "APPROVE")
    for _ in range(4):
        rig.fails("feedback")
        rig.fires()
    record = rig.fails("feedback")
    assert entered(record) == ["specify:gate#1"]
    assert "specify:consult.undecided" in rig.state.memory[("", "")]


@pytest.mark.req("P-102", "P-103", "P-105")
def test_rounds_are_counted_and_when_they_are_spent_a_person_decides_over_the_findings(
    rig: Rig,
) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    for number in (1, 2):
        rig.panel(gemini="APPROVE", codex="REQUEST_CHANGES", claude="APPROVE")
        assert rig.state.spent == {"rounds": number}
        request = rig.request("agent")
        assert isinstance(request, RunAgent)
        assert [shown.label for shown in request.shown] == ["The reviewers ask for"]
        assert request.shown[0].payload["findings"] == [{"by": "codex", "finding": "fix it"}]
        rig.exit("REVISED")
        assert stands(rig) == [f"specify:consult#{number + 1}"]
    rig.panel(gemini="APPROVE", codex="REQUEST_CHANGES", claude="APPROVE")
    rig.asked()
    assert list(rig.state.decisions) == ["specify:gate#1"]
    known = rig.state.recall(rig.state.positions["specify:gate#1"], "specify:consult.changes")
    assert known is not None
    assert known["findings"] == [{"by": "codex", "finding": "fix it"}]


def test_an_approval_by_all_fills_the_rounds_again(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    rig.panel(gemini="APPROVE", codex="REQUEST_CHANGES", claude="APPROVE")
    rig.exit("REVISED")
    rig.panel(gemini="APPROVE", codex="APPROVE", claude="APPROVE")
    assert rig.state.spent == {"rounds": 0}


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
    wish = f.WishTaken(f.Wish("w", "stop"))
    at_loop.state = evolve(at_loop.state, Record(99, "t", wish, moves, (hand,)))
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
    lost = f.EffectFailed(at_gate.held("items"), "no plan", hopeless=True)
    at_gate.tell(lost)
    assert stands(at_gate) == ["failed:implement#1"]
    at_gate.tell(f.EffectFailed(at_gate.held("items"), "no plan", hopeless=True))
    assert list(at_gate.state.decisions) == ["failed:implement#1"]
    assert [r.kind for r in at_gate.wanted()] == ["stale"]
    at_gate.decide("retry")
    at_gate.reads("one=1")
    assert stands(at_gate) == ["implement:one#1"]


def test_skipping_a_plan_that_cannot_be_read_finishes_no_item(at_gate: Rig) -> None:
    at_gate.decide("approved")
    at_gate.check("unit/fast", "passed")
    for _ in range(2):
        at_gate.tell(f.EffectFailed(at_gate.held("items"), "no plan", hopeless=True))
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
    record = rig.tell(f.EffectFailed(rig.held("items"), "gone", hopeless=True))
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
    fact = f.WishTaken(f.Wish("w", "stop"))
    at_fork.state = evolve(at_fork.state, Record(99, "t", fact, moves, (hand,)))
    at_fork.tell(f.ExitAccepted(hand.effect, "done"))
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
    fact = f.RunStarted("r", "1", "t", "house", "d")
    rig.state = evolve(rig.state, Record(1, "t", fact, tuple(moves), tuple(hands)))
    return rig


def test_the_end_of_an_instance_leaves_the_others_and_the_run_standing(
    protocol: p.Protocol,
) -> None:
    rig = instances(protocol, "", "a", "ab")
    rig.tell(f.CommitEnded("a/commit#1/commit/commit/0", "c"))
    assert stands(rig) == ["commit#1", "ab/commit#1"]
    assert rig.state.outcome == ""


def test_the_end_of_the_run_is_the_end_of_its_instances(protocol: p.Protocol) -> None:
    rig = instances(protocol, "", "a", "ab")
    rig.tell(f.CommitEnded("commit#1/commit/commit/0", "c"))
    assert stands(rig) == []
    assert rig.state.outcome == "complete"
    late = rig.tell(f.CommitEnded("a/commit#1/commit/commit/0", "c"))
    assert late.moves == (m.Settled("a/commit#1/commit/commit/0"),)


def test_an_instance_spends_a_budget_of_its_own(protocol: p.Protocol) -> None:
    edge = p.Edge("commit", "clean", (T("commit"),), charges="rounds", spent=(T("failed"),))
    rig = instances(altered(protocol, edge), "a")
    rig.tell(f.CommitEnded("a/commit#1/commit/commit/0", "c"))
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


# Facts that come too late, twice, or to the wrong place


def test_a_fact_of_an_effect_that_nobody_holds_moves_nothing(rig: Rig) -> None:
    effect = rig.held("agent")
    rig.exit("SPEC_DRAFTED")
    assert rig.tell(f.ExitAccepted(effect, "SPEC_DRAFTED")).moves == ()
    assert rig.tell(f.CheckEnded("nonsense", "passed")).moves == ()
    assert stands(rig) == ["specify:check#1"]


def test_a_fact_of_an_effect_whose_position_is_gone_only_settles_it(rig: Rig) -> None:
    effect = rig.held("agent")
    rig.exit("SPEC_DRAFTED")
    rig.ask("rollback", state="specify:draft")
    check = rig.held("check", "lint")
    record = rig.tell(f.CheckEnded(check, "passed", tree="t"))
    assert record.moves == (m.Settled(check),)
    assert effect not in rig.state.in_hand
    assert rig.state.memory[("", "")] == {}


@pytest.mark.parametrize(
    "fact",
    [
        f.CheckEnded("specify:draft#1/agent/builder/0", "passed"),
        f.ReviewEnded("specify:draft#1/agent/builder/0", "APPROVE"),
        f.FeedbackWritten("specify:draft#1/agent/builder/0", "x"),
        f.DecisionAsked("specify:draft#1/agent/builder/0", "x"),
        f.ItemsRead("specify:draft#1/agent/builder/0", "json", (), "x"),
        f.CommitEnded("specify:draft#1/agent/builder/0", "c"),
        f.TimerFired("specify:draft#1/agent/builder/0"),
    ],
)
def test_an_answer_of_the_wrong_kind_counts_as_a_failed_try(rig: Rig, fact: f.EffectFact) -> None:
    rig.tell(fact)
    assert stands(rig) == ["specify:draft#1"]
    failure = rig.state.marked("specify:draft#1", "failure")
    assert failure == f"it was answered by {type(fact).__name__}"


@pytest.mark.parametrize("kind", ["ask", "feedback", "other"])
def test_an_effect_that_its_state_never_asks_for_moves_nothing(rig: Rig, kind: str) -> None:
    """As after an upgrade that gave the state another actor."""
    place = "specify:draft#1"
    hand = InHand(f"{place}/{kind}/x/0", place, kind, "x")
    fact = f.WishTaken(f.Wish("w", "stop"))
    rig.state = evolve(rig.state, Record(9, "t", fact, (), (hand,)))
    told: dict[str, f.EffectFact] = {
        "ask": f.DecisionAsked(hand.effect, "d"),
        "feedback": f.FeedbackWritten(hand.effect, "x"),
        "other": f.EffectStopped(hand.effect),
    }
    assert rig.tell(told[kind]).moves == (m.Settled(hand.effect),)


def test_what_nobody_can_do_is_given_up_without_a_word(protocol: p.Protocol) -> None:
    state = p.State("specify:draft", "x", p.Children("other", "specs"), loop="plan")
    rig = Rig(altered(protocol, **{"specify:draft": state})).start()
    record = rig.tell(f.EffectFailed(rig.held("items"), "gone", hopeless=True))
    assert len(record.moves) == 1


def test_a_second_beginning_begins_nothing(rig: Rig) -> None:
    again = f.RunStarted("other", "1", "t", "house", "d")
    assert rig.tell(again).moves == ()


@pytest.mark.parametrize(
    "fact",
    [
        f.RunnerStarted("host", "boot", 1, "0.1"),
        f.WishRefused(f.Wish("w", "stop"), "no"),
        f.JournalRepaired(3, 10, "aside"),
        f.StatusEdited("aside"),
    ],
)
def test_facts_about_the_run_itself_move_nothing(rig: Rig, fact: f.Fact) -> None:
    assert rig.tell(fact).moves == ()


# Adopting what somebody else wrote


def adopted(protocol: p.Protocol, fact: f.RunAdopted) -> Rig:
    rig = Rig(protocol).start()
    rig.tell(fact)
    return rig


ITEMS = (f.Item("one", "One", "", "1"), f.Item("two", "Two", "", "2"))


def test_an_adopted_run_stands_where_the_file_said_and_nowhere_else(protocol: p.Protocol) -> None:
    gates = {"spec-approval": {"status": "approved"}, "odd": {}}
    rig = adopted(protocol, f.RunAdopted("specify:consult", gates=gates))
    assert stands(rig) == ["specify:consult#1"]
    assert rig.state.gates["spec-approval"].status == "approved"
    assert rig.state.gates["spec-approval"].by == "unknown (from a file)"
    assert rig.state.gates["odd"].status == "waiting"
    assert rig.unwanted() == ["specify:draft#1/agent/builder/0"]


def test_an_adopted_loop_keeps_its_finished_items(protocol: p.Protocol) -> None:
    fact = f.RunAdopted("implement", "two", items=ITEMS, finished=("one",))
    rig = adopted(protocol, fact)
    rig.let_go()
    assert stands(rig) == ["implement:two#1"]
    rig.exit("PHASE_IMPLEMENTED")
    rig.check("unit/fast", "passed")
    rig.exit("TESTS_WRITTEN")
    assert stands(rig) == ["fork#1"]


def test_an_adopted_item_without_its_list_is_looked_for_in_the_plan(protocol: p.Protocol) -> None:
    rig = adopted(protocol, f.RunAdopted("implement", "two"))
    rig.let_go()
    rig.reads("one=1", "two=2")
    assert stands(rig) == ["implement:two#1"]


@pytest.mark.parametrize("state,outcome", [("complete", "complete"), ("stopped", "abandoned")])
def test_an_adopted_run_that_is_over_is_over(
    protocol: p.Protocol, state: str, outcome: str
) -> None:
    rig = adopted(protocol, f.RunAdopted(state))
    assert (rig.state.outcome, stands(rig)) == (outcome, [])


def test_routing_looks_at_nothing_but_its_arguments(rig: Rig) -> None:
    fact = f.ExitAccepted(rig.held("agent"), "SPEC_DRAFTED")
    assert route(rig.protocol, rig.state, fact) == route(rig.protocol, rig.state, fact)
    assert route(rig.protocol, State(), fact) == ()
    request = rig.request("agent")
    assert not isinstance(request, RunCheck)
