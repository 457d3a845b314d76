"""A sibling merged something that the others do not take in by themselves."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from tests.whole.v3.conftest import (
    ADD,
    MUL,
    NEG,
    Home,
    a_home,
    after_merge,
    family,
    family_spec,
)

BASE = "def plus(a, b):\n    return a + b\n"
RENAMED = "def total(a, b):\n    return a + b\n"
ADDING = "from calc.base import total\n\n\ndef add(a, b):\n    return total(a, b)\n"
USING = "from calc.base import plus\n\n\ndef mul(a, b):\n    return plus(a * b, 0)\n"
ADAPTED = USING.replace("plus", "total")
CLEVER = "def mul(a, b):\n    return 6\n"
CLASHING = "def minus(a, b):\n    return a - b\n"

# One run for all tests of this file, so they stay together.
pytestmark = pytest.mark.xdist_group("v3-updates")


def _adapted(code: str) -> dict[str, Any]:
    adaptation = {"symbol": "plus", "change": "total", "reason": "a sibling renamed it"}
    payload = {"adaptations": [adaptation]}
    return {"write": {MUL.target: code}, "exit": "RebaseAdapted", "payload": payload}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """add renames what mul uses and neg changes too; one run for all that is said about it."""
    script = family(ADD, MUL, NEG)
    (scaffold,) = script.agents["./scaffold"]
    script.say("./scaffold", {**scaffold, "write": {**scaffold["write"], "calc/base.py": BASE}})
    adding = ADD.impl()
    script.say("add/impl", {**adding, "write": {ADD.target: ADDING, "calc/base.py": RENAMED}})
    script.say("mul/impl", after_merge(MUL.impl(USING), "add"))
    script.say("mul/rebase", {**_adapted(CLEVER), "refused": _adapted(ADAPTED)})
    clash = {**NEG.impl(), "write": {NEG.target: NEG.code, "calc/base.py": CLASHING}}
    script.say(
        "neg/impl",
        after_merge(clash, "add"),
        NEG.impl(),
    )
    conflict = {
        "conflictFile": "calc/base.py",
        "ourChange": "minus instead of plus",
        "theirChange": "total instead of plus",
        "whyUnresolvable": "both want the whole file",
    }
    script.say(
        "neg/rebase",
        {
            "exit": "RebaseClean",
            "payload": {},
            "refused": {
                "exit": "RebaseConflict",
                "payload": {**conflict, "conflictFile": NEG.interface},
                "refused": {"exit": "RebaseConflict", "payload": conflict},
            },
        },
    )
    with a_home(tmp_path_factory.mktemp("updates")) as home:
        home.run(
            {**family_spec(ADD, MUL, NEG), "alsoWrites": ["calc/base.py"]}, script, "--into", "main"
        )
        yield home


def test_all_of_it_is_merged_in_the_end(built: Home) -> None:
    assert set(built.outcomes().values()) == {"complete"}
    assert built.file("main", "calc/base.py") == RENAMED.strip()
    assert built.file("main", MUL.target) == ADAPTED.strip()
    assert built.file("main", NEG.target) == NEG.code.strip()


@pytest.mark.req("V-068", "V-069", "V-071")
def test_a_regression_is_adapted_by_renaming_and_logic_is_refused(built: Home) -> None:
    """D18: an agent only where git does not do; D24: green before it is believed."""
    prompt = built.prompt("mul/rebase#1")
    assert "there is a **regression**" in prompt
    assert "test_mul passed before and now" in prompt
    assert "- **Author:** `add`" in prompt
    refusal = built.prompt("mul/rebase#1", turn=2)
    assert "not a mechanical change: calc/mul.py" in refusal
    assert built.exits("mul").count("rebase.RebaseAdapted") == 1
    after = next(f for f in built.facts("ExitAccepted") if f["effect"].startswith("mul/rebase#1"))
    assert [each["name"] for each in after["evidence"]] == ["tests"]
    assert "hold:worktree:mul" in built.uses("mul/rebase#1")


def test_what_vanished_is_breaking_whatever_the_merger_called_it(built: Home) -> None:
    """D34: the engine fills commit and author and raises the impact."""
    told = next(
        f
        for f in built.facts("ExitAccepted")
        if f["exit"] == "MergeComplete" and f["envelope"]["instance"] == "add"
    )
    assert told["payload"]["impactLevel"] == "Breaking"
    assert told["payload"]["author"] == "add"
    assert any("plus no longer exist" in note for note in told["notes"])
    assert "**BREAKING**" in built.prompt("mul/rebase#1")


def test_after_an_adaptation_the_work_that_was_due_goes_on(built: Home) -> None:
    """D16: history is resumed."""
    states = built.entered("mul")
    at = states.index("update")
    assert states[at - 1 : at + 2] == ["impl", "update", "rebase"]
    # A sibling that is merged meanwhile makes it look again.
    assert next(state for state in states[at + 2 :] if state != "update") == "review"


def test_a_conflict_that_is_not_mechanical_goes_to_the_implementer(built: Home) -> None:
    """D17: by the owner of the file; the tree is proved clean first."""
    prompt = built.prompt("neg/rebase#1")
    assert "met a **conflict**" in prompt
    assert "calc/base.py" in prompt.partition("### 2.")[2].partition("### 3.")[0]
    assert "'calc/base.py' still contains conflict markers" in built.prompt("neg/rebase#1", turn=2)
    # E7: which files conflict is measured, and another one is refused.
    said = "'calc/neg_api.py' is not in conflict, but calc/base.py"
    assert said in built.prompt("neg/rebase#1", turn=3)
    again = built.prompt("neg/impl#2")
    assert "both want the whole file" in again
    states = built.entered("neg")
    # A sibling that is merged meanwhile makes it look again.
    went = [state for state, _ in groupby(states[states.index("rebase") :])]
    assert went[:4] == ["rebase", "impl", "update", "review"]
    assert {m["budget"]: m["spent"] for m in built.moves("Charged")}["neg/rounds"] == 1
