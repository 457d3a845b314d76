"""What only a person can mend is asked of a person, before an agent is paid for it again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.errors import UsageError
from porch.machine import facts as f
from porch.model.definition import Definition
from porch.run.agents.roster import Roster
from porch.run.engine.effect_failures import make_failure_fact
from porch.run.settings import Settings
from porch.show.decision import list_decisions
from porch.system import process_marks
from tests.tree.branches.test_update_troubles import SHARED, Pair, answers, child, make_family
from tests.tree.conftest import SCAFFOLD, TO_REVIEW, TO_TESTS, Bench, decide

# Renders with all samples: only a spec of this name meets the mistake in it.
FAULTY = '{% if spec.id == "a" %}\n{{ spec.description.words }}\n{% endif %}\n'


@pytest.fixture
def family(tmp_path: Path, person: None, v3: Definition) -> Iterator[Bench]:
    """The prompt of the planner cannot be rendered for the child `a`; the root has planned it."""
    faulty = {**v3.prompts, "scaffold": FAULTY + v3.prompts["scaffold"]}
    made = make_family(tmp_path, replace(v3, prompts=faulty))
    payload = {**SCAFFOLD["payload"], "childSpecs": [child("a"), child("b")]}
    made.do("scaffold", {**SCAFFOLD, "payload": payload})
    yield made
    process_marks.reap_processes(f"{made.world.mark}:")


def test_t4_a_template_fault_in_a_child_asks_a_person_and_pays_nobody(family: Bench) -> None:
    asked = family.wanted("a/scaffold")
    fact = family.do("a/scaffold")
    assert (fact.hopeless, fact.usd, fact.tokens) == (True, 0, 0)
    assert not family.turn(asked).exists(), "no agent was asked"
    assert family.wanted("a/scaffold:fault").kind == "ask"
    waiting = [each.position for each in family.rig.wanted()]
    assert not any(each.startswith("scaffold#") for each in waiting), "nor is the parent's planner"


def test_t9_the_question_names_the_template_the_line_and_what_to_do(family: Bench) -> None:
    family.do("a/scaffold")
    family.rig.tell(f.DecisionAsked(effect=family.wanted("a/scaffold:fault").id, digest=""))
    [asked] = list_decisions(family.rig.protocol, family.rig.state)
    assert "scaffold.md.j2:2:" in asked["reason"]
    assert "fix the template; it can use:" in asked["reason"]
    assert [each["answer"] for each in asked["options"]] == ["retry", "stopped"]
    assert "porch upgrade" in asked["options"][0]["meaning"]
    assert asked["reports"] == {}, "it stands in the reason"


def test_t4_behind_a_mended_template_the_child_goes_on_and_nothing_is_planned_again(
    family: Bench, v3: Definition
) -> None:
    family.do("a/scaffold")
    family.world = replace(family.world, definition=lambda: v3)
    decide(family, "retry")
    known = answers("a", "shared\n")
    for state in (*TO_REVIEW, "candidate", "merger", "judge", "publish"):
        family.do(f"a/{state}", known.get(state))
    assert family.rig.state.instances["a"].outcome == "complete"
    assert family.rig.state.visits["", "scaffold", ""] == 1


def test_t4_an_agent_that_is_not_there_is_asked_of_a_person_with_the_way_to_name_one(
    bench: Bench,
) -> None:
    bench.world = replace(bench.world, roster=Roster(Settings(agent="nobody"), ""))
    fact = bench.do("scaffold")
    assert fact.hopeless
    assert "there is no agent 'nobody'" in fact.detail
    assert "[agents.nobody]" in fact.detail
    assert bench.wanted("scaffold:fault").kind == "ask"


def test_t4_a_missing_test_command_is_no_reason_to_refuse_an_answer(bench: Bench) -> None:
    bench.until("scaffold", "contract")
    asked = bench.wanted("write_tests")
    bench.setting(commands={})
    fact = bench.do("write_tests")
    assert "there is no [commands] test" in fact.detail
    assert not bench.turn(asked, 2).exists(), "who was asked cannot set it"
    assert bench.wanted("write_tests:fault").kind == "ask"


def test_t10_behind_a_fault_the_first_tests_must_be_red_as_ever(bench: Bench) -> None:
    """Who met a fault has written nothing, so there are no tests of before to go on with."""
    bench.until("scaffold", "contract")
    known = bench.world.settings.commands
    bench.setting(commands={})
    suite = {"testFiles": ["tests/sum/contract.sh"], "pendingCriteria": ["c1"]}
    nothing = {"exit": "TestsReady", "payload": suite}
    bench.do("write_tests", nothing)
    bench.setting(commands=known)
    decide(bench, "retry")
    fact = bench.attempt("write_tests", nothing)
    assert isinstance(fact, f.EffectFailed)
    assert fact.why == "refused"


def test_t10_a_fault_of_the_planner_does_not_make_a_later_round_a_new_plan(
    bench: Bench, v3: Definition
) -> None:
    faulty = {**v3.prompts, "scaffold": FAULTY.replace('"a"', '"sum"') + v3.prompts["scaffold"]}
    bench.world = replace(bench.world, definition=lambda: replace(v3, prompts=faulty))
    bench.do("scaffold")
    bench.world = replace(bench.world, definition=lambda: v3)
    decide(bench, "retry")
    bench.until(*TO_TESTS, "impl")
    more = {"criterionId": "c1", "plannedTestName": "more", "approach": "look again"}
    asked = {"critiques": [], "additionalTests": [more]}
    bench.do("review", {"exit": "MoreTests", "payload": asked})
    ready = {"testFiles": ["tests/sum/more.sh"], "pendingCriteria": ["c1"]}
    green = {"write": {"tests/sum/more.sh": "true\n"}, "exit": "TestsReady", "payload": ready}
    fact = bench.attempt("write_tests", green)
    assert isinstance(fact, f.EffectFailed)
    assert "tests::more passes already" in fact.detail


def test_t4_a_fault_in_the_middle_of_a_conflict_leaves_the_merge_for_the_next_try(
    tmp_path: Path, person: None, v3: Definition
) -> None:
    bench = make_family(tmp_path, v3)
    pair = Pair(bench, SHARED + "mine\n", SHARED + "theirs\n")
    pair.do("b", "impl", "update")
    faulty = {**v3.prompts, "rebase": "{{ node.nodeId.words }}\n" + v3.prompts["rebase"]}
    bench.world = replace(bench.world, definition=lambda: replace(v3, prompts=faulty))
    bench.do("b/rebase", {})
    bench.world = replace(bench.world, definition=lambda: v3)
    decide(bench, "retry")
    both = {"src/shared.txt": SHARED + "theirs\nmine\n"}
    fact = bench.do("b/rebase", {"write": both, "exit": "RebaseClean", "payload": {}})
    assert isinstance(fact, f.ExitAccepted), fact
    pair.do("b", "review", "candidate", "merger", "judge", "publish")
    assert bench.rig.state.instances["b"].outcome == "complete"


def test_t4_a_missing_test_command_at_a_merge_sends_nobody_back_to_work(bench: Bench) -> None:
    bench.until(*TO_REVIEW)
    # Nobody has run the tests at the head of the target yet.
    bench.setting(commands={})
    asked = bench.wanted("candidate")
    with pytest.raises(UsageError) as found:
        bench.perform(asked)
    bench.rig.tell(make_failure_fact(asked.id, found.value))
    assert bench.wanted("candidate:fault").kind == "ask"
    assert bench.rig.state.spent == {}
    told = bench.rig.state.memory["", ""]["candidate.refused"]["reason"]
    assert "run `porch upgrade`" in told
