"""Every row of V3's table of edges and of its table of waits, in the order of the tables."""

from typing import TYPE_CHECKING, Literal

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine.wishes import find_refusal
from porch.model import protocol as p

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove


@pytest.mark.req("V-027", "V-072")
def test_scaffold_init_work_leads_to_tests_children_and_a_waiting_impl(v3: "Grove") -> None:
    """D05: what really runs side by side is the writing of tests and the children."""
    v3.plan("", "a", "b")
    assert v3.at() == {"children", "write_tests", "ready"}
    assert v3.at("a") == v3.at("b") == {"scaffold"}
    assert v3.runs("", "write_tests")
    assert v3.runs("a", "scaffold")
    assert v3.runs("b", "scaffold")
    assert not v3.runs("", "ready")


@pytest.mark.req("V-073")
def test_scaffold_clarification_needed_suspends_and_asks_the_planner_of_the_parent(
    family: "Grove",
) -> None:
    """D10: the instance that asked goes on with the answer; it does not end."""
    family.says("a", "scaffold", "ClarificationNeeded", question="Which?")
    assert family.at("a") == {"answer"}
    asked = family.request("a", "answer")
    assert asked.values["question"]["question"] == "Which?"
    assert asked.values["spec"]["id"] == "root"
    assert asked.values["childSpec"]["id"] == "a"
    family.says("a", "answer", "Answered", answer="This one.")
    assert family.at("a") == {"scaffold"}
    revision = family.request("a", "scaffold").values["revision"]
    assert revision == {"kind": "Answered", "payload": {"answer": "This one."}}


@pytest.mark.req("V-073")
def test_scaffold_clarification_needed_at_the_root_asks_a_person(v3: "Grove") -> None:
    """D10: a root has no parent."""
    v3.says("", "scaffold", "ClarificationNeeded")
    assert v3.at() == {"ask"}
    v3.decide("", "ask", "answered", "Both.")
    assert v3.at() == {"scaffold"}
    revision = v3.request("", "scaffold").values["revision"]
    assert revision == {"kind": "answered", "payload": {"text": "Both.", "by": "ada"}}
    assert not v3.state.spent.get("epochs")


def test_a_parent_that_cannot_answer_passes_the_question_up_to_a_person(family: "Grove") -> None:
    """D10: parent's planner first, then the inbox of people."""
    family.says("a", "scaffold", "ClarificationNeeded")
    family.says("a", "answer", "PassUp")
    assert family.at("a") == {"ask"}
    family.decide("a", "ask", "stopped")
    assert family.of("a").outcome == "failed"
    assert family.of("a").why["kind"] == "ClarificationNeeded"


def test_a_revised_answer_reaches_the_planner_that_asked(family: "Grove") -> None:
    family.says("a", "scaffold", "ClarificationNeeded")
    family.says("a", "answer", "Revised")
    asked = family.request("a", "scaffold")
    assert asked.values["revision"]["kind"] == "Revised"
    assert asked.about.spec["acceptanceCriteria"] == [{"id": "new-1", "text": "thus"}]
    family.plan("a")
    family.says("a", "write_tests", "InvalidScaffold")
    assert family.request("a", "scaffold").values["revision"]["kind"] == "InvalidScaffold"


@pytest.mark.req("V-074")
def test_tdd_tests_ready_leads_to_impl_once_the_tests_are_integrated(v3: "Grove") -> None:
    """D20: tests have a branch of their own, which the engine brings over."""
    v3.plan()
    v3.git("", "contract")
    v3.says("", "write_tests", "TestsReady", testFiles=["tests/new.py"])
    assert v3.at() == {"integrate", "ready"}
    assert v3.request("", "integrate").values["write_tests.TestsReady.testFiles"] == [
        "tests/new.py"
    ]
    v3.git("", "integrate")
    assert v3.at() == {"impl"}
    assert v3.request("", "impl").values["testsReady"]["testFiles"] == ["tests/new.py"]


