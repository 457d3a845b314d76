"""What bounds a run of V3: nested budgets, answers that repeat, instances that wait for nobody."""

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from porch.model import protocol as p

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove

T = p.Target


def attempt(grove: "Grove", instance: str = "") -> tuple[int, int]:
    seen = grove.request(instance, "impl").values
    return seen["attemptCount"], seen["attemptLimit"]


@pytest.mark.req("V-092", "V-107")
def test_attempts_are_counted_by_the_engine_whatever_the_agent_says(v3: "Grove") -> None:
    """D07: a budget that the agent can influence is none."""
    v3.goes("", "impl")
    assert attempt(v3) == (1, 5)
    v3.says("", "impl", "RequestRetry", attempts=99, attemptCount=0)
    assert attempt(v3) == (2, 5)
    assert v3.request("", "impl").values["budget"]["attempts"] == {
        "count": 2,
        "spent": 1,
        "limit": 5,
        "left": 3,
    }


@pytest.mark.req("V-092", "V-093", "V-080")
def test_a_retry_at_the_fifth_attempt_becomes_a_stuck_that_keeps_the_diagnosis(
    v3: "Grove",
) -> None:
    """D07: and says that the engine said it."""
    v3.goes("", "impl")
    for number in range(1, 5):
        assert attempt(v3) == (number, 5)
        v3.says("", "impl", "RequestRetry")
    assert attempt(v3) == (5, 5)
    v3.says("", "impl", "RequestRetry", diagnosis="the spec is wrong", attempts=1)
    assert v3.at() == {"person"}
    stuck = v3.recall("", "impl.Stuck")
    assert stuck == {
        "diagnosis": "the spec is wrong",
        "recommendation": "",
        "attempts": 5,
        "synthetic": "RequestRetry at its limit",
    }
    assert v3.entered("").count("impl") == 5


def test_every_entry_into_impl_from_elsewhere_has_all_its_attempts(v3: "Grove") -> None:
    """D08, D09: attempts are per entry, rounds and merges bound the entries."""
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry")
    v3.goes("", "review")
    v3.says("", "review", "MoreTests")
    assert attempt(v3) == (1, 5)
    v3.says("", "impl", "RequestRetry")
    v3.goes("", "review")
    more = [{"criterionId": "x-1", "plannedTestName": "n", "approach": ""}]
    v3.says("", "review", "MoreTests", additionalTests=more)
    v3.goes("", "impl")
    assert attempt(v3) == (1, 5)
    assert v3.state.spent["rounds"] == 2


def test_rounds_are_bounded(v3: "Grove") -> None:
    """D08."""
    v3.goes("", "review")
    for _ in range(5):
        v3.says("", "review", "MoreTests")
        v3.goes("", "review")
    v3.says("", "review", "MoreTests")
    assert v3.at() == {"person"}


def test_merges_are_bounded_together_whoever_rejects_them(family: "Grove") -> None:
    """D09: candidate, merger and judge share one budget."""
    family.goes("a", "candidate")
    family.git("a", "candidate", "refused")
    family.goes("a", "merger")
    family.says("a", "merger", "MergeRejected")
    family.goes("a", "judge")
    family.says("a", "judge", "Rejected")
    family.goes("a", "candidate")
    family.git("a", "candidate", "conflict")
    assert family.of("a").outcome == "failed"
    assert family.of("a").why["kind"] == "conflict"


def test_questions_are_bounded_per_epoch(family: "Grove") -> None:
    """D10: a parent that answers badly is a loop too."""
    for _ in range(3):
        family.says("a", "scaffold", "ClarificationNeeded")
        family.says("a", "answer", "Answered")
    family.says("a", "scaffold", "ClarificationNeeded", question="Still?")
    assert family.of("a").outcome == "failed"
    assert family.of("a").why["payload"]["question"] == "Still?"


