"""One instance alone: from a spec to a tested, reviewed branch, merged or left to people."""

import hashlib
import json
from collections.abc import Iterator

import pytest

from tests.whole.v3.conftest import ADD, Home, Script, a_home

LONG = "Everything was read. " * 300

# One run for all tests of this file, so they stay together.
pytestmark = pytest.mark.xdist_group("v3-leaf")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, quick_python: str) -> Iterator[Home]:
    """One run that goes well, for all that is said here about it."""
    script = Script().good(ADD)
    review = ADD.review()
    script.say("./review", {**review, "payload": {**review["payload"], "signOff": LONG}})
    with a_home(tmp_path_factory.mktemp("leaf"), quick_python) as home:
        home.run(ADD.spec(), script, "--into", "main")
        yield home


@pytest.mark.req("V-061")
def test_a_finished_leaf_is_one_commit_on_the_branch_that_was_named(built: Home) -> None:
    """D36: the parent of the root is the branch that was asked for, and only then."""
    assert built.log("main") == ["feat(add): implement", "start"]
    assert built.file("main", ADD.target) == ADD.code.strip()
    assert (built.root / ADD.tests).exists()
    assert built.entered() == [
        *("scaffold", "children", "write_tests", "ready", "contract", "integrate", "impl"),
        *("review", "candidate", "merger", "publish"),
    ]
    assert "Porch-Merge: v3_add candidate#1" in built.git("log", "-1", "--format=%B", "main")


@pytest.mark.req("V-004", "V-043")
def test_all_tests_are_one_commit_that_comes_to_the_implementations_branch(built: Home) -> None:
    """D20: written on a branch of their own, brought over by the engine once they were red."""
    assert built.log("refs/porch/archive/porch/v3_add--tests")[:2] == [
        "write_tests(add): TestsReady",
        "scaffold(add): InitWork",
    ]
    assert built.log("refs/porch/archive/porch/v3_add") == [
        "impl(add): TestsPassed",
        "test(add): what must hold",
        "scaffold(add): InitWork",
        "start",
    ]


@pytest.mark.req("V-049")
def test_the_implementer_sees_spec_scaffold_tests_and_attempt(built: Home) -> None:
    prompt = built.prompt("impl#1")
    for part in (ADD.interface, ADD.contract, ADD.tests, "add(1, 2) == 3 holds", "c-add"):
        assert part in prompt
    assert "## Attempt 1 of 5" in prompt
    assert "Child Subsystems" not in prompt
    assert "TDD Feedback" not in prompt


@pytest.mark.req("V-035", "V-047")
def test_the_reviewer_sees_the_result_the_diff_and_what_the_engine_measured(built: Home) -> None:
    """D24: evidence is measured; D25: the diff is the instance's own since the scaffold."""
    prompt = built.prompt("review#1")
    passed = next(f for f in built.facts("ExitAccepted") if f["exit"] == "TestsPassed")
    assert passed["payload"]["commitHash"] in prompt
    assert "+    return a + b" in prompt
    assert ADD.interface not in prompt.partition("## Diff")[2].partition("## Review Protocol")[0]
    assert "- `tests`: **passed**" in prompt
    assert "2 passed" in prompt


@pytest.mark.req("V-059", "V-062")
def test_the_merger_sees_both_sides_the_approval_and_the_contract_suite(built: Home) -> None:
    """D36: at the root the parent is the target branch; D31: verified before anybody is asked."""
    prompt = built.prompt("merger#1")
    assert "- Parent: `main` on `main`" in prompt
    assert "- Child: `add` on `porch/v3_add`" in prompt
    assert "- `c-add`: `test_add` ✓" in prompt
    assert f"passes: `{ADD.contract}`" in prompt
    assert "- `own tests`: **passed**" in prompt
    assert "- `all tests`: **no regression**" in prompt


@pytest.mark.req("V-102")
def test_every_answer_has_a_small_envelope_in_its_record(built: Home) -> None:
    """D45: severity and hint come from the protocol, never from the agent."""
    envelopes = [fact["envelope"] for fact in built.facts("ExitAccepted")]
    assert [each["exit"] for each in envelopes] == [
        *("InitWork", "TestsReady", "TestsPassed", "Approved", "MergeComplete")
    ]
    for each in envelopes:
        assert set(each) == {
            *("instance", "state", "exit", "severity", "route_hint", "payload_ref")
        }
        kind, _, digest = each["payload_ref"].partition(":")
        assert kind == "sha256"
        (found,) = built.root.glob(f".git/porch/runs/*/payloads/{digest}")
        assert hashlib.sha256(found.read_bytes()).hexdigest() == digest
        assert len(json.dumps(each)) < 400


@pytest.mark.req("V-103", "V-104")
def test_a_field_over_four_kilobytes_is_a_file_named_by_its_hash(built: Home) -> None:
    """D46: field by field, so that whoever needs the rest need not fetch it; the merger gets it."""
    approved = next(f for f in built.facts("ExitAccepted") if f["exit"] == "Approved")
    assert approved["payload"]["coverageReport"]["criteriaWithTests"] == [["c-add", "test_add"]]
    kept = approved["payload"]["signOff"]
    ref = next(each for each in kept.values() if isinstance(each, str) and len(each) == 64)
    stored = (built.run_dir / "payloads" / ref).read_bytes()
    assert stored == LONG.encode()
    assert hashlib.sha256(stored).hexdigest() == ref
    assert "Everything was read. " * 200 in built.prompt("merger#1")


def test_worktrees_are_removed_and_branches_archived_at_the_end(built: Home) -> None:
    """D49."""
    assert built.worktrees() == []
    assert built.refs("refs/heads") == ["refs/heads/main"]
    assert built.refs("refs/porch/archive") == [
        "refs/porch/archive/porch/v3_add",
        "refs/porch/archive/porch/v3_add--tests",
    ]


def test_a_persons_checkout_in_the_way_is_asked_about_and_then_tried_again(home: Home) -> None:
    """D33, D49: a dirty checkout of the target is nobody's to overwrite."""
    review = {**ADD.review(), "run": ["sh", "-c", "echo mine >> ../../README.md"]}
    script = Script().good(ADD).say("./review", review)
    said = home.run(ADD.spec(), script, "--into", "main", code=3)
    assert "blocked" in said.all
    assert home.log("main") == ["start"]
    assert (home.root / "README.md").read_text() == "A calculator.\nmine\n"
    home.git("stash")
    home.porch("answer", "add", "blocked", "retry", code=None)
    home.porch("resume", "add", "--plain")
    assert home.log("main") == ["feat(add): implement", "start"]
    assert home.entered().count("candidate") == 2