@pytest.mark.req("V-075")
def test_tdd_invalid_scaffold_goes_back_to_scaffold_in_a_new_epoch(v3: "Grove") -> None:
    """D06: re-entry stops this instance's own states and says why."""
    v3.plan("", "a")
    v3.says("", "write_tests", "InvalidScaffold", missingType="Tree")
    assert v3.at() == {"scaffold"}
    assert v3.at("a") == {"scaffold"}
    assert v3.state.spent["epochs"] == 1
    revision = v3.request("", "scaffold").values["revision"]
    assert revision["kind"] == "InvalidScaffold"
    assert revision["payload"]["missingType"] == "Tree"


def test_tests_that_cannot_be_integrated_go_back_to_the_planner(v3: "Grove") -> None:
    v3.plan()
    v3.git("", "contract")
    v3.says("", "write_tests", "TestsReady")
    v3.git("", "integrate", "conflict")
    assert v3.at() == {"scaffold"}


def test_an_integration_that_cannot_be_done_at_all_asks_a_person_at_the_root(v3: "Grove") -> None:
    v3.plan()
    v3.git("", "contract")
    v3.says("", "write_tests", "TestsReady")
    v3.git("", "integrate", "refused")
    assert "person" in v3.at()


@pytest.mark.req("V-076")
def test_tdd_approved_leads_to_the_merge(v3: "Grove") -> None:
    """D33: a verified candidate comes first, so that nobody judges what cannot be merged."""
    v3.goes("", "review")
    v3.says("", "review", "Approved", signOff="well done")
    assert v3.at() == {"candidate"}
    v3.git("", "candidate")
    assert v3.at() == {"merger"}
    seen = v3.request("", "merger").values
    assert seen["tddApproval"]["signOff"] == "well done"
    assert seen["parentNode"] == {"nodeId": "main", "branch": "main"}
    assert seen["childNode"] == {"nodeId": "root", "branch": "b"}