def test_a_new_epoch_restores_what_is_counted_per_epoch(v3: "Grove") -> None:
    """D08: nested budgets; the epochs themselves are per instance."""
    v3.says("", "scaffold", "ClarificationNeeded")
    v3.decide("", "ask", "answered", "So.")
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry")
    v3.goes("", "review")
    v3.says("", "review", "MoreTests")
    v3.says("", "impl", "RequestRetry")
    v3.goes("", "candidate")
    v3.git("", "candidate", "refused")
    spent = v3.state.spent
    assert (spent["questions"], spent["rounds"], spent["merges"]) == (1, 1, 1)
    v3.says("", "impl", "BlockedDependency")
    assert v3.state.spent == {
        "questions": 0,
        "rounds": 0,
        "merges": 0,
        "attempts": 0,
        "epochs": 1,
    }


def test_epochs_are_bounded_and_a_person_may_grant_new_ones(v3: "Grove") -> None:
    for _ in range(3):
        v3.goes("", "impl")
        v3.says("", "impl", "SpecAmbiguity")
        assert v3.at() == {"scaffold"}
    v3.goes("", "impl")
    v3.says("", "impl", "SpecAmbiguity")
    assert v3.at() == {"person"}
    v3.decide("", "person", "answered", "Thus.")
    assert v3.at() == {"scaffold"}
    assert v3.state.spent["epochs"] == 0


def test_a_child_out_of_epochs_fails_with_the_last_reason(family: "Grove") -> None:
    for _ in range(4):
        family.goes("a", "impl")
        family.says("a", "impl", "BlockedDependency", missingSymbol="f")
    assert family.of("a").outcome == "failed"
    assert family.of("a").why == {
        "kind": "BlockedDependency",
        "payload": {"missingSymbol": "f", "expectedImportPath": "src/s.py"},
    }


def test_instances_do_not_share_their_budgets(family: "Grove") -> None:
    for name in "ab":
        family.goes(name, "impl")
    family.says("a", "impl", "RequestRetry")
    assert (attempt(family, "a"), attempt(family, "b")) == ((2, 5), (1, 5))


def test_the_same_answer_on_the_same_content_twice_in_a_row_is_no_progress(v3: "Grove") -> None:
    """D08: five attempts at nothing would only cost."""
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry", tree="t")
    assert v3.at() == {"impl"}
    v3.says("", "impl", "RequestRetry", tree="t")
    assert v3.at() == {"person"}
    stalled = v3.recall("", "impl.no_progress")
    assert stalled["exit"] == "RequestRetry"
    assert "twice in a row" in stalled["reason"]


def test_after_a_person_has_said_go_on_the_same_answer_is_an_answer(v3: "Grove") -> None:
    """The branch may be back, the disk may have room: whoever mends that wants the same again."""
    v3.says("", "scaffold", "InitWork", tree="t")
    v3.goes("", "review")
    v3.says("", "review", "Reject", tree="t")
    assert v3.at() == {"person"}
    v3.decide("", "person", "answered", "Go on.")
    v3.says("", "scaffold", "InitWork", tree="t")
    assert v3.recall("", "scaffold.no_progress") is None
    assert "person" not in v3.at()


@pytest.mark.parametrize("more", [{"tree": "u"}, {"tree": "t", "diagnosis": "e"}])
def test_another_content_or_another_answer_is_progress(v3: "Grove", more: dict[str, str]) -> None:
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry", tree="t")
    v3.says("", "impl", "RequestRetry", **more)
    assert v3.at() == {"impl"}
    v3.says("", "impl", "RequestRetry", tree="t")
    assert v3.at() == {"impl"}, "not in a row"


def test_content_that_nobody_knows_proves_nothing(v3: "Grove") -> None:
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry", tree="")
    v3.says("", "impl", "RequestRetry", tree="")
    assert v3.at() == {"impl"}


