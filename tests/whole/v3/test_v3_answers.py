"""Agents that answer badly: each is told why, and the run goes on. Left as a branch in the end."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.whole.v3.conftest import ADD, Home, Script, a_home

EXIT_FILE = "../../.git/porch/runs/v3_add/turns/review_1_agent_tests_0/exit.json"

# One run for all tests of this file, so they stay together.
pytestmark = pytest.mark.xdist_group("v3-answers")


def _with(entry: dict[str, Any], **payload: Any) -> dict[str, Any]:
    return {**entry, "payload": {**entry["payload"], **payload}}


def _scaffold() -> dict[str, Any]:
    """Three bad answers are a restart; the second try does better at its second answer."""
    good = ADD.scaffold()
    names = {"childSpecs": [ADD.spec(id="No Branch", targetPath="x"), ADD.spec(targetPath="x/y")]}
    third = _with(good, testPlan=[])
    second = {**_with(good, interfaceFile="../elsewhere.py"), "refused": third}
    first = {**good, "exit": "TestsPassed", "refused": second}
    return {"tries": [first, {**_with(good, **names), "refused": good}]}


def _write_tests() -> dict[str, Any]:
    good = ADD.write_tests()
    green = "def test_add():\n    assert True\n"
    lying = {**_with(good, testsCommit="deadbeef" * 5), "refused": good}
    return {**good, "write": {ADD.tests: green}, "refused": lying}


def _impl() -> dict[str, Any]:
    """First it helps itself, then it says green where there is red."""
    good = ADD.impl()
    honest = ADD.write_tests()["write"]
    # Of another length: Python takes what it compiled in the same second for a file of that size.
    wrong = {**ADD.impl(ADD.code.replace("+", "- 0 -")), "refused": good}
    wrong["write"] = {**wrong["write"], **honest, ADD.interface: "NAME = 'add'\n"}
    theirs = {ADD.tests: "def test_add():\n    pass\n", ADD.interface: "NAME = 'sum'\n"}
    return {**good, "write": {**good["write"], **theirs}, "refused": wrong}


def _review() -> dict[str, Any]:
    """Nothing at all, then approval with gaps, then of a test that is not there, then a file."""
    good = ADD.review()
    gaps = {"criteriaWithTests": [["c-add", "test_add"]], "criteriaMissing": ["c-add"]}
    by_file = {"write": {EXIT_FILE: json.dumps({k: good[k] for k in ("exit", "payload")})}}
    return {
        "say": "I think it is <signal>Approved</signal>.",
        "signal": None,
        "reminder": _with(good, coverageReport=gaps),
        "refused": {**ADD.review("test_sub"), "refused": {**by_file, "signal": None}},
    }


@pytest.fixture(scope="module")
def stubborn(tmp_path_factory: pytest.TempPathFactory, quick_python: str) -> Iterator[Home]:
    script = Script()
    for name, entry in (
        ("scaffold", _scaffold()),
        ("write_tests", _write_tests()),
        ("impl", _impl()),
        ("review", _review()),
    ):
        script.say(f"./{name}", entry)
    with a_home(tmp_path_factory.mktemp("stubborn"), quick_python) as home:
        home.run(ADD.spec(), script)
        yield home


def test_without_a_target_the_finished_branch_is_left_to_people(stubborn: Home) -> None:
    """D36: merging needs to be asked for."""
    assert stubborn.log("main") == ["start"]
    assert stubborn.refs("refs/heads") == ["refs/heads/main", "refs/heads/porch/v3_add"]
    assert stubborn.log("porch/v3_add")[0] == "impl(add): TestsPassed"
    assert stubborn.file("porch/v3_add", ADD.target) == ADD.code.strip()
    assert stubborn.worktrees() == []
    assert "candidate" not in stubborn.entered()


def test_an_exit_of_another_state_is_refused(stubborn: Home) -> None:
    """D02: illegal answers are named, with those that are legal."""
    told = stubborn.prompt("scaffold#1", turn=2)
    assert (
        "'TestsPassed' is not an exit of scaffold; allowed: InitWork, ClarificationNeeded" in told
    )


def test_a_path_outside_the_repository_is_refused(stubborn: Home) -> None:
    """D47."""
    assert "interfaceFile: " in stubborn.prompt("scaffold#1", turn=3)


@pytest.mark.req("V-033")
def test_three_refusals_are_a_restart_that_charges_nothing(stubborn: Home) -> None:
    """D43; and a criterion that nothing covers is one of the reasons (D37)."""
    (failed,) = stubborn.facts("EffectFailed")
    assert failed["effect"] == "scaffold#1/agent/planner/0"
    assert (failed["why"], failed["detail"]) == ("refused", "'c-add' is not covered")
    assert [m for m in stubborn.moves("Charged") if m["spent"]] == []


def test_children_need_names_of_their_own_and_places_of_their_own(stubborn: Home) -> None:
    """D37: criteria once, paths apart; D47: names that can be branches."""
    told = stubborn.prompt("scaffold#1", turn=2, attempt=1)
    assert "'No Branch' cannot be the name of a branch" in told
    assert "'c-add' is assigned more than once" in told
    assert "'x' and 'x/y' overlap" in told


@pytest.mark.req("V-044")
def test_a_test_that_passes_already_is_refused(stubborn: Home) -> None:
    """D22: red is seen by the engine, on the scaffold."""
    told = stubborn.prompt("write_tests#1", turn=2)
    assert "test_add passes already: a new test must fail until the work is done" in told


def test_a_commit_that_is_not_the_head_is_refused(stubborn: Home) -> None:
    """D24: hashes are the engine's to fill."""
    told = stubborn.prompt("write_tests#1", turn=3)
    assert "testsCommit says deadbeef" in told
    assert "but HEAD is" in told


@pytest.mark.req("V-057", "V-058")
def test_tests_and_interface_are_not_the_implementers(stubborn: Home) -> None:
    """D21: who touched what is seen on the real diff, and nothing of it is committed."""
    told = stubborn.prompt("impl#1", turn=2)
    assert f"'{ADD.tests}' was changed, but you may not change it" in told
    assert f"'{ADD.interface}' was changed, but you may not change it" in told
    assert stubborn.file("porch/v3_add", ADD.interface) == "NAME = 'add'"


def test_green_is_what_the_engine_sees(stubborn: Home) -> None:
    """D24: an answer that the evidence contradicts is refused with the evidence."""
    told = stubborn.prompt("impl#1", turn=3)
    assert "test_add failed: assert -1 == 3" in told


@pytest.mark.req("V-095")
def test_a_turn_that_ends_without_an_exit_gets_the_reminder_at_once(stubborn: Home) -> None:
    """D42; prose is never read for an exit (GRAPH.md)."""
    told = stubborn.prompt("review#1", turn=2)
    assert told.strip() == "REMINDER: Emit a decision to complete this phase"


def test_an_approval_with_gaps_or_of_tests_that_are_not_there_is_refused(stubborn: Home) -> None:
    """D26."""
    assert "criteriaMissing must be empty, but it has c-add" in stubborn.prompt("review#1", turn=3)
    assert "there is no test called 'test_sub'" in stubborn.prompt("review#1", turn=4)


def test_an_answer_may_come_by_file(stubborn: Home) -> None:
    """GRAPH.md: structured output or exit file."""
    assert stubborn.exits()[-1] == "review.Approved"
    kept = stubborn.run_dir / "turns" / "review_1_agent_tests_0" / "exit.json.read"
    assert kept.exists()
