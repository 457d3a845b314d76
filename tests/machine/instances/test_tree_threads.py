"""Which conversation an agent goes on with, and from which it begins."""

from typing import TYPE_CHECKING

import pytest

from porch.machine import facts as f

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove


def thread(grove: "Grove", instance: str, state: str) -> tuple[str, str]:
    asked = grove.request(instance, state)
    return asked.resume, asked.fork_of


def test_tests_and_impl_begin_from_the_conversation_of_the_planner(v3: "Grove") -> None:
    """D29: two forks of one snapshot, each with its own future."""
    assert thread(v3, "", "scaffold") == ("", "")
    v3.plan("", session="plan-1")
    assert thread(v3, "", "write_tests") == ("", "plan-1")
    assert v3.request("", "write_tests").told == "so", "for agents that cannot fork"
    v3.says("", "write_tests", "TestsReady", session="tests-1")
    v3.goes("", "impl")
    assert thread(v3, "", "impl") == ("", "plan-1")


def test_the_reviewer_goes_on_in_the_tests_conversation_and_never_sees_the_other(
    v3: "Grove",
) -> None:
    """D27: errors must not be correlated."""
    v3.plan()
    v3.git("", "contract")
    v3.says("", "write_tests", "TestsReady", session="tests-1")
    v3.git("", "integrate")
    v3.says("", "impl", "TestsPassed", session="impl-1")
    assert thread(v3, "", "review") == ("tests-1", "")
    v3.says("", "review", "MoreTests", session="tests-2")
    assert thread(v3, "", "impl") == ("impl-1", "")
    v3.says("", "impl", "TestsPassed")
    assert thread(v3, "", "review") == ("tests-2", "")


def test_a_planner_that_is_asked_again_goes_on_in_its_own_conversation(v3: "Grove") -> None:
    v3.plan("", session="plan-1")
    v3.says("", "write_tests", "InvalidScaffold")
    assert thread(v3, "", "scaffold") == ("plan-1", "")


def test_a_child_begins_fresh(v3: "Grove") -> None:
    """D29: inherited context would grow with depth."""
    v3.plan("", "a", session="plan-1")
    assert thread(v3, "a", "scaffold") == ("", "")


def test_a_parent_speaks_in_a_fork_and_its_own_conversation_stays_as_it_was(v3: "Grove") -> None:
    """D35: it may be in the middle of something."""
    v3.plan("", "a", session="plan-1")
    v3.says("", "write_tests", "TestsReady", session="tests-1")
    v3.says("a", "scaffold", "ClarificationNeeded")
    assert thread(v3, "a", "answer") == ("", "plan-1")
    v3.says("a", "answer", "Answered", session="fork-1")
    assert v3.recall("", "thread.planner")["session"] == "plan-1"
    assert v3.recall("a", "thread.planner")["session"] == "a~planner"
    v3.git("", "integrate")
    v3.goes("a", "judge")
    assert thread(v3, "a", "judge") == ("", "tests-1")
    v3.says("a", "judge", "Rejected", session="fork-2")
    assert v3.recall("", "thread.tests")["session"] == "tests-1"
    assert v3.recall("a", "thread.tests")["session"] == "a~tests"


def test_a_retry_goes_on_in_its_conversation(v3: "Grove") -> None:
    """D53."""
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry", session="impl-1")
    assert thread(v3, "", "impl") == ("impl-1", "")


def retries(grove: "Grove", *failing: int) -> None:
    for number in failing:
        names = [f"test_{each}" for each in range(number)]
        grove.says("", "impl", "RequestRetry", failingTests=names, session="impl-1")


@pytest.mark.parametrize(
    "failing, is_fresh",
    [((3, 3), False), ((3, 3, 3), True), ((2, 3, 4), True), ((3, 2, 2), False), ((3, 3, 2), False)],
)
def test_two_retries_that_leave_no_fewer_failures_begin_a_fresh_conversation(
    v3: "Grove", failing: tuple[int, ...], is_fresh: bool
) -> None:
    """D53: a stuck context stays stuck; what was tried is told."""
    v3.goes("", "impl")
    retries(v3, *failing)
    asked = v3.request("", "impl")
    assert (asked.resume, asked.fork_of) == (("", "") if is_fresh else ("impl-1", ""))
    assert ("new conversation" in asked.told) is is_fresh
    assert asked.told.count("strategyTo") == (len(failing) if is_fresh else 0)


def test_a_new_round_goes_on_in_the_conversation_that_has_passed_the_last_one(
    v3: "Grove",
) -> None:
    v3.goes("", "impl")
    retries(v3, 3, 3, 3)
    v3.says("", "impl", "TestsPassed", session="impl-2")
    v3.says("", "review", "MoreTests")
    assert thread(v3, "", "impl") == ("impl-2", "")


def test_a_turn_that_was_stopped_or_died_goes_on_where_it_was(v3: "Grove") -> None:
    effect = v3.held("", "scaffold")
    v3.tell(f.EffectInterrupted(effect=effect, session="half-1"))
    assert thread(v3, "", "scaffold") == ("half-1", "")
    v3.tell(f.WishTaken(wish=f.Wish(id="w", kind="stop")))
    v3.tell(f.EffectStopped(effect=v3.held("", "scaffold"), session="half-2"))
    v3.tell(f.WishTaken(wish=f.Wish(id="v", kind="resume")))
    assert thread(v3, "", "scaffold") == ("half-2", "")


def test_an_answer_without_a_conversation_leaves_the_last_one_known(v3: "Grove") -> None:
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry", session="impl-1")
    v3.says("", "impl", "RequestRetry", session="")
    assert thread(v3, "", "impl") == ("impl-1", "")