def test_a_parent_may_give_the_same_answer_to_another_question(family: "Grove") -> None:
    """D08 watches who asks: the same question on the same content is no progress."""
    family.says("a", "scaffold", "ClarificationNeeded", question="Ints?", tree="t")
    family.says("a", "answer", "Answered", answer="Yes.", tree="p")
    family.says("a", "scaffold", "ClarificationNeeded", question="Signed?", tree="t")
    family.says("a", "answer", "Answered", answer="Yes.", tree="p")
    assert family.at("a") == {"scaffold"}
    family.says("a", "scaffold", "ClarificationNeeded", question="Signed?", tree="t")
    assert family.of("a").outcome == "failed"
    assert family.of("a").why["kind"] == "no_progress"


def with_edge(protocol: p.Protocol, edge: p.Edge) -> p.Protocol:
    """A way before all others of its exit."""
    return replace(protocol, edges=(edge, *protocol.edges))


def test_an_instance_that_waits_for_nobody_fails_and_says_for_what_it_waited(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    """D15: silence is the commonest complaint; the parent hears of it."""
    forgetful = p.Edge(
        "scaffold", "InitWork", (T("write_tests"), T("ready")), (p.Guard("parent", "filled"),)
    )
    grove = grove_of(with_edge(v3_protocol, forgetful)).start()
    grove.plan("", "a")
    grove.plan("a")
    grove.says("a", "write_tests", "TestsReady")
    grove.git("a", "integrate")
    waits = {"a/ready#1": ["contract.clean"]}
    assert grove.of("a").outcome == "failed"
    assert grove.of("a").why == {"kind": "Deadlock", "payload": {"waits": waits}}
    assert grove.at() == {"scaffold"}
    [failed] = grove.request("", "scaffold").values["revision"]["payload"]["failed"]
    assert failed["why"]["payload"]["waits"] == waits


def test_a_deadlock_ends_whoever_lives_below_it(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    """D15: nobody merges into a branch that is over."""
    lonely = p.Edge("write_tests", "InvalidScaffold", (T("ready"),), is_alone=True)
    grove = grove_of(with_edge(v3_protocol, lonely)).start()
    grove.plan("", "a", "b")
    grove.plan("a", "x")
    grove.says("a", "write_tests", "InvalidScaffold")
    assert grove.of("a").outcome == "failed"
    assert grove.of("a.x").outcome == "abandoned"
    assert grove.at() == {"children", "write_tests", "ready"}
    grove.says("", "write_tests", "InvalidScaffold")
    assert grove.state.outcome == "failed"
    assert grove.of("b").outcome == "abandoned"
    assert not grove.state.positions
    grove.let_go()
    assert not grove.state.in_hand


def test_who_waits_for_a_living_child_is_not_deadlocked(family: "Grove") -> None:
    assert family.at() == {"children", "ready"}
    assert not [hand for hand in family.state.in_hand.values() if "/" not in hand.position]
    assert family.of("").outcome == ""


def test_memory_is_written_by_edges_only(v3: "Grove") -> None:
    """D32: what an agent would like to have remembered is not asked."""
    v3.plan()
    v3.git("", "contract")
    v3.says("", "write_tests", "TestsReady", testFiles=["tests/a.py"], pendingCriteria=["x-1"])
    assert v3.recall("", "memory.pendingTests") == {"value": ["tests/a.py"]}
    v3.git("", "integrate")
    v3.says("", "impl", "TestsPassed", passedTests=["t1"], coveredCriteria=["all"])
    assert v3.recall("", "memory.passedTests") == {"value": ["t1"]}
    assert v3.request("", "review").values["memory"] == {
        "coveredCriteria": ["x-1"],
        "pendingTests": ["tests/a.py"],
    }
    v3.says("", "review", "MoreTests")
    v3.says("", "impl", "TestsPassed", passedTests=["t1", "t2"])
    assert v3.recall("", "memory.coveredCriteria") == {"value": ["x-1"]}, "each once"
