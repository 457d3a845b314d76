"""Merges that are refused: by the engine, by the merger, by the judge, and after the fact."""

from typing import Any

import pytest

from tests.whole.v3.conftest import (
    ADD,
    Home,
    Script,
    accepted,
    family,
    family_spec,
    merged,
    rejected,
)

STYLE = """def test_nobody_evaluates():
    import pathlib

    texts = pathlib.Path("calc").glob("*.py")
    assert not any("eval(" in each.read_text() for each in texts)
"""


_GIVEN_UP = {
    "conflictFile": ADD.target,
    "ourChange": "eval",
    "theirChange": "a test that forbids it",
    "whyUnresolvable": "the code has to be another",
}


def _moving_main(entry: dict[str, Any]) -> dict[str, Any]:
    """The same answer, given after a person has committed a test of their own to main."""
    write = 'mkdir -p tests && printf %s "$1" > tests/test_style.py'
    command = f"cd ../.. && {write} && git add tests && git commit -qm style"
    return {**entry, "run": ["sh", "-c", command, "sh", STYLE]}


@pytest.mark.req("V-062")
def test_a_merge_that_breaks_the_target_or_displeases_the_merger_goes_back_to_impl(
    home: Home,
) -> None:
    """D09: with the reason and without charging attempts; D12: and it is reviewed again; D31."""
    script = Script().good(ADD)
    evil = "def add(a, b):\n    return eval('a + b')\n"
    script.say("./impl", ADD.impl(evil), ADD.impl(), ADD.impl(f"# Sums.\n{ADD.code}"))
    script.say("./review", _moving_main(ADD.review()), ADD.review())
    script.say("./rebase", {"exit": "RebaseConflict", "payload": _GIVEN_UP})
    script.say("./merger", rejected("MergeRejected", "it has no comment"), merged())
    home.run(ADD.spec(), script, "--into", "main")
    assert home.entered()[6:] == [
        # What came to main is taken in before the candidate; who cannot adapt to it gives up.
        *("impl", "review", "update", "rebase"),
        *("impl", "update", "review", "candidate", "merger"),
        *("impl", "review", "candidate", "merger", "publish"),
    ]
    first, second = home.prompt("impl#2"), home.prompt("impl#3")
    assert "What came in from the parent branch is in this branch now." in first
    assert "a test that forbids it" in first
    assert "it has no comment" in second
    assert "a test that forbids it" not in second
    assert "## Attempt 1 of 5" in second
    assert home.log("main") == ["feat(add): implement", "style", "start"]
    assert home.file("main", ADD.target) == f"# Sums.\n{ADD.code}".strip()
    spent = {move["budget"]: move["spent"] for move in home.moves("Charged")}
    assert (spent["merges"], spent["rounds"]) == (1, 1)


@pytest.mark.req("V-097", "V-100")
def test_a_judge_may_reject_and_a_contract_that_breaks_later_gets_a_rework(home: Home) -> None:
    """D35: before publishing; D38: what has merged is never revived, a new instance begins."""
    flag = home.root.parent / "flag"
    body = f"return 0 if os.path.exists('{flag}') else a + b"
    fragile = f"import os\n\n\ndef add(a, b):\n    {body}\n"
    stern = "tests/add/test_add_alone.py"
    robust = "def test_add_alone():\n    import calc.add\n    assert not hasattr(calc.add, 'os')\n"
    script = family(ADD)
    script.say("add/impl", ADD.impl(f"# Sums.\n{fragile}"), ADD.impl(fragile))
    # The world changes when nobody looks any more, before what was verified is published.
    yes = {**accepted(), "run": ["touch", str(flag)]}
    script.say("add/judge", rejected("Rejected", "comments are not wanted"), yes)
    again = "add-r2"
    script.say(f"{again}/scaffold", {**ADD.scaffold(), "write": {"calc/add_notes.md": "Alone.\n"}})
    ready = {"testFiles": [stern], "pendingCriteria": [ADD.criterion]}
    script.say(
        f"{again}/write_tests", {"write": {stern: robust}, "exit": "TestsReady", "payload": ready}
    )
    script.say(f"{again}/impl", ADD.impl())
    script.say(f"{again}/review", ADD.review("test_add_alone"))
    home.run(family_spec(ADD), script, "--into", "main")
    assert "comments are not wanted" in home.prompt("add/impl#2")
    assert home.entered("add")[-5:] == ["review", "candidate", "merger", "judge", "publish"]
    assert home.entered("add").count("judge") == 2
    refused = next(f for f in home.facts("GitEnded") if f["effect"].startswith("contract#1"))
    assert refused["exit"] == "refused"
    assert refused["payload"]["children"] == ["add"]
    assert "`rework`" in home.prompt(f"{again}/scaffold#1")
    assert "test_add" in home.prompt(f"{again}/scaffold#1").partition("rework")[2]
    assert home.outcomes() == {"": "complete", "add": "complete", again: "complete"}
    parent = home.log("refs/porch/archive/porch/v3_calc")
    assert parent.count("feat(add): implement") == 2
    assert home.file("main", ADD.target) == ADD.code.strip()
