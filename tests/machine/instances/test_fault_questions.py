"""A fault that no other plan can mend asks a person where it is met, at any depth of a tree."""

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.machine.exits.fault_questions import add_fault_questions, is_fault
from porch.machine.instances.children import summarise_outcomes
from porch.model import protocol as p

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove

AGENTS = ("scaffold", "write_tests", "impl", "review", "merger", "judge")
MOVES = ("integrate", "contract", "candidate", "publish")


@pytest.fixture
def driven(v3_protocol: p.Protocol, grove_of: "type[Grove]") -> "Grove":
    """As porch drives it: the root has planned two children, and its tests are integrated."""
    grove = grove_of(add_engine_states(v3_protocol)).start()
    grove.plan("", "a", "b")
    grove.says("", "write_tests", "TestsReady")
    grove.git("", "integrate")
    return grove


def fail(
    grove: "Grove", instance: str, state: str, why: str = "outside", hopeless: bool = True
) -> None:
    effect, told = grove.held(instance, state), "t.j2:3: no 'x'"
    grove.tell(
        f.EffectFailed(effect=effect, why=why, detail=told, hopeless=hopeless, fault=is_fault(why))
    )


def reach(grove: "Grove", instance: str, state: str) -> None:
    if state in ("write_tests", "contract"):
        grove.plan(instance)
    elif state != "scaffold":
        if state == "integrate":
            grove.plan(instance)
            grove.git(instance, "contract")
            grove.says(instance, "write_tests", "TestsReady")
        else:
            grove.goes(instance, state)


def test_a_failure_that_an_older_release_recorded_goes_where_it_went_then(driven: "Grove") -> None:
    """Its journal says nothing of faults, and the facts behind it are of a plan made anew."""
    effect = driven.held("a", "scaffold")
    driven.tell(f.EffectFailed(effect=effect, why="outside", detail="t.j2:3", hopeless=True))
    assert driven.of("a").outcome == "failed"
    assert "scaffold:fault" not in driven.at("a")


@pytest.mark.parametrize("state", [*AGENTS, *MOVES])
def test_a_fault_in_a_child_asks_a_person_at_once_and_the_parent_plans_nothing(
    driven: "Grove", state: str
) -> None:
    reach(driven, "a", state)
    fail(driven, "a", state)
    assert f"{state}:fault" in driven.at("a")
    assert state not in driven.at("a")
    assert driven.of("a").outcome == ""
    assert driven.entered("").count("scaffold") == 1
    assert not any(driven.state.spent.values()), "nobody has tried anything"


@pytest.mark.parametrize("state", [*AGENTS, *MOVES])
def test_behind_the_answer_a_child_goes_on_where_it_stood(driven: "Grove", state: str) -> None:
    reach(driven, "a", state)
    fail(driven, "a", state)
    driven.decide("a", f"{state}:fault", "retry")
    assert state in driven.at("a")
    driven.goes("a")
    assert driven.of("a").outcome == "complete"
    assert driven.entered("").count("scaffold") == 1
    assert driven.replayed() == driven.state


def test_who_is_stopped_at_a_fault_ends_with_what_was_wrong(driven: "Grove") -> None:
    driven.goes("a", "impl")
    fail(driven, "a", "impl")
    driven.decide("a", "impl:fault", "stopped")
    [lost] = summarise_outcomes(driven.state, ["a"])["failed"]
    assert lost["why"]["kind"] == "exhausted"
    assert "t.j2:3: no 'x'" in lost["why"]["payload"]["reason"]
    driven.goes("b")
    assert "scaffold" in driven.at(), "now the parent plans around it"


def test_a_fault_at_the_root_does_not_make_its_planner_plan_again(driven: "Grove") -> None:
    driven.goes("a")
    driven.goes("b")
    driven.goes("", "impl")
    fail(driven, "", "impl")
    assert driven.at() == {"impl:fault"}
    driven.decide("", "impl:fault", "retry")
    driven.goes("")
    assert driven.state.outcome == "complete"
    assert driven.entered("").count("scaffold") == 1


@pytest.mark.parametrize(
    "why", ["outside", "definition", "usage", "state", "bug", "auth", "bad_request"]
)
def test_what_only_a_person_can_mend_is_a_fault(driven: "Grove", why: str) -> None:
    driven.goes("a", "impl")
    fail(driven, "a", "impl", why)
    assert driven.at("a") == {"impl:fault"}


