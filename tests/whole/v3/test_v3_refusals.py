"""A refusal is not paid for again and again, and the page allows what the engine accepts."""

from typing import Any

import pytest

from tests.whole.v3.conftest import ADD, MUL, Home, family, family_spec, rejected

WORDS = "Only calc/add.py is yours."


def outside(*numbers: int) -> dict[str, Any]:
    """Answers of one try, each of which has changed another file that is not the child's."""
    entry: dict[str, Any] = {}
    for number in reversed(numbers):
        write = {f"elsewhere_{number}.py": "x = 1\n"}
        entry = {**ADD.impl(), "write": write, **({"refused": entry} if entry else {})}
    return entry


def test_a_child_that_keeps_breaking_one_rule_costs_four_turns_and_no_other_plan(
    home: Home,
) -> None:
    """E5"""
    script = family(ADD, MUL)
    script.say("add/impl", {"tries": [outside(1, 2, 3), outside(4, 5, 6)]}, ADD.impl())
    home.run(family_spec(ADD, MUL), script, "--into", "main", code=3)
    turns = (home.run_dir / "turns").glob("add_impl_1_agent_*/turn-*")
    assert sorted((each.parent.name[-1], each.name) for each in turns) == [
        ("0", "turn-1"),
        ("0", "turn-2"),
        ("0", "turn-3"),
        ("1", "turn-1"),
    ]
    assert home.entered().count("scaffold") == 1, "the parent plans nothing anew"
    told = " ".join(home.porch("pending").out.split())
    assert "add/impl:fault" in told
    assert "refused in two tries by the same rule (paths)" in told
    assert "'elsewhere_4.py' was changed, but you may change only calc/add.py" in told
    home.porch("answer", "calc", "add/impl:fault", "retry", WORDS)
    home.porch("resume", "calc", "--plain")
    assert WORDS in home.prompt("add/impl#2")
    assert home.outcomes() == {"mul": "complete", "add": "complete", "": "complete"}


PASSES = "def test_add_again():\n    from calc.add import add\n    assert callable(add)\n"


@pytest.mark.parametrize("files", [("tests/add/test_add_again.py",), ()], ids=["passes", "none"])
def test_a_child_that_is_done_again_may_have_tests_that_pass_or_no_new_ones(
    home: Home, files: tuple[str, ...]
) -> None:
    """E5: its work is in the branch, and its page says so."""
    flag = home.root.parent / "flag"
    body = f"return 0 if os.path.exists('{flag}') else a + b"
    fragile = f"import os\n\n\ndef add(a, b):\n    {body}\n"
    script = family(ADD)
    yes = {"run": ["touch", str(flag)], "exit": "Accepted", "payload": {"reason": "as asked"}}
    script.say("add/impl", ADD.impl(f"# Sums.\n{fragile}"), ADD.impl(fragile))
    script.say("add/judge", rejected("Rejected", "comments are not wanted"), yes)
    again = "add-r2"
    script.say(f"{again}/scaffold", {**ADD.scaffold(), "write": {"calc/add_notes.md": "Alone.\n"}})
    ready = {"testFiles": [*files], "pendingCriteria": [ADD.criterion]}
    written = dict.fromkeys(files, PASSES)
    script.say(f"{again}/write_tests", {"write": written, "exit": "TestsReady", "payload": ready})
    script.say(f"{again}/impl", ADD.impl())
    script.say(f"{again}/review", ADD.review("test_add"))
    home.run(family_spec(ADD), script, "--into", "main")
    assert home.outcomes() == {"": "complete", "add": "complete", again: "complete"}
    assert "a new test of that work may pass" in home.prompt(f"{again}/write_tests#1")
    assert "a new test of that work may pass" not in home.prompt("add/write_tests#1")
    accepted = [f for f in home.facts("ExitAccepted") if f["exit"] == "TestsReady"]
    notes = next(f["notes"] for f in accepted if f["effect"].startswith(again))
    expected = "passes already, by work of before" if files else "no test was added"
    assert any(expected in note for note in notes)
