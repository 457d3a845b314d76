"""A real fault in a real program: logs placed, read, and gone before the fix is merged."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from porch.machine.plan.prompt_ids import parse_prompt_id
from porch.plan.prompts import plan_document, prompt_edits
from tests.whole.envoy.town import PASSED, Does, People, Town

BRANCH = "feat/x--implementation-1"
FAULTY = '''\
"""Prints what each basket costs; ten per cent less from 100 on."""

import sys


def price(items, seen=[]):
    seen.extend(items)
    total = sum(seen)

    return total * 0.9 if total > 100 else total


if __name__ == "__main__":
    for line in sys.stdin:
        print(price([int(word) for word in line.split()]))
'''
HALF = (
    FAULTY.replace(", seen=[]", "").replace("    seen.extend(items)\n", "").replace("seen", "items")
)
FIXED = HALF.replace("> 100", ">= 100")
MARK = "    # [DEBUG-TEMP]\n"
MERGED = "{ success: true, merged: true }"


def logged(text: str, *lines: str, marker: str = MARK) -> str:
    """Below the sum, where a blank line follows already."""
    place = text.index("\n\n    return")
    block = "".join(f"    print({line}, file=sys.stderr)\n" for line in lines)
    return f"{text[:place]}\n{marker}{block.rstrip()}{text[place:]}"


def use(place: Path) -> subprocess.CompletedProcess[str]:
    """As a person uses the program."""
    words = [sys.executable, "basket.py"]
    return subprocess.run(
        words, cwd=place, check=True, input="60 40\n10\n", capture_output=True, text=True
    )


def reproduces(place: Path) -> dict[str, Any]:
    return {"thoughts": "it adds up what others bought", "logs": use(place).stderr}


def tries(place: Path) -> dict[str, Any]:
    printed = use(place).stdout.split()
    is_fine = printed == ["90.0", "10"]
    changes = "" if is_fine else f"it prints {' '.join(printed)}"
    return {"test_passed": is_fine, "user_required_changes": changes}


def found(town: Town, *reviews: dict[str, Any]) -> Path:
    town.found({"basket.py": FAULTY}, {BRANCH: list(reviews)})
    plan_document.write_plan(town.where, "Baskets", "They cost what they cost", "-")
    given = prompt_edits.PromptWords(debug=True, files=["basket.py"], context="A list is shared.")
    prompt_edits.write_prompt(town.where, parse_prompt_id(["1"]), given)
    return town.tree(BRANCH)


def answers(told: dict[str, Any], command: str) -> list[dict[str, Any]]:
    pairs = zip(told["calls"], told["data"], strict=True)
    return [data for call, data in pairs if call[0].startswith(command) and not call[1]]


@pytest.mark.req("E-086", "E-050", "E-047", "E-053")
def test_a_fault_is_found_with_logs_that_are_gone_when_the_fix_is_merged(town: Town) -> None:
    tree = found(town, PASSED)
    hands = {
        "logs": [{"basket.py": logged(FAULTY, "f'{seen=}'")},
                 {"basket.py": logged(HALF, "f'{total=}'", "total > 100")}],
        "code": [{"basket.py": logged(HALF, "f'{items=}'")},
                 {"basket.py": logged(FIXED, "f'{total=}'", "total > 100")}],
    }  # fmt: skip
    people = {"1_logging": [lambda: reproduces(tree)] * 2, "1_testing": [lambda: tries(tree)] * 2}
    with People(town, people):
        told = town.follow("debugging", hands, prompt_num=1, feature_branch="feat/x")
    assert told["output"] == MERGED
    first, again = list(range(1, 15)), [7, 8, 9, 10, 11, 12, 13, 14]
    assert told["trail"] == [*first, *again, 15, 16, 17, 18]
    logs = [each["logs"] for each in answers(told, "plan block-debugging-logging-gate")]
    assert logs == ["seen=[60, 40]\nseen=[60, 40, 10]", "total=100\nFalse\ntotal=10\nFalse"]
    rows = [(e["type"], e["refinement_reason"]) for e in town.prompt("1")["walkthrough"]]
    assert rows == [("initial", None), ("testing-refinement", "Testing feedback: it prints 100 10")]
    cleaned = answers(told, "plan cleanup-debug-logs")
    assert [(each["files_modified"], each["markers_removed"]) for each in cleaned] == [
        (["basket.py"], 1)
    ]
    assert (town.root / "basket.py").read_text() == FIXED
    assert use(town.root).stdout == "90.0\n10\n"
    seen = town.seen_by_reviewer(BRANCH)
    assert ["+    # [DEBUG-TEMP]" in text for text in seen] == [True, True, False]
    town.is_whole()


@pytest.mark.req("E-086")
def test_logs_that_cannot_be_removed_are_mended_by_hand_and_the_rest_is_reviewed(
    town: Town,
) -> None:
    said = FIXED.replace("items):\n", 'items):\n    """What one basket costs."""\n')
    wish = {"verdict": "failed", "thoughts": "x", "suggested_changes": "say what price is"}
    asks = {"verdict": "failed", "clarifying_questions": ["Is 100 enough for the discount?"]}
    tree = found(town, PASSED, asks, wish, PASSED, PASSED, PASSED)
    odd = "    # [DEBUG-TEMP] of Monday\n"
    hands = {
        "logs": [{"basket.py": logged(FAULTY, "f'{seen=}'")}],
        "code": [{"basket.py": logged(FIXED, "total", marker=odd)}],
        "mended": [{"basket.py": FIXED}, {"basket.py": said}],
    }
    answer = [{"question": "Is 100 enough for the discount?", "answer": "It is"}]
    people: dict[str, list[Does]] = {
        "1_logging": [lambda: reproduces(tree)],
        # What was mended by hand behind the test is tried again.
        "1_testing": [lambda: tries(tree)] * 2,
        "1_review_questions": [{"questions": answer}],
    }
    with People(town, people):
        told = town.follow("debugging", hands, prompt_num=1, feature_branch="feat/x")
    assert told["output"] == MERGED
    cleanups = [call[1:] for call in told["calls"] if call[0] == "plan cleanup-debug-logs"]
    assert cleanups == [[1, "unmatched_markers"], [0, ""], [0, ""]]
    assert [each["decision"] for each in town.prompt("1")["reviews"]] == [
        "approved", "needs_changes", "approved", "approved", "approved",
    ]  # fmt: skip
    refusals = [call[2] for call in told["calls"] if call[0].startswith("git merge") and call[1]]
    assert refusals == ["testing_outdated"]
    assert "It is" in town.seen_by_reviewer(BRANCH)[2]
    assert (town.root / "basket.py").read_text() == said
    town.is_whole()
