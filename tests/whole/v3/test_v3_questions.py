"""Questions suspend instead of killing; a child that fails for good is its planner's business."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.whole.v3.conftest import ADD, MUL, Home, a_home, family, family_spec

# One run for all tests of this file, so they stay together.
pytestmark = pytest.mark.xdist_group("v3-questions")


def _asks(question: str) -> dict[str, Any]:
    payload = {
        "question": question,
        "ambiguityReference": "what is not said",
        "specSentence": "A calculator",
    }
    return {"exit": "ClarificationNeeded", "payload": payload}


def _absorbed() -> dict[str, Any]:
    """The plan after a child is lost: its criterion is the root's own now."""
    script = family(MUL)
    plan = dict(script.agents["./scaffold"][0])
    own = {"criterionId": ADD.criterion, "plannedTestName": "test_sum", "approach": "by itself"}
    payload = plan["payload"]
    plan["payload"] = {**payload, "testPlan": [*payload["testPlan"], own]}
    plan["write"] = {"plan.md": "add is ours now\n"}
    return plan


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """The root asks a person, one child its parent and then a person, and fails all the same."""
    script = family(ADD, MUL)
    (plan,) = script.agents["./scaffold"]
    script.say("./scaffold", _asks("Which base?"), plan, _absorbed())
    script.say("add/scaffold", _asks("Are there limits?"), _asks("Of what colour?"), ADD.scaffold())
    script.say(
        "add/answer",
        {"exit": "Answered", "payload": {"answer": "No limits"}},
        {"exit": "PassUp", "payload": {"why": "I cannot see colours"}},
    )
    stuck = {"diagnosis": "it cannot be done", "recommendation": "give up"}
    script.say("add/impl", {"exit": "Stuck", "payload": stuck})
    tests, (impl,), (review,) = (
        script.agents[f"./{name}"] for name in ("write_tests", "impl", "review")
    )
    test = "def test_sum():\n    from calc.whole import add\n    assert add(1, 2) == 3\n"
    whole = "def test_whole():\n    from calc.whole import whole\n    assert whole() == ['mul']\n"
    sums = {"tests/calc/test_sum.py": test, "tests/calc/test_whole.py": whole}
    ready = {"testFiles": list(sums), "pendingCriteria": ["c-add", "c-whole"]}
    script.say("./write_tests", *tests, {"write": sums, "exit": "TestsReady", "payload": ready})
    code = f"from calc.mul import mul\n\n\n{ADD.code}\n\ndef whole():\n    return [mul.__name__]\n"
    script.say("./impl", {**impl, "write": {"calc/whole.py": code}})
    named = [["c-whole", "test_whole"], ["c-add", "test_sum"]]
    coverage = {"criteriaWithTests": named, "criteriaMissing": []}
    script.say("./review", {**review, "payload": {"signOff": "ok", "coverageReport": coverage}})
    with a_home(tmp_path_factory.mktemp("asked")) as home:
        home.run(family_spec(ADD, MUL), script, "--into", "main", code=3)
        home.seen = [home.porch("pending").out]
        home.porch("answer", "calc", "ask", "Base ten, of course")
        home.porch("resume", "calc", "--plain", code=3)
        home.seen.append(home.porch("pending").out)
        home.porch("answer", "calc", "ask", "Green")
        home.porch("resume", "calc", "--plain")
        yield home


def test_a_question_of_the_root_waits_for_a_person_and_the_answer_reaches_it(asked: Home) -> None:
    """D10: suspended, not ended; nothing else starts meanwhile."""
    assert "ask" in asked.seen[0]
    assert asked.entered()[:3] == ["scaffold", "ask", "scaffold"]
    prompt = asked.prompt("scaffold#2")
    assert "Here is the answer to what was asked" in prompt
    assert "Base ten, of course" in prompt
    # The answer opens no new epoch: nobody did anything wrong.
    charged = [m["budget"] for m in asked.moves("Charged")]
    assert charged[0] == "questions"


def test_a_question_of_a_child_goes_to_its_parent_first(asked: Home) -> None:
    """D10: the planner of the parent answers, revises or passes it up."""
    prompt = asked.prompt("add/answer#1")
    assert "Are there limits?" in prompt
    assert "A calculator" in prompt
    assert "No limits" in asked.prompt("add/scaffold#2")
    assert asked.entered("add")[:6] == [
        *("scaffold", "answer", "scaffold", "answer", "ask", "scaffold")
    ]
    assert "Green" in asked.prompt("add/scaffold#3")
    assert "No limits" not in asked.prompt("add/scaffold#3").partition("## Spec")[0]
    assert asked.request("add/answer#1")["fork"] == asked.session("scaffold#2")


def test_a_child_that_fails_for_good_is_planned_around(asked: Home) -> None:
    """D13: settled is enough; D40: its criteria come back; D14: nobody is woken for it."""
    assert asked.outcomes() == {"": "complete", "add": "failed", "mul": "complete"}
    prompt = asked.prompt("scaffold#3")
    assert "Children of this plan ended without merging" in prompt
    assert "it cannot be done" in prompt
    assert "c-add" in prompt.partition("## Spec")[0]
    assert asked.entered().count("person") == 0
    assert asked.log("refs/porch/archive/porch/v3_calc").count("feat(mul): implement") == 1
    assert asked.file("main", "calc/whole.py").startswith("from calc.mul import mul")
    assert "refs/porch/archive/porch/v3_calc.add" in asked.refs("refs/porch/archive")


def test_merged_children_stay_when_the_plan_is_made_anew(asked: Home) -> None:
    """D06: the same id and the same spec go on; here it had merged, so nothing is done twice."""
    assert asked.entered("mul").count("scaffold") == 1
    assert [m["instance"] for m in asked.moves("Spawned") if m.get("instance")] == ["add", "mul"]