def test_an_approved_root_without_a_target_is_done_with_its_branch(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    """D36: merging into a branch of a person needs to be asked for."""
    grove = grove_of(v3_protocol).start(into="").goes("", "review")
    grove.says("", "review", "Approved")
    assert grove.state.outcome == "complete"
    assert "candidate" not in grove.entered("")


@pytest.mark.req("V-077")
def test_tdd_more_tests_leads_to_write_tests_with_what_is_asked_for(v3: "Grove") -> None:
    """D03: critiques reach the next Impl, whichever way it is come to."""
    v3.goes("", "review")
    more = [{"criterionId": "x-1", "plannedTestName": "again", "approach": ""}]
    v3.says("", "review", "MoreTests", additionalTests=more)
    assert v3.at() == {"write_tests"}
    seen = v3.request("", "write_tests").values
    assert seen["additionalTests"] == more
    assert seen["critiques"] == [{"issue": "slow"}]
    v3.goes("", "impl")
    assert v3.request("", "impl").values["critiqueList"] == [{"issue": "slow"}]
    v3.says("", "impl", "TestsPassed")
    assert v3.recall("", "review.MoreTests") is None


@pytest.mark.req("V-077")
def test_tdd_more_tests_without_tests_leads_to_impl(v3: "Grove") -> None:
    """D03."""
    v3.goes("", "review")
    v3.says("", "review", "MoreTests")
    assert v3.at() == {"impl"}
    assert v3.request("", "impl").values["critiqueList"] == [{"issue": "slow"}]
    assert v3.state.spent["rounds"] == 1


@pytest.mark.req("V-078")
def test_tdd_reject_of_a_child_ends_it_and_tells_its_parent(family: "Grove") -> None:
    """D14: the parent hears first; it can plan anew at no cost to a person."""
    for name in "bc":
        family.goes(name)
    family.goes("a", "review")
    family.says("a", "review", "Reject", reason="unsound")
    assert family.of("a").outcome == "failed"
    assert family.of("a").why["payload"]["reason"] == "unsound"
    assert family.at() == {"scaffold"}
    assert not family.state.decisions


@pytest.mark.req("V-078")
def test_tdd_reject_at_the_root_asks_a_person(v3: "Grove") -> None:
    """D14."""
    v3.goes("", "review")
    v3.says("", "review", "Reject")
    assert v3.at() == {"person"}
    v3.decide("", "person", "stopped")
    assert v3.state.outcome == "failed"
    assert v3.of("").why["kind"] == "Reject"


@pytest.mark.req("V-079")
def test_impl_tests_passed_leads_to_a_review_of_what_was_measured(v3: "Grove") -> None:
    """D02: the review is a state of its own, with exits of its own."""
    v3.goes("", "impl")
    v3.says("", "impl", "TestsPassed", commitHash="c1")
    assert v3.at() == {"review"}
    asked = v3.request("", "review")
    assert asked.values["implResult"]["commitHash"] == "c1"
    assert {exit_.name for exit_ in asked.exits} == {"Approved", "MoreTests", "Reject"}
    assert v3.recall("", "engine.evidence")["value"][0]["report"] == "impl"


@pytest.mark.req("V-080")
def test_impl_request_retry_leads_to_impl_again(v3: "Grove") -> None:
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry", strategyTo="another way")
    assert v3.at() == {"impl"}
    assert v3.entered("").count("impl") == 2
    seen = v3.request("", "impl").values
    assert seen["attemptCount"] == 2
    assert seen["memory"]["attemptHistory"][0]["strategyTo"] == "another way"


@pytest.mark.req("V-081")
def test_impl_blocked_dependency_leads_to_scaffold(v3: "Grove") -> None:
    """D06."""
    v3.goes("", "impl")
    v3.says("", "impl", "BlockedDependency", missingSymbol="parse")
    assert v3.at() == {"scaffold"}
    revision = v3.request("", "scaffold").values["revision"]
    assert (revision["kind"], revision["payload"]["missingSymbol"]) == (
        "BlockedDependency",
        "parse",
    )


@pytest.mark.req("V-082")
def test_impl_spec_ambiguity_leads_to_scaffold(v3: "Grove") -> None:
    """D06, D11: also the lawful way to say that a test is wrong."""
    v3.goes("", "impl")
    v3.says("", "impl", "SpecAmbiguity", contradictionTrace="test_x against AC-1")
    assert v3.at() == {"scaffold"}
    revision = v3.request("", "scaffold").values["revision"]
    assert revision["payload"]["contradictionTrace"] == "test_x against AC-1"


@pytest.mark.req("V-083")
def test_impl_stuck_of_a_child_goes_to_its_parent(family: "Grove") -> None:
    """D14: parent first."""
    family.goes("a", "impl")
    family.says("a", "impl", "Stuck", diagnosis="cannot")
    assert family.of("a").outcome == "failed"
    assert family.of("a").why == {
        "kind": "Stuck",
        "payload": {"diagnosis": "cannot", "recommendation": "r", "attempts": 1},
    }
    assert "children" in family.at()


@pytest.mark.req("V-083")
def test_impl_stuck_at_the_root_asks_a_person_who_may_have_it_planned_anew(v3: "Grove") -> None:
    """D14."""
    v3.goes("", "impl")
    v3.says("", "impl", "Stuck")
    assert v3.at() == {"person"}
    v3.decide("", "person", "answered", "Use a list.")
    assert v3.at() == {"scaffold"}
    assert v3.request("", "scaffold").values["revision"]["payload"]["text"] == "Use a list."


@pytest.mark.req("V-084")
def test_merger_merge_complete_reaches_the_parent_and_the_siblings(family: "Grove") -> None:
    """D19, D34, D35: judged by the parent, published by the engine, then told to siblings."""
    family.goes("a", "merger")
    family.says("a", "merger", "MergeComplete", author="a", changes=[{"symbol": "f"}])
    assert family.at("a") == {"judge"}
    family.says("a", "judge", "Accepted")
    family.git("a", "publish", commit="new-head")
    assert family.of("a").outcome == "complete"
    assert family.of("a").merged["changes"] == [{"symbol": "f"}]
    for sibling in "bc":
        told = family.recall(sibling, "engine.update")
        assert (told["newParentHead"], told["author"]) == ("new-head", "a")
    assert family.recall("", "engine.update") is None
    for name in "bc":
        family.goes(name)
    family.git("", "contract")
    merged = family.request("", "impl").values["childMerges"]
    assert [each["changes"] for each in merged] == [[{"symbol": "f"}], [], []]


@pytest.mark.req("V-085")
def test_merger_merge_rejected_leads_to_impl_with_the_reason(v3: "Grove") -> None:
    """D09: charges merges, begins a new chain of attempts."""
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry")
    v3.goes("", "merger")
    v3.says("", "merger", "MergeRejected", details="it does not build")
    assert v3.at() == {"impl"}
    rejection = v3.request("", "impl").values["rejection"]
    assert rejection["kind"] == "MergeRejected"
    assert rejection["payload"]["details"] == "it does not build"
    assert (v3.state.spent["merges"], v3.state.spent["attempts"]) == (1, 0)


@pytest.mark.req("V-097")
def test_a_judge_who_rejects_sends_the_child_back_to_impl(family: "Grove") -> None:
    """D35: before anything is published."""
    family.goes("a", "judge")
    judge = family.request("a", "judge")
    assert judge.ask.of_parent
    assert judge.values["childSpec"]["acceptanceCriteria"][0]["id"] == "a-1"
    assert judge.values["siblings"] == []
    family.says("a", "judge", "Rejected", details="not what was agreed")
    assert family.at("a") == {"impl"}
    rejection = family.request("a", "impl").values["rejection"]
    assert rejection["payload"]["details"] == "not what was agreed"
    assert family.state.spent["a/merges"] == 1


@pytest.mark.parametrize("exit_", ["conflict", "refused"])
def test_a_candidate_that_cannot_stand_goes_back_to_impl(v3: "Grove", exit_: str) -> None:
    """D09, D31."""
    v3.goes("", "candidate")
    v3.git("", "candidate", exit_)  # type: ignore[arg-type]
    assert v3.at() == {"impl"}
    assert v3.request("", "impl").values["rejection"]["kind"] == exit_
    v3.says("", "impl", "TestsPassed")
    assert v3.at() == {"review"}
    v3.says("", "review", "MoreTests")
    assert v3.request("", "impl").values["rejection"] is None


def test_a_target_that_moved_meanwhile_is_merged_again_from_its_new_head(v3: "Grove") -> None:
    """D33: a lost swap is rebuilt, up to a number of times."""
    v3.goes("", "publish")
    v3.git("", "publish", "conflict")
    assert v3.at() == {"candidate"}
    assert v3.state.spent["rebuilds"] == 1


def test_a_target_that_a_person_has_in_use_asks_them(v3: "Grove") -> None:
    v3.goes("", "publish")
    v3.git("", "publish", "refused")
    assert v3.at() == {"blocked"}
    v3.decide("", "blocked", "retry")
    assert v3.at() == {"candidate"}
    v3.goes("", "publish")
    v3.git("", "publish", "refused")
    v3.decide("", "blocked", "stopped")
    assert v3.state.outcome == "failed"


@pytest.fixture
def updating(family: "Grove") -> "Grove":
    """A sibling merged while `b` implemented."""
    family.goes("b", "impl")
    family.goes("a")
    family.says("b", "impl", "TestsPassed")
    assert family.at("b") == {"update"}
    return family


@pytest.fixture
def rebasing(updating: "Grove") -> "Grove":
    """The update of `b` before its review conflicts."""
    updating.git("b", "update", "conflict")
    assert updating.at("b") == {"rebase"}
    return updating


@pytest.fixture
def clashing(family: "Grove") -> "Grove":
    """A sibling merged while `b` waited at its candidate, which conflicts with that."""
    family.goes("a", "candidate").goes("b", "candidate").goes("a")
    family.git("b", "candidate", "conflict")
    assert family.at("b") == {"update"}
    return family


@pytest.mark.parametrize("refused", ["conflict", "refused"])
def test_e7_what_meets_a_sibling_at_the_candidate_is_updated_before_anybody_is_paid(
    family: "Grove", refused: Literal["conflict", "refused"]
) -> None:
    """E7"""
    family.goes("a", "candidate").goes("b", "candidate").goes("a")
    family.git("b", "candidate", refused)
    assert family.at("b") == {"update"}
    family.git("b", "update")
    assert family.at("b") == {"candidate"}
    assert "b/merges" not in family.state.spent
    # Nothing came meanwhile: now it is the work that does not fit.
    family.git("b", "candidate", refused)
    assert family.at("b") == {"impl"}
    assert family.state.spent["b/merges"] == 1
    assert family.request("b", "impl").values["rejection"]["kind"] == refused


@pytest.mark.parametrize("exit_", ["RebaseClean", "RebaseAdapted"])
def test_e7_a_rebase_at_the_candidate_leads_to_a_review_and_not_to_an_implementation(
    clashing: "Grove", exit_: str
) -> None:
    """E7"""
    clashing.git("b", "update", "conflict")
    clashing.says("b", "rebase", exit_)
    assert clashing.at("b") == {"review"}
    assert "b/merges" not in clashing.state.spent
    clashing.says("b", "review", "MoreTests", additionalTests=[])
    # That conflict is over, and nobody is told of it.
    assert clashing.request("b", "impl").values["rejection"] is None


@pytest.mark.req("V-086")
def test_rebaser_rebase_clean_resumes_what_was_due(rebasing: "Grove") -> None:
    """D16: history, not always TDD."""
    rebasing.says("b", "rebase", "RebaseClean")
    assert rebasing.at("b") == {"review"}
    assert rebasing.recall("b", "engine.update") is None
    assert rebasing.recall("b", "engine.due") is None


@pytest.mark.req("V-087")
def test_rebaser_rebase_adapted_resumes_what_was_due_and_renews_an_approval(
    rebasing: "Grove",
) -> None:
    """D12, D16: content that an agent adapted was approved by nobody."""
    rebasing.says("b", "rebase", "RebaseAdapted")
    assert rebasing.at("b") == {"review"}
    rebasing.goes("c")
    rebasing.says("b", "review", "Approved")
    assert rebasing.at("b") == {"update"}
    rebasing.git("b", "update", "refused")
    rebasing.says("b", "rebase", "RebaseAdapted")
    assert rebasing.at("b") == {"review"}


@pytest.mark.req("V-088")
@pytest.mark.parametrize("file", ["src/api.py", "tests/contract", "tests/contract/test_x.py"])
def test_rebaser_rebase_conflict_in_what_the_planner_owns_leads_to_scaffold(
    updating: "Grove", file: str
) -> None:
    """D17, E7: by the owner of any of the files that conflict, whatever the agent names."""
    updating.git("b", "update", "conflict", files=["src/b/x.py", file])
    updating.says("b", "rebase", "RebaseConflict", conflictFile="src/b/x.py")
    assert updating.at("b") == {"scaffold"}
    assert updating.request("b", "scaffold").values["revision"]["kind"] == "RebaseConflict"
    assert updating.state.spent["b/epochs"] == 1


def test_e7_a_regression_conflicts_in_no_file_though_an_earlier_update_did(
    updating: "Grove",
) -> None:
    """E7"""
    updating.git("b", "update", "conflict", files=["src/api.py"])
    updating.says("b", "rebase", "RebaseClean")
    updating.goes("c")
    updating.says("b", "review", "Approved")
    updating.git("b", "update", "refused")
    updating.says("b", "rebase", "RebaseConflict", conflictFile="src/api.py")
    assert updating.at("b") == {"impl"}


@pytest.mark.req("V-088")
def test_rebaser_rebase_conflict_elsewhere_leads_to_impl(rebasing: "Grove") -> None:
    """D17: planning anew for a clash inside a function would be waste."""
    rebasing.says("b", "rebase", "RebaseConflict", conflictFile="src/b/x.py")
    assert rebasing.at("b") == {"impl"}
    assert rebasing.request("b", "impl").values["rejection"]["kind"] == "RebaseConflict"
    assert rebasing.state.spent["b/rounds"] == 1


@pytest.mark.req("V-089")
def test_impl_waits_for_tests_ready_and_for_all_children_to_be_settled(v3: "Grove") -> None:
    """D04, D13: settled, not merged; no process of Impl exists before."""
    v3.plan("", "a", "b")
    v3.goes("a")
    v3.says("", "write_tests", "TestsReady")
    v3.git("", "integrate")
    assert v3.at() == {"children", "ready"}
    v3.goes("b")
    assert v3.at() == {"contract", "ready"}
    assert not any("impl" in hand.position for hand in v3.state.in_hand.values())
    v3.git("", "contract", report="both green")
    assert v3.at() == {"impl"}
    assert v3.request("", "impl").values["contract"] == "both green"


@pytest.mark.req("V-089")
def test_the_second_round_waits_for_its_tests_and_not_again_for_the_children(v3: "Grove") -> None:
    """D04: tests are armed anew each round, children stay settled for the epoch."""
    v3.plan("", "a")
    v3.goes("a")
    v3.goes("", "review")
    more = [{"criterionId": "x-1", "plannedTestName": "n", "approach": ""}]
    v3.says("", "review", "MoreTests", additionalTests=more)
    v3.says("", "write_tests", "TestsReady", testFiles=["tests/second.py"])
    assert v3.at() == {"integrate"}
    v3.git("", "integrate")
    assert v3.at() == {"impl"}
    assert v3.request("", "impl").values["testsReady"]["testFiles"] == ["tests/second.py"]
    assert v3.entered("").count("children") == 1


@pytest.mark.req("V-090")
def test_merger_waits_for_approved(v3: "Grove") -> None:
    v3.goes("", "review")
    assert not {"candidate", "merger"} & set(v3.entered(""))
    v3.says("", "review", "MoreTests")
    assert not {"candidate", "merger"} & set(v3.entered(""))
    v3.goes("", "merger")
    assert v3.entered("")[-3:] == ["review", "candidate", "merger"]


@pytest.mark.req("V-091")
def test_rebaser_waits_for_the_broadcast_of_a_sibling(family: "Grove") -> None:
    """D16, D18: and the engine tries by itself before it asks an agent."""
    family.goes("b", "candidate")
    assert not {"update", "rebase"} & set(family.entered("b"))
    family.goes("c", "impl")
    family.goes("b")
    family.says("c", "impl", "TestsPassed")
    assert family.at("c") == {"update"}
    family.git("c", "update")
    assert family.at("c") == {"review"}
    assert "rebase" not in family.entered("c")


@pytest.mark.req("V-101")
def test_there_is_no_separate_judge_but_the_parents_own_role(v3_protocol: p.Protocol) -> None:
    """D35: a mode of the test author, in a fork of the parent's conversation."""
    judge = v3_protocol.states["judge"].actor
    assert isinstance(judge, p.Agent)
    assert judge.ask
    assert (judge.role, judge.ask.of_parent) == ("tests", True)
    roles = {s.actor.role for s in v3_protocol.states.values() if isinstance(s.actor, p.Agent)}
    assert roles == {"planner", "tests", "impl", "merger"}


@pytest.mark.parametrize("state", ["scaffold", "write_tests", "impl", "review", "merger"])
def test_an_agent_that_cannot_be_had_asks_a_person_at_the_root(v3: "Grove", state: str) -> None:
    """D43: infrastructure charges no attempt, and is bounded."""
    if state == "write_tests":
        v3.plan()
        v3.git("", "contract")
    elif state != "scaffold":
        v3.goes("", state)
    v3.tell(f.EffectFailed(effect=v3.held("", state), why="crashed", hopeless=True))
    assert "person" in v3.at()
    assert not any(v3.state.spent.values())


def test_what_ended_a_child_is_told_even_where_an_older_reason_is_remembered(
    family: "Grove",
) -> None:
    """D14: the planner must not hear of a question that was answered long ago."""
    family.says("a", "scaffold", "ClarificationNeeded")
    family.says("a", "answer", "Answered")
    family.goes("a", "impl")
    family.tell(f.EffectFailed(effect=family.held("a", "impl"), why="no such model", hopeless=True))
    assert family.of("a").why["kind"] == "exhausted"
    assert "no such model" in family.of("a").why["payload"]["reason"]


def test_a_way_may_depend_on_a_literal(v3_protocol: p.Protocol, grove_of: "type[Grove]") -> None:
    breaking = p.Guard("merger.MergeComplete.impactLevel", "equals", "Breaking")
    careful = p.Edge("merger", "MergeComplete", (p.Target("person"),), (breaking,))
    grove = grove_of(replace(v3_protocol, edges=(careful, *v3_protocol.edges))).start()
    grove.plan("", "a", "b")
    grove.goes("a", "merger")
    grove.says("a", "merger", "MergeComplete", impactLevel="Breaking")
    assert grove.at("a") == {"person"}
    grove.goes("b", "merger")
    grove.says("b", "merger", "MergeComplete")
    assert grove.at("b") == {"judge"}


def test_people_cannot_answer_for_an_agent_nor_send_a_tree_back(v3: "Grove") -> None:
    place = v3.place("", "scaffold")
    done = find_refusal(
        v3.protocol, v3.state, f.Wish(id="w", kind="done", position=place, exit="InitWork")
    )
    assert done is not None
    assert "not by hand" in done.reason
    back = find_refusal(
        v3.protocol, v3.state, f.Wish(id="v", kind="rollback", data={"state": "scaffold"})
    )
    assert back is not None
    assert "cannot go back" in back.reason


def test_an_exit_that_leads_nowhere_is_a_failed_try_and_not_an_answer(v3: "Grove") -> None:
    v3.says("", "scaffold", "Surprise")
    assert v3.at() == {"scaffold"}
    assert v3.recall("", "last.scaffold") is None
    assert "has no next step" in v3.state.marked(v3.place("", "scaffold"), "failure")


def test_a_move_of_branches_that_cannot_be_done_is_told_in_the_words_of_its_state(
    rebasing: "Grove",
) -> None:
    rebasing.says("b", "rebase", "RebaseClean")
    rebasing.goes("b", "candidate")
    rebasing.tell(
        f.EffectFailed(effect=rebasing.held("b", "candidate"), why="no disk", hopeless=True)
    )
    refused = rebasing.request("b", "impl").values["rejection"]["payload"]
    assert {"reason", "details", "failingTests"} <= refused.keys()
    rebasing.goes("c")
    rebasing.says("b", "impl", "TestsPassed")
    rebasing.tell(f.EffectFailed(effect=rebasing.held("b", "update"), why="no disk", hopeless=True))
    trouble = rebasing.request("b", "rebase").values["trouble"]
    assert trouble["payload"]["report"] == "no disk"
    rebasing.says("b", "rebase", "RebaseClean")
    assert rebasing.at("b") == {"review"}


FILES = """\
document: {name: files}
spec: Task
types: {Task: {id: Text, places: "[FilePath]"}}
supervision: {silent: out, exhausted: out, no_progress: out}
states:
  work: {role: r, template: t, exits: {Done: {files: "[FilePath]"}}}
  inside: {end: complete}
  out: {end: failed}
edges:
  work.Done: [{when: files within instance.spec.places, to: inside}, {to: out}]
"""


@pytest.mark.parametrize(
    "files, outcome",
    [
        (["src/a.py"], "complete"),
        (["src/a.py", "docs/b.md"], "complete"),
        (["src/a.py", "other.py"], "failed"),
        ([], "failed"),
    ],
)
def test_t8_several_files_are_within_if_all_of_them_are(
    grove_of: "type[Grove]", files: list[str], outcome: str
) -> None:
    from tests.machine.instances.conftest import read_graph

    grove = grove_of(read_graph(FILES)).start_with({"id": "x", "places": ["src", "docs"]})
    grove.says("", "work", "Done", files=files)
    assert grove.state.outcome == outcome
