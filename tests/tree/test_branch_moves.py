"""What the engine does with branches, and what it refuses to do."""

import pytest

from porch.tree import settled_worktrees
from tests.tree.conftest import IMPL, SCAFFOLD, TESTS, TO_REVIEW, TO_TESTS, Bench

CLASH = {
    "conflictFile": "src/sum.txt",
    "ourChange": "numbers",
    "theirChange": "mine",
    "whyUnresolvable": "both wrote it",
}


def test_integrating_the_same_tests_twice_is_one_commit(bench: Bench) -> None:
    """MODEL.md section 5: looked for by its trailer, and adopted."""
    bench.until("scaffold", "contract", "write_tests")
    request = bench.wanted("integrate")
    first, second = bench.perform(request), bench.perform(request)
    assert first.exit == second.exit == "clean"
    assert first.payload == second.payload
    log = bench.git("log", "--format=%s", "porch/v3_sum").splitlines()
    assert log.count("test(sum): what must hold") == 1


def test_tests_that_conflict_with_the_branch_go_back_to_the_planner(bench: Bench) -> None:
    bench.until("scaffold", "contract", "write_tests")
    bench.save("tests/sum/there.sh", "something else\n", at=bench.main)
    fact = bench.do("integrate")
    assert fact.exit == "conflict"
    assert "the tests conflict with the branch in tests/sum/there.sh" in fact.payload["details"]
    assert bench.wanted("scaffold").visit == 2


def test_what_was_not_approved_is_not_merged(bench: Bench) -> None:
    """D12: an approval is for one patch."""
    bench.until(*TO_REVIEW)
    bench.save("src/more.txt", "nobody has seen this\n", at=bench.main)
    fact = bench.do("candidate")
    assert fact.exit == "refused"
    assert "is not what was approved" in fact.payload["details"]
    assert bench.wanted("impl").visit == 2


def test_an_approval_survives_a_target_that_moved_elsewhere(bench: Bench) -> None:
    """D12: the same patch on another base is the same patch."""
    bench.until(*TO_REVIEW)
    bench.save("elsewhere.txt", "main moves\n")
    fact = bench.do("candidate")
    assert fact.exit == "clean"
    assert fact.payload["old"] == bench.git("rev-parse", "main")
    assert bench.git("rev-parse", f"{fact.payload['commit']}^") == fact.payload["old"]
    assert bench.git("log", "-1", "--format=%s", "main") == "say elsewhere.txt"


def test_a_candidate_that_conflicts_with_its_target_goes_back_to_impl(bench: Bench) -> None:
    bench.until(*TO_REVIEW)
    bench.save("src/sum.txt", "mine\n")
    fact = bench.do("candidate")
    assert fact.exit == "conflict"
    assert fact.payload["reason"] == "IntegrationFailure"
    assert "it conflicts with main in src/sum.txt" in fact.payload["details"]
    bench.until("update")
    bench.do("rebase", {"exit": "RebaseConflict", "payload": CLASH})
    asked = bench.wanted("impl")
    bench.do(
        "impl", {**IMPL, "exit": "Stuck", "payload": {"diagnosis": "x", "recommendation": "y"}}
    )
    assert "`RebaseConflict`" in bench.prompt(asked)
    assert "both wrote it" in bench.prompt(asked)


@pytest.mark.req("V-062")
def test_a_candidate_that_does_not_build_or_is_red_is_refused(bench: Bench) -> None:
    """D31: (a) the build, (b) its own tests."""
    bench.until(*TO_REVIEW)
    request = bench.wanted("candidate")
    build = {**bench.world.settings.commands, "build": "echo cannot link; exit 1"}
    bench.setting(commands=build)
    broken = bench.perform(request)
    assert (broken.exit, broken.payload["reason"]) == ("refused", "BuildFailure")
    assert "cannot link" in broken.payload["details"]
    bench.setting(commands={"test": bench.world.settings.commands["test"]})
    # Green where it was written, red on top of what the target has now.
    bench.save("tests/sum/strict.sh", "test ! -f src/sum.txt\n")
    red = bench.perform(request)
    assert (red.exit, red.payload["reason"]) == ("refused", "ContractViolation")
    assert red.payload["failingTests"] == ["tests::strict"]