@pytest.mark.parametrize("state", ["impl", "review", "judge"])
def test_behind_a_request_that_was_refused_a_new_conversation_begins_with_the_last_words(
    driven: "Grove", state: str
) -> None:
    """It may be too long, or gone; the same one would be refused for ever."""
    driven.goes("a", "impl")
    driven.says("a", "impl", "RequestRetry", session="s-impl")
    driven.goes("a", state)
    before = driven.request("a", state)
    assert before.resume or before.fork_of
    fail(driven, "a", state, "bad_request")
    driven.decide("a", f"{state}:fault", "retry")
    asked = driven.request("a", state)
    assert (asked.resume, asked.fork_of, asked.told) == ("", "", "so")


def test_behind_another_fault_an_agent_goes_on_in_its_conversation(driven: "Grove") -> None:
    driven.goes("a", "impl")
    driven.says("a", "impl", "RequestRetry", session="s-impl")
    fail(driven, "a", "impl", "auth")
    driven.decide("a", "impl:fault", "retry")
    assert driven.request("a", "impl").resume == "s-impl"


@pytest.mark.parametrize("why", ["refused", "max_turns", "crashed", "timeout"])
def test_what_an_agent_did_not_manage_is_still_its_planners_business(
    driven: "Grove", why: str
) -> None:
    """D14: another plan may well do better, at no cost of a person."""
    driven.goes("a", "impl")
    fail(driven, "a", "impl", why)
    assert driven.of("a").outcome == "failed"


def test_a_failure_that_may_pass_is_tried_five_times_before_a_person_is_asked(
    driven: "Grove",
) -> None:
    driven.goes("a", "impl")
    for _ in range(4):
        fail(driven, "a", "impl", hopeless=False)
        assert driven.at("a") == {"impl"}
        driven.tell(f.TimerFired(effect=driven.held("a", "impl")))
    fail(driven, "a", "impl", hopeless=False)
    assert driven.at("a") == {"impl:fault"}
    assert "failed 5 times" in driven.recall("a", "impl.exhausted")["reason"]


@pytest.mark.parametrize("state", ["update", "rebase"])
def test_an_update_goes_on_behind_a_fault_with_what_was_due(driven: "Grove", state: str) -> None:
    driven.goes("b", "impl")
    driven.goes("a")
    driven.says("b", "impl", "TestsPassed")
    if state == "rebase":
        driven.git("b", "update", "conflict")
    fail(driven, "b", state)
    driven.decide("b", f"{state}:fault", "retry")
    driven.ends_well(driven.place("b", state))
    assert driven.at("b") == {"review"}


def test_who_waits_for_a_person_lets_siblings_merge(driven: "Grove") -> None:
    driven.goes("a", "merger")
    driven.goes("b", "candidate")
    assert not driven.runs("b", "candidate")
    fail(driven, "a", "merger")
    assert driven.runs("b", "candidate")


def test_who_waits_for_a_person_in_the_middle_of_an_update_keeps_its_worktree(
    driven: "Grove",
) -> None:
    driven.goes("b", "impl")
    driven.goes("a")
    driven.says("b", "impl", "TestsPassed")
    driven.git("b", "update", "conflict")
    fail(driven, "b", "rebase")
    assert driven.state.held == {"hold:worktree:b": driven.place("b", "rebase:fault")}


def test_each_state_that_works_gets_one_question_and_a_protocol_without_a_tree_none(
    v3_protocol: p.Protocol,
) -> None:
    flat = replace(v3_protocol, spec="")
    assert add_fault_questions(flat) is flat
    asked = add_fault_questions(v3_protocol)
    assert add_fault_questions(asked) is asked
    assert {name for name in asked.states if name.endswith(":fault")} == {
        f"{name}:fault" for name in (*AGENTS, *MOVES, "answer", "rebase", "update")
    }


@pytest.mark.parametrize("instance", ["", "a"])
def test_e15_after_three_kills_a_person_is_offered_to_try_again(
    driven: "Grove", instance: str
) -> None:
    """E15: at any depth, and nobody has to plan again: the work was not at fault."""
    state = "scaffold" if instance else "impl"
    if not instance:
        for child in ("a", "b"):
            driven.goes(child)
        driven.git("", "contract")
    for _ in range(3):
        driven.tell(f.EffectInterrupted(effect=driven.held(instance, state)))
    assert driven.at(instance) == {f"{state}:fault"}
    assert driven.recall(instance, f"{state}.exhausted")["reason"] == (
        "porch was killed 3 times while this agent was working"
    )
    driven.decide(instance, f"{state}:fault", "retry")
    assert driven.at(instance) == {state}
    driven.tell(f.EffectInterrupted(effect=driven.held(instance, state)))
    assert driven.at(instance) == {state}
    assert not any(driven.state.spent.values())
