"""From an answer to an accepted exit: each thing that can be wrong with it is said to the agent."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from porch.agents.events import Answered
from porch.machine import facts as f
from porch.tree.answers.answer_acceptance import AcceptedAnswer, RefusedAnswer, accept_answer
from porch.tree.instance_worktrees import open_instance_place
from porch.tree.prompts import question_prompt
from tests.git_calls import GIT
from tests.repositories import sh
from tests.tree.conftest import GOOD, IMPL, ROOT_ONLY, SCAFFOLD, SPEC, TESTS, TO_TESTS, Bench


def judged(
    bench: Bench, where: str, exit_: str, payload: Any, **files: str
) -> AcceptedAnswer | RefusedAnswer:
    """An answer given with these files in the worktree; names have `__` for a slash."""
    request = bench.wanted(where)

    async def tried() -> AcceptedAnswer | RefusedAnswer:
        async with open_instance_place(bench.world, request) as place:
            for name, text in files.items():
                path = name.replace("__", "/").replace("_dot_", ".")
                bench.write(f"{place.path}/{path}", text)
            return await accept_answer(bench.world, request, place, Answered(exit_, payload))

    return asyncio.run(tried())


def reasons(answer: AcceptedAnswer | RefusedAnswer) -> str:
    assert isinstance(answer, RefusedAnswer), answer
    return "\n".join(answer.reasons)


def test_an_answer_is_repaired_where_that_is_harmless(bench: Bench) -> None:
    """GRAPH.md: "5" for 5; what was mended is noted."""
    bench.until(*TO_TESTS)
    payload = {**IMPL["payload"], "iterations": "5"}
    answer = judged(bench, "impl", "TestsPassed", payload, src__sum_dot_txt="x\n")
    assert isinstance(answer, AcceptedAnswer)
    assert answer.payload["iterations"] == 5
    assert answer.notes


@pytest.mark.parametrize(
    "payload, told",
    [
        ("a text", "expected an object with interfaceFile"),
        ({}, "interfaceFile"),
        ({**SCAFFOLD["payload"], "colour": "red"}, "colour"),
        ({**SCAFFOLD["payload"], "interfaceFile": "/etc/passwd"}, "interfaceFile"),
        ({**SCAFFOLD["payload"], "interfaceFile": ".git/config"}, "interfaceFile"),
        (
            {**SCAFFOLD["payload"], "contractSuite": "tests/none.sh"},
            "'tests/none.sh' does not exist",
        ),
    ],
)
def test_what_does_not_fit_the_type_is_refused_by_name(
    bench: Bench, payload: Any, told: str
) -> None:
    """D47: paths are relative, without `..` and without .git."""
    answer = judged(bench, "scaffold", "InitWork", payload, api_dot_txt="x")
    assert told in reasons(answer)


def test_a_commit_of_the_agents_own_is_welcome_and_may_be_named(bench: Bench) -> None:
    """D24: it must be the head, by at least seven digits."""
    bench.until("scaffold", "contract")
    commit = ["sh", "-c", "git add -A && git commit -qm mine"]
    fact = bench.do("write_tests", {**TESTS, "run": commit})
    assert isinstance(fact, f.ExitAccepted)
    head = bench.git("rev-parse", "porch/v3_sum--tests")
    assert fact.payload["testsCommit"] == head
    assert bench.git("log", "-1", "--format=%s", head) == "mine"


def test_a_commit_that_is_named_too_short_proves_nothing(bench: Bench) -> None:
    bench.until(*TO_TESTS)
    payload = {**IMPL["payload"], "commitHash": bench.git("rev-parse", "porch/v3_sum")[:6]}
    answer = judged(bench, "impl", "TestsPassed", payload, src__sum_dot_txt="x\n")
    assert "porch fills this in itself" in reasons(answer)


def test_a_branch_that_was_set_back_is_refused(bench: Bench) -> None:
    """D24: an own commit descends from where the work began."""
    bench.until(*TO_TESTS)
    back = {**IMPL, "run": ["git", "reset", "-q", "--hard", "HEAD~1"]}
    fact = bench.do("impl", {**back, "refused": back})
    assert "the branch no longer contains" in fact.detail


def test_who_may_write_somewhere_only_may_not_write_elsewhere(bench: Bench) -> None:
    """D21: allowed paths."""
    bench.until("scaffold", "contract")
    payload = TESTS["payload"]
    answer = judged(bench, "write_tests", "TestsReady", payload, src__sum_dot_txt="cheating\n")
    assert "'src/sum.txt' was changed, but you may change only tests/sum" in reasons(answer)


def test_a_link_that_leads_outside_is_refused(bench: Bench) -> None:
    """D47: no symlink escapes."""
    bench.until(*TO_TESTS)
    link = {**IMPL, "run": ["ln", "-s", "/etc/hostname", "src/link"]}
    fact = bench.do("impl", {**link, "refused": {**IMPL, "delete": ["src/link"]}})
    assert isinstance(fact, f.ExitAccepted)
    assert any("'src/link' is a link that points outside" in line for line in bench.told)


@pytest.mark.req("V-047")
def test_a_stub_that_is_left_is_refused_but_not_in_the_interface(bench: Bench) -> None:
    stub = {"write": {**SCAFFOLD["write"], "src/api.py": "raise NotImplementedError\n"}}
    named = {**SCAFFOLD["payload"], "interfaceFile": "src/api.py"}
    bench.do("scaffold", {**SCAFFOLD, **stub, "payload": named})
    bench.until(*TO_TESTS[1:])
    code = "def sum():\n    raise NotImplementedError\n"
    payload = IMPL["payload"]
    first = judged(
        bench, "impl", "TestsPassed", payload, src__sum_dot_txt="x\n", src__sum_dot_py=code
    )
    assert reasons(first) == "'src/sum.py' still contains a stub: NotImplementedError"
    second = judged(bench, "impl", "TestsPassed", payload, src__sum_dot_py="def sum(): ...\n")
    assert isinstance(second, AcceptedAnswer)


def test_a_build_that_fails_is_refused_with_what_it_said(bench: Bench) -> None:
    bench.setting(commands={**bench.world.settings.commands, "build": "echo no such thing; exit 1"})
    fact = bench.attempt("scaffold")
    assert "the build fails" in fact.detail
    assert "no such thing" in fact.detail
    bench.setting(commands={**bench.world.settings.commands, "build": "true"})
    done = bench.do("scaffold")
    assert [dict(each) for each in done.evidence] == [
        {"name": "build", "result": "passed", "report": ""}
    ]


def test_at_the_limit_of_the_tree_children_are_not_even_asked_for(bench: Bench) -> None:
    """D39: the field is absent from the schema; null says nothing, a child is refused."""
    request = bench.wanted("scaffold")
    full = replace(request, values={**request.values, "children": {"allowed": False, "most": 0}})
    assert "childSpecs" not in question_prompt.make_answer_schema(bench.world, full)["properties"]
    assert "childSpecs" in question_prompt.make_answer_schema(bench.world, request)["properties"]
    bench.rig.index[request.position] = (full,)
    child = {key: SPEC[key] for key in SPEC if key not in ROOT_ONLY}
    payload = SCAFFOLD["payload"]
    files = {"api_dot_txt": "x", "tests__sum__contract_dot_sh": "true\n"}
    given = judged(bench, "scaffold", "InitWork", {**payload, "childSpecs": [child]}, **files)
    assert "childSpecs" in reasons(given)
    nothing = judged(bench, "scaffold", "InitWork", {**payload, "childSpecs": None}, **files)
    assert isinstance(nothing, AcceptedAnswer)
    assert nothing.payload["childSpecs"] is None


def test_t8_a_plan_gives_no_child_a_criterion_that_the_parent_lacks(bench: Bench) -> None:
    """D37: what no spec asks for is in nobody's way, and in nobody's budget."""
    child = {key: SPEC[key] for key in SPEC if key not in ROOT_ONLY}
    invented = {"id": "c9", "text": "it also sings"}
    wanted = [*SPEC["acceptanceCriteria"], invented]
    specs = [{**child, "id": "a", "acceptanceCriteria": wanted}]
    payload = {**SCAFFOLD["payload"], "testPlan": [], "childSpecs": specs}
    files = {"api_dot_txt": "x", "tests__sum__contract_dot_sh": "true\n"}
    said = reasons(judged(bench, "scaffold", "InitWork", payload, **files))
    assert said == "child 'a': acceptanceCriteria has 'c9', which its parent lacks"
    specs[0]["acceptanceCriteria"] = SPEC["acceptanceCriteria"]
    answer = judged(bench, "scaffold", "InitWork", payload, **files)
    assert isinstance(answer, AcceptedAnswer)


@pytest.mark.parametrize("name", ["x--tests", "x-", "_x", "X", "x y"])
def test_d47_no_child_has_a_name_that_means_something_else(bench: Bench, name: str) -> None:
    """`x--tests` is the branch on which the tests of `x` are written."""
    child = {key: SPEC[key] for key in SPEC if key not in ROOT_ONLY}
    payload = {**SCAFFOLD["payload"], "testPlan": [], "childSpecs": [{**child, "id": name}]}
    files = {"api_dot_txt": "x", "tests__sum__contract_dot_sh": "true\n"}
    said = reasons(judged(bench, "scaffold", "InitWork", payload, **files))
    assert said.startswith(f"'{name}' cannot be the name of a branch")


def test_an_answer_without_critiques_and_without_tests_says_nothing(bench: Bench) -> None:
    """D03."""
    bench.until(*TO_TESTS, "impl")
    empty: dict[str, Any] = {"critiques": [], "additionalTests": []}
    said = reasons(judged(bench, "review", "MoreTests", empty))
    assert said == "write something in critiques or additionalTests; all of it is empty"


def test_a_test_that_only_a_reviewer_has_is_no_test(bench: Bench) -> None:
    bench.until(*TO_TESTS, "impl")
    report = {"criteriaWithTests": [["c1", "mine"]], "criteriaMissing": []}
    payload = {**GOOD["review"]["payload"], "coverageReport": report}
    said = judged(bench, "review", "Approved", payload, tests__sum__mine_dot_sh="true\n")
    assert reasons(said) == "there is no test called 'mine'"


def test_files_that_an_answer_left_are_measured_once_before_the_tests_and_once_after(
    bench: Bench,
) -> None:
    bench.until(*TO_TESTS)
    with GIT.heard() as commands:
        files = {"src__sum_dot_txt": "one\n"}
        judged(bench, "impl", "TestsPassed", IMPL["payload"], **files)
    # The third puts them into the commit.
    assert commands.count("add") == 3


def test_test_files_lie_where_tests_belong_and_inside_the_worktree(bench: Bench) -> None:
    bench.until("scaffold", "contract")
    files = {"testFiles": ["README.md", "tests/sum/gone.sh", "tests/sum/out"]}
    payload = {**TESTS["payload"], **files}
    bench.save(".gitignore", "out\n", at=bench.main)
    bench.script("write_tests", {"run": ["ln", "-s", "/etc", "tests/sum/out"]})
    bench.perform(bench.wanted("write_tests"))
    said = reasons(judged(bench, "write_tests", "TestsReady", payload))
    assert "'README.md' is not under tests/sum" in said
    assert "'tests/sum/gone.sh' does not exist" in said
    # What git ignores is in no diff, so links are looked through where a path is believed.
    assert "'tests/sum/out' is outside the worktree" in said


def test_a_test_that_git_ignores_is_no_test(bench: Bench) -> None:
    bench.until("scaffold", "contract")
    bench.save(".gitignore", "there.sh\n", at=bench.main)
    payload, test = TESTS["payload"], "test -f src/sum.txt\n"
    answer = judged(bench, "write_tests", "TestsReady", payload, tests__sum__there_dot_sh=test)
    assert "does git ignore one?" in reasons(answer)


def test_naming_other_tests_on_the_same_content_is_measured_anew(bench: Bench) -> None:
    """D22: what was seen of one file says nothing of another."""
    bench.until("scaffold", "contract")
    green, red = "true\n", "test -f src/sum.txt\n"
    files = {"tests__sum__green_dot_sh": green, "tests__sum__there_dot_sh": red}
    both = {**TESTS["payload"], "testFiles": ["tests/sum/there.sh", "tests/sum/green.sh"]}
    assert "green passes already" in reasons(
        judged(bench, "write_tests", "TestsReady", both, **files)
    )
    one = judged(bench, "write_tests", "TestsReady", TESTS["payload"])
    assert isinstance(one, AcceptedAnswer)


def test_the_engine_fills_what_it_knows_better(bench: Bench) -> None:
    """D24, D34: whatever an agent says about commit and author."""
    bench.until(*TO_TESTS, "impl", "review", "candidate")
    payload = {**GOOD["merger"]["payload"], "author": "somebody", "mergeCommit": "abc"}
    answer = judged(bench, "merger", "MergeComplete", payload)
    assert isinstance(answer, AcceptedAnswer)
    assert answer.payload["author"] == "sum"
    assert len(answer.payload["mergeCommit"]) == 40


def test_v3_a_change_that_the_index_hides_is_committed_with_the_rest(bench: Bench) -> None:
    bench.until(*TO_TESTS)
    request = bench.wanted("impl")

    async def tried() -> tuple[AcceptedAnswer | RefusedAnswer, str]:
        async with open_instance_place(bench.world, request) as place:
            here = Path(place.path)
            bench.write(f"{place.path}/src/sum.txt", "x\n")
            sh(here, "add", "src/sum.txt")
            sh(here, "commit", "-qm", "of the agent")
            sh(here, "update-index", "--skip-worktree", "src/sum.txt")
            bench.write(f"{place.path}/src/sum.txt", "hidden\n")
            answered = Answered("TestsPassed", IMPL["payload"])
            answer = await accept_answer(bench.world, request, place, answered)
            return answer, sh(here, "show", "HEAD:src/sum.txt")

    answer, committed = asyncio.run(tried())
    assert isinstance(answer, AcceptedAnswer), answer
    assert committed == "hidden"


def test_work_on_another_branch_of_the_worktree_is_refused_with_its_name(bench: Bench) -> None:
    bench.until(*TO_TESTS)
    away = {**IMPL, "run": ["git", "switch", "-q", "-c", "mine"]}
    fact = bench.attempt("impl", away)
    assert isinstance(fact, f.EffectFailed)
    assert "the worktree stands on mine, but only porch/v3_sum counts" in fact.detail


def test_a_worktree_that_is_deleted_meanwhile_is_named_and_made_again(bench: Bench) -> None:
    bench.until(*TO_TESTS)
    place = bench.root / bench.main
    gone = {**IMPL, "run": ["rm", "-rf", str(place)]}
    fact = bench.do("impl", gone)
    assert isinstance(fact, f.EffectFailed)
    assert (fact.why, "is gone" in fact.detail) == ("outside", True)
