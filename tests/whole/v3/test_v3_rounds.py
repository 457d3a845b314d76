"""Rounds, attempts and epochs of one instance: what comes back to an agent, and how often."""

from typing import Any

import pytest

from tests.whole.v3.conftest import ADD, Home, Script

MORE = "tests/add/test_add_more.py"
CRITIQUE = {"file": ADD.target, "line": 2, "issue": "no name", "requiredFix": "say why"}


def _more_tests(issue: str, *names: str) -> dict[str, Any]:
    added = [
        {"criterionId": ADD.criterion, "plannedTestName": name, "approach": "negative numbers"}
        for name in names
    ]
    payload = {"critiques": [{**CRITIQUE, "issue": issue}], "additionalTests": added}
    return {"exit": "MoreTests", "payload": payload}


def _retry(number: int) -> dict[str, Any]:
    payload = {
        "diagnosis": f"diagnosis {number}",
        "strategyFrom": f"way {number}",
        "strategyTo": f"way {number + 1}",
        "failingTests": ["test_add"],
    }
    return {"exit": "RequestRetry", "payload": payload}


@pytest.mark.req("V-036", "V-043", "V-050")
def test_critiques_reach_the_implementer_and_additional_tests_their_author_first(
    home: Home,
) -> None:
    """D03: straight to Impl, or by way of the tests; D04: children stay latched; D32: memory."""
    called = "def test_add_more():\n    from calc.add import add\n    assert add(-1, 1) == 0\n"
    more = {"testFiles": [MORE], "pendingCriteria": [ADD.criterion]}
    script = Script().good(ADD)
    script.say(
        "./write_tests",
        ADD.write_tests(),
        {"write": {MORE: called}, "exit": "TestsReady", "payload": more},
    )
    script.say("./impl", ADD.impl(), ADD.impl(f"# Sums.\n{ADD.code}", iterations=99))
    script.say(
        "./review",
        _more_tests("it says nothing"),
        _more_tests("signs are not looked at", "test_add_more"),
        ADD.review("test_add", "test_add_more"),
    )
    home.run(ADD.spec(), script)
    assert home.entered()[6:] == [
        *("impl", "review", "impl", "review"),
        *("write_tests", "integrate", "ready", "impl", "review"),
    ]
    assert "it says nothing" in home.prompt("impl#2")
    assert "Fix: say why" in home.prompt("impl#2")
    assert "`test_add`" in home.prompt("impl#2").partition("passed at the end of an earlier")[2]
    again = home.prompt("write_tests#2")
    assert "- `c-add` ✓" in again
    assert "`test_add_more` — negative numbers" in again
    assert "signs are not looked at" in again
    assert "signs are not looked at" in home.prompt("impl#3")
    assert "## Attempt 1 of 5" in home.prompt("impl#3")
    assert "own count: 99" in home.prompt("review#2")
    assert home.log("porch/v3_add").count("test(add): what must hold") == 2


@pytest.mark.req("V-050")
def test_five_attempts_end_in_stuck_and_a_person_may_begin_anew_or_stop(home: Home) -> None:
    """D07: the engine counts; D14: at the root a person is asked; D53: stalled means fresh."""
    script = Script().good(ADD)
    script.say("./scaffold", ADD.scaffold(), {**ADD.scaffold(), "write": {"plan.md": "Anew.\n"}})
    script.say("./impl", *map(_retry, range(1, 6)), ADD.impl())
    script.say(
        "./review",
        {"exit": "Reject", "payload": {"reason": "beyond repair", "missingCriteria": ["c-add"]}},
    )
    script.decide("person", {"answer": "use the plus sign"}, {"stop": True})
    home.run(ADD.spec(), script, code=1)
    for attempt in (1, 2, 3, 4, 5):
        prompt = home.prompt(f"impl#{attempt}")
        assert f"## Attempt {attempt} of 5" in prompt
        assert ("This is the final attempt" in prompt) is (attempt == 5)
    assert "way 1 → way 2" in home.prompt("impl#2")
    assert "Diagnosis: diagnosis 4" in home.prompt("impl#5")
    # Continued after the first retry; after two without progress a conversation of its own.
    assert home.request("impl#2")["resume"] == home.session("impl#1")
    assert home.request("impl#4")["resume"] is None
    assert "made no progress" in home.prompt("impl#4")
    stuck = next(m for m in home.moves("Remembered") if m["path"] == "impl.Stuck")["payload"]
    assert stuck["attempts"] == 5
    assert stuck["diagnosis"] == "diagnosis 5"
    assert stuck["synthetic"] == "RequestRetry at its limit"
    again = home.prompt("scaffold#2")
    assert "Here is the answer to what was asked" in again
    assert "use the plus sign" in again
    assert "## Attempt 1 of 5" in home.prompt("impl#6")
    assert home.exits()[-1] == "review.Reject"
    assert home.outcomes() == {"": "failed"}
    # What failed is left as it is, for people to look at.
    assert home.worktrees() == ["v3_add", "v3_add--read", "v3_add--tests"]
    assert home.log("main") == ["start"]


def test_the_planner_is_told_why_it_is_asked_again(home: Home) -> None:
    """D06: InvalidScaffold, BlockedDependency and SpecAmbiguity each open an epoch."""
    mended = [{**ADD.scaffold(), "write": {f"plan-{n}.md": "Mended.\n"}} for n in (1, 2, 3)]
    blocked = {"missingSymbol": "calc.plus", "expectedImportPath": "calc/plus.py"}
    unclear = {
        "specSentence": "add(1, 2) == 3 holds",
        "contradictionTrace": "test_add wants more",
        "question": "what is a sum?",
    }
    script = Script().good(ADD)
    script.say("./scaffold", ADD.scaffold(), *mended)
    script.say(
        "./write_tests",
        {
            "exit": "InvalidScaffold",
            "payload": {"missingType": "Sum", "expectedLocation": ADD.interface},
        },
        ADD.write_tests(),
    )
    script.say(
        "./impl",
        {"exit": "BlockedDependency", "payload": blocked},
        {"exit": "SpecAmbiguity", "payload": unclear},
        ADD.impl(),
    )
    home.run(ADD.spec(), script)
    assert "Why you are asked again" not in home.prompt("scaffold#1")
    for visit, kind, words in (
        (2, "InvalidScaffold", "Sum"),
        (3, "BlockedDependency", "calc.plus"),
        (4, "SpecAmbiguity", "what is a sum?"),
    ):
        prompt = home.prompt(f"scaffold#{visit}")
        assert f"Why you are asked again: `{kind}`" in prompt
        assert words in prompt
    assert home.outcomes() == {"": "complete"}
    assert {m["budget"]: m["spent"] for m in home.moves("Charged")}["epochs"] == 3
    envelope = next(
        f["envelope"] for f in home.facts("ExitAccepted") if f["exit"] == "BlockedDependency"
    )
    assert (envelope["severity"], envelope["route_hint"]) == ("BLOCKER", "check_sibling_exports")
    # The tests that were there before are the ones that still wait: nothing had to be invented.
    assert home.log("porch/v3_add").count("test(add): what must hold") == 1