def test_what_passed_on_the_target_must_go_on_passing(bench: Bench) -> None:
    """D31: (c), relative; what was red there before is not the child's fault."""
    bench.until(*TO_REVIEW)
    bench.save("tests/other/old.sh", "test ! -f src/sum.txt\n")
    bench.save("tests/other/red.sh", "false\n")
    fact = bench.do("candidate")
    assert (fact.exit, fact.payload["reason"]) == ("refused", "IntegrationFailure")
    assert fact.payload["details"] == "tests::old passed before and now fails"


def test_a_target_that_moved_after_the_candidate_is_built_upon_again(bench: Bench) -> None:
    """D33: compare and swap; nobody is asked."""
    bench.until(*TO_REVIEW, "candidate", "merger")
    bench.save("elsewhere.txt", "main moves\n")
    fact = bench.do("publish")
    assert fact.exit == "conflict"
    assert "main has moved" in fact.payload["reason"]
    bench.until("update", "candidate", "merger", "publish")
    assert bench.rig.state.outcome == "complete"
    log = bench.git("log", "--format=%s", "main").splitlines()
    assert log == ["feat(sum): implement", "say elsewhere.txt", "start"]


def test_publishing_again_what_is_published_is_done_already(bench: Bench) -> None:
    """MODEL.md section 7: looking again after a crash."""
    bench.until(*TO_REVIEW, "candidate", "merger")
    request = bench.wanted("publish")
    assert bench.perform(request).exit == "clean"
    assert bench.perform(request).exit == "clean"
    assert bench.git("rev-list", "--count", "main") == "2"


def test_a_checkout_with_changes_of_a_person_is_not_touched(bench: Bench) -> None:
    bench.until(*TO_REVIEW, "candidate", "merger")
    bench.write("README.md", "being edited\n")
    fact = bench.do("publish")
    assert fact.exit == "refused"
    assert "then answer this question" in fact.payload["reason"]
    assert "README.md" in fact.payload["reason"]
    assert (bench.root / "README.md").read_text() == "being edited\n"
    assert [d.name for d in bench.rig.state.decisions.values()] == []
    assert bench.wanted("blocked").kind == "ask"


def test_without_children_there_is_no_contract_to_run(bench: Bench) -> None:
    bench.until("scaffold")
    fact = bench.do("contract")
    assert (fact.exit, fact.payload) == ("clean", {"report": ""})


def test_unsaved_work_is_kept_when_worktrees_are_put_away(bench: Bench) -> None:
    """D49: archive before delete, salvage before that."""
    bench.until(*TO_REVIEW, "candidate", "merger", "publish")
    bench.write(f"{bench.main}/left.txt", "forgotten\n")
    gone = settled_worktrees.remove_finished_worktrees(bench.world)
    assert gone == ["porch/v3_sum--tests", "porch/v3_sum"]
    assert not (bench.root / bench.main).exists()
    assert bench.git("show", "refs/porch/salvage/porch/v3_sum:left.txt") == "forgotten"
    assert settled_worktrees.remove_finished_worktrees(bench.world) == []


def test_while_a_run_goes_on_nothing_is_put_away(bench: Bench) -> None:
    bench.until(*TO_TESTS)
    assert settled_worktrees.remove_finished_worktrees(bench.world) == []
    assert (bench.root / bench.main).exists()


def test_an_agent_may_find_everything_green_and_change_nothing(bench: Bench) -> None:
    """D28: TestsPassed without a commit of its own."""
    bench.do("scaffold", SCAFFOLD)
    bench.do("contract")
    bench.do("write_tests", TESTS)
    bench.do("integrate")
    head = bench.save("src/sum.txt", "by somebody else\n", at=bench.main)
    fact = bench.do("impl", {**IMPL, "write": {}})
    assert fact.payload["commitHash"] == head
