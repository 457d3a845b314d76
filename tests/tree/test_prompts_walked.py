"""Who does literally what a packaged prompt says is accepted, in each case that it mentions."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from porch.machine import facts as f
from porch.model.definition import Definition
from porch.model.protocol import Agent
from porch.system import process_marks
from tests.tree.branches.test_update_troubles import (
    GIVEN_UP,
    SHARED,
    Pair,
    answers,
    child,
    make_family,
)
from tests.tree.conftest import IMPL, REVIEW, SCAFFOLD, TESTS, TO_REVIEW, TO_TESTS, Bench

Case = Mapping[str, Any]


def says(exit_: str, **payload: Any) -> dict[str, Any]:
    return {"exit": exit_, "payload": payload}


REFUSAL = {"reason": "BuildFailure", "details": "red", "failingTests": []}
CRITIQUE = {"file": "src/sum.txt", "line": 1, "issue": "slow", "requiredFix": "faster"}
MORE = {"criterionId": "c1", "plannedTestName": "more", "approach": "look again"}
CLARIFY = says("ClarificationNeeded", question="?", ambiguityReference="r", specSentence="s")
PLANNED = {**SCAFFOLD["payload"], "testPlan": []}
CASES: Mapping[str, tuple[tuple[str, ...], Mapping[str, Case]]] = {
    "scaffold": (
        (),
        {
            "a scaffold": SCAFFOLD,
            "a scaffold with children": {
                **SCAFFOLD,
                "payload": {
                    **PLANNED,
                    "childSpecs": [
                        {**child("part"), "acceptanceCriteria": [{"id": "c1", "text": "t"}]}
                    ],
                },
            },
            "a question": CLARIFY,
        },
    ),
    "write_tests": (
        TO_TESTS[:2],
        {
            "all tests, red": TESTS,
            "a type is missing": says(
                "InvalidScaffold", missingType="T", expectedLocation="api.txt"
            ),
        },
    ),
    "impl": (
        TO_TESTS,
        {
            "everything is green": IMPL,
            "another strategy": says(
                "RequestRetry",
                diagnosis="d",
                strategyFrom="a",
                strategyTo="b",
                failingTests=["there"],
            ),
            "a strategy that left files": {
                **says("RequestRetry", diagnosis="d", strategyFrom="a", strategyTo="b"),
                "payload": {
                    "diagnosis": "d",
                    "strategyFrom": "a",
                    "strategyTo": "b",
                    "failingTests": ["there"],
                },
                "write": {"src/half.txt": "half\n"},
            },
            "code does not exist": says(
                "BlockedDependency", missingSymbol="s", expectedImportPath="src/s"
            ),
            "unclear": says(
                "SpecAmbiguity", specSentence="s", contradictionTrace="t", question="q"
            ),
            "stuck": says("Stuck", diagnosis="d", recommendation="r"),
        },
    ),
    "review": (
        TO_REVIEW[:-1],
        {
            "all good": REVIEW,
            "critiques": says("MoreTests", critiques=[CRITIQUE], additionalTests=[]),
            "more tests": says("MoreTests", critiques=[], additionalTests=[MORE]),
            "both": says("MoreTests", critiques=[CRITIQUE], additionalTests=[MORE]),
            "fundamental": says("Reject", reason="r", missingCriteria=["c1"]),
        },
    ),
    "merger": (
        (*TO_REVIEW, "candidate"),
        {
            "published": says("MergeComplete", impactLevel="Trivial", changes=[]),
            "not published": says("MergeRejected", **REFUSAL),
        },
    ),
}


def accept(bench: Bench, where: str, case: Case) -> f.ExitAccepted:
    """The answer at once, without a second turn; the worktree is then as it was."""
    request, place = bench.wanted(where), bench.root / bench.main
    head = bench.git("rev-parse", "HEAD", at=bench.main) if place.exists() else ""
    fact = bench.attempt(where, case)
    assert isinstance(fact, f.ExitAccepted), fact
    assert not bench.turn(request, 2).exists(), bench.prompt(request, 2)
    if head:
        bench.git("reset", "-q", "--hard", head, at=bench.main)
    return fact


def promised_exits(prompt: str) -> set[str]:
    output = prompt.partition("## Output")[2].partition("## How to answer")[0]
    return set(re.findall(r"^- \*\*(\w+)\*\*:", output, re.MULTILINE))


@pytest.mark.parametrize("state", CASES)
def test_t5_what_a_prompt_says_is_accepted_in_each_case(bench: Bench, state: str) -> None:
    before, cases = CASES[state]
    bench.until(*before)
    taken = {accept(bench, state, case).exit for case in cases.values()}
    actor = bench.rig.protocol.states[state].actor
    assert isinstance(actor, Agent)
    promised = promised_exits(bench.prompt(bench.wanted(state)))
    assert taken == promised == {known.name for known in actor.exits}


@pytest.fixture
def family(tmp_path: Path, person: None, v3: Definition) -> Iterator[Bench]:
    """A root whose children have criteria of their own."""
    made = make_family(tmp_path, v3)
    yield made
    process_marks.reap_processes(f"{made.world.mark}:")


def test_t5_the_question_of_a_child_is_answered_as_the_prompt_says(family: Bench) -> None:
    payload = {
        **PLANNED,
        "testPlan": SCAFFOLD["payload"]["testPlan"],
        "childSpecs": [child("a"), child("b")],
    }
    family.do("scaffold", {**SCAFFOLD, "payload": payload})
    family.do("a/scaffold", CLARIFY)
    criteria = [{"id": "c-a", "text": "exactly so"}]
    cases = (
        says("Answered", answer="so"),
        says("Revised", answer="so", acceptanceCriteria=criteria),
        says("PassUp", why="nobody said"),
    )
    taken = {accept(family, "a/answer", case).exit for case in cases}
    assert taken == promised_exits(family.prompt(family.wanted("a/answer")))


def plan_of(*children: Case) -> Case:
    return {**SCAFFOLD, "payload": {**SCAFFOLD["payload"], "childSpecs": list(children)}}


def test_t11_a_child_that_lists_siblings_begins_when_they_have_merged_as_the_prompt_says(
    family: Bench,
) -> None:
    asked = family.wanted("scaffold")
    family.do("scaffold", plan_of(child("a"), {**child("b"), "after": ["a"]}))
    assert not family.turn(asked, 2).exists(), "it is accepted at once"
    told = family.prompt(asked)
    assert "lists the ids of those siblings under `after`" in told
    assert "begins when all of them have merged" in told
    known = answers("a", SHARED)
    for state in (*TO_REVIEW, "candidate", "merger", "judge", "publish"):
        assert not [r for r in family.rig.wanted() if r.position.startswith("b/")]
        family.do(f"a/{state}", known.get(state))
    family.do("b/scaffold", answers("b", SHARED)["scaffold"])
    assert family.git("show", "porch/v3_sum.b:src/a/it.txt") == "it"


def test_t11_a_child_that_waits_for_itself_is_refused_as_the_prompt_says(family: Bench) -> None:
    asked = family.wanted("scaffold")
    circle = plan_of({**child("a"), "after": ["b"]}, {**child("b"), "after": ["a"]})
    family.do("scaffold", {**circle, "refused": plan_of(child("a"), child("b"))})
    assert "No child may wait for itself, directly or through others" in family.prompt(asked)
    assert "these children wait for each other" in family.prompt(asked, 2)
    assert family.wanted("a/scaffold")


def test_t11_the_criteria_of_a_child_that_never_began_come_back_as_the_prompt_says(
    family: Bench,
) -> None:
    family.do("scaffold", plan_of(child("a"), {**child("b"), "after": ["a"]}))
    known = answers("a", SHARED)
    for state in TO_TESTS:
        family.do(f"a/{state}", known.get(state))
    family.do("a/impl", says("Stuck", diagnosis="d", recommendation="r"))
    again = family.wanted("scaffold")
    dropped = plan_of(child("a"))
    own = [{"criterionId": c, "plannedTestName": c, "approach": "look"} for c in ("c1", "c-b")]
    kept = {**dropped, "payload": {**dropped["payload"], "testPlan": own}}
    family.do("scaffold", {**dropped, "write": {"api.txt": "anew\n"}, "refused": kept})
    assert "A child that waited for one that failed was cancelled" in family.prompt(again)
    assert "'c-b' is not covered" in family.prompt(again, 2)
    assert family.wanted("a-r2/scaffold")


def test_t5_a_child_is_judged_as_the_prompt_says(family: Bench) -> None:
    payload = {**SCAFFOLD["payload"], "childSpecs": [child("a"), child("b")]}
    written = {**SCAFFOLD["write"], "src/shared.txt": SHARED}
    family.do("scaffold", {**SCAFFOLD, "write": written, "payload": payload})
    known = answers("a", SHARED)
    for state in (*TO_REVIEW, "candidate", "merger"):
        family.do(f"a/{state}", known.get(state))
    cases = (says("Accepted", reason="good"), says("Rejected", **REFUSAL))
    taken = {accept(family, "a/judge", case).exit for case in cases}
    assert taken == promised_exits(family.prompt(family.wanted("a/judge")))


def test_t5_who_keeps_both_sides_or_gives_up_is_accepted_at_once(family: Bench) -> None:
    """Theirs stays and yours beside it; where only one can stand, nobody chooses."""
    pair = Pair(family, SHARED + "mine\n", SHARED + "theirs\n")
    pair.do("b", "impl", "update")
    asked = family.wanted("b/rebase")
    both = {"write": {"src/shared.txt": SHARED + "theirs\nmine\n"}}
    fact = family.attempt("b/rebase", {**both, **says("RebaseClean")})
    assert isinstance(fact, f.ExitAccepted)
    assert not family.turn(asked, 2).exists()
    promised = promised_exits(family.prompt(asked))
    assert promised == {"RebaseClean", "RebaseAdapted", "RebaseConflict"}


def test_t5_who_cannot_keep_both_sides_is_accepted_at_once(family: Bench) -> None:
    pair = Pair(family, SHARED.replace("two", "2"))
    pair.do("b", "impl", "update")
    asked = family.wanted("b/rebase")
    family.do("b/rebase", GIVEN_UP)
    assert not family.turn(asked, 2).exists()
    assert "do not choose: answer RebaseConflict" in family.prompt(asked)
    redone = {"src/b/it.txt": "it\n", "src/shared.txt": "one\nTWO and 2\nthree\n"}
    again = {"write": redone, **says("TestsPassed", iterations=1, passedTests=["b"])}
    assert family.do("b/impl", again).exit == "TestsPassed"


def test_t5_an_implementer_that_finds_everything_green_invents_nothing(bench: Bench) -> None:
    bench.do("scaffold", SCAFFOLD)
    bench.until(*TO_TESTS[1:])
    bench.save("src/sum.txt", "made by somebody else\n", at=bench.main)
    nothing = says("TestsPassed", iterations=0, passedTests=["there"])
    assert accept(bench, "impl", nothing).exit == "TestsPassed"


def test_t10_a_new_test_of_work_that_is_there_is_noted_and_not_refused(bench: Bench) -> None:
    """Planned anew after a part was done: red is asked of what is missing."""
    bench.until(*TO_TESTS)
    part = {"write": {"src/part.txt": "part\n"}}
    blocked = says("BlockedDependency", missingSymbol="s", expectedImportPath="src/s")
    bench.do("impl", {**part, **blocked})
    bench.do("scaffold", {**SCAFFOLD, "write": {"api.txt": "sum, again\n"}})
    bench.until("contract")
    tests = {
        "tests/sum/part.sh": "test -f src/part.txt\n",
        "tests/sum/rest.sh": "test -f src/rest\n",
    }
    files = ["tests/sum/there.sh", *tests]
    ready = says("TestsReady", testFiles=files, pendingCriteria=["c1"])
    fact = bench.do("write_tests", {"write": tests, **ready})
    assert isinstance(fact, f.ExitAccepted)
    assert "tests::part passes already, by work of before" in fact.notes


def test_t10_in_a_later_round_of_the_same_plan_a_test_that_passes_is_refused(bench: Bench) -> None:
    bench.until(*TO_TESTS, "impl")
    bench.do("review", says("MoreTests", critiques=[], additionalTests=[MORE]))
    ready = says("TestsReady", testFiles=["tests/sum/more.sh"], pendingCriteria=["c1"])
    fact = bench.attempt("write_tests", {"write": {"tests/sum/more.sh": "true\n"}, **ready})
    assert isinstance(fact, f.EffectFailed)
    assert "tests::more passes already" in fact.detail


def test_t10_a_test_that_was_named_as_wrong_can_be_corrected_in_place(bench: Bench) -> None:
    """D11: the implementer says which test contradicts the spec; planned anew, it is mended."""
    bench.until(*TO_TESTS[:2])
    wrong = {**TESTS, "write": {"tests/sum/there.sh": "test -f src/elsewhere.txt\n"}}
    bench.do("write_tests", wrong)
    bench.do("integrate")
    trace = "tests/sum/there.sh wants elsewhere.txt, the spec wants sum.txt"
    bench.do(
        "impl",
        says("SpecAmbiguity", specSentence="s", contradictionTrace=trace, question="which?"),
    )
    bench.do("scaffold", {**SCAFFOLD, "write": {"api.txt": "sum of all\n"}})
    bench.do("contract")
    mended = bench.do("write_tests")
    assert isinstance(mended, f.ExitAccepted), mended
    bench.until("integrate", "impl", "review", "candidate", "merger", "publish")
    assert bench.rig.state.outcome == "complete"
