"""When infrastructure fails, and not the work."""

import pytest

from porch.machine import facts as f
from porch.machine.effects import RunAgent, StartTimer
from porch.model import protocol as p
from porch.testing import Rig


def stands(rig: Rig) -> list[str]:
    return list(rig.state.positions)


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
    assert known == {"reason": "failed 5 times; last error: crashed: code 1"}
    assert rig.state.spent == {}


def test_a_reminder_that_crashes_counts_with_the_turn_before_it(rig: Rig) -> None:
    for _ in range(2):
        rig.fails("agent")
        rig.fires()
    rig.tell(f.TurnEndedSilent(effect=rig.held("agent")))
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
    rig.tell(f.EffectFailed(effect=rig.held("agent"), why="no such agent", hopeless=True))
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
        rig.tell(f.EffectInterrupted(effect=rig.held("agent"), usd=0.5, session=f"s{count}"))
        request = rig.request("agent")
        assert isinstance(request, RunAgent)
        assert request.session == f"s{count}"
    rig.tell(f.EffectInterrupted(effect=rig.held("agent"), usd=0.5))
    assert stands(rig) == ["failed#1"]
    assert rig.state.usd == 1.5
    known = rig.state.recall(rig.state.positions["failed#1"], "specify:draft.exhausted")
    assert known == {"reason": "porch was killed 3 times while this agent was working"}


def test_an_interruption_without_a_known_conversation_begins_a_new_one(rig: Rig) -> None:
    rig.tell(f.EffectInterrupted(effect=rig.held("agent")))
    request = rig.request("agent")
    assert isinstance(request, RunAgent)
    assert (request.session, request.attempt) == ("", 1)


def test_an_interrupted_check_is_simply_run_again(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    for attempt in range(9):
        assert rig.held("check", "lint") == f"specify:check#1/check/lint/{attempt}"
        rig.tell(f.EffectInterrupted(effect=rig.held("check", "lint")))


def test_a_wait_that_fails_is_over(rig: Rig) -> None:
    rig.fails("agent")
    rig.fails("timer")
    assert rig.held("agent") == "specify:draft#1/agent/builder/1"
