"""An agent that only does what is printed brings prompts home: `envoy protocol implementation`."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.whole.envoy.town import PASSED, People, Town

MINE = "x--implementation-1"
BRANCH = f"feat/{MINE}"
SHOP = "def total(prices):\n    return 0\n"
FIRST = "def total(prices):\n    return sum(prices)\n"
SECOND = 'def total(prices):\n    """What all of it costs."""\n    return sum(prices)\n'
THIRD = SECOND.replace("sum(prices)", "round(sum(prices), 2)")
FILES = {"shop.py": SHOP}
CHANGES = {"verdict": "failed", "thoughts": "x", "suggested_changes": "Say what it is for."}
MERGED = "{ success: true, merged: true }"
REJECTED = '{ success: true, merged: false, reason: "rejected" }'


def plan(town: Town, *prompts: str, more: tuple[str, ...] = ()) -> None:
    town.envoy("plan", "write-plan", "--title", "Shop", "--objective", "Sums", "--context", "-")
    for name in prompts:
        words = ("--description", "Sum the prices", "--files", "shop.py", "--criteria", "It adds")
        town.envoy("plan", "write-prompt", name, *words, "--context", f"Body of {name}", *more)


def code(*versions: str) -> dict[str, Any]:
    return {"code": [{"shop.py": version} for version in versions]}


def tries(place: Path) -> dict[str, Any]:
    """A person who types the program and looks at what it prints."""
    words = [sys.executable, "-c", "import shop; print(shop.total([0.1, 0.2]))"]
    done = subprocess.run(words, cwd=place, check=False, capture_output=True, text=True)
    is_fine = done.stdout == "0.3\n"
    changes = "" if is_fine else f"it printed {done.stdout.strip()}"
    return {"test_passed": is_fine, "user_required_changes": changes}


@pytest.mark.req("E-086", "E-032", "E-034", "E-087", "E-088")
def test_a_prompt_is_carried_out_reviewed_tested_and_merged(town: Town) -> None:
    town.found(FILES, {BRANCH: [CHANGES, PASSED]})
    plan(town, "1", more=("--requires-testing",))
    tree = town.tree(BRANCH)
    person = {"1_testing": [lambda: tries(tree)] * 2}
    with People(town, person):
        told = town.follow(
            "implementation", code(FIRST, SECOND, THIRD), prompt_num=1, feature_branch="feat/x"
        )
    assert told["output"] == MERGED
    once, again = list(range(1, 12)), [9, 10, 11, 12]
    assert told["trail"] == [*once, *again, 7, 8, *again, 13, 14, 15]
    assert (town.root / "shop.py").read_text() == THIRD
    prompt = town.prompt("1")
    rows = [(each["iteration"], each["type"]) for each in prompt["walkthrough"]]
    assert rows == [(1, "initial"), (2, "review-refinement"), (3, "testing-refinement")]
    reasons = [each["refinement_reason"] for each in prompt["walkthrough"]]
    assert reasons[1:] == [
        "Review feedback: Say what it is for.",
        "Testing feedback: it printed 0.30000000000000004",
    ]
    assert [each["decision"] for each in prompt["reviews"]] == [
        "needs_changes", "approved", "approved",
    ]  # fmt: skip
    assert prompt["status"] == "merged"
    assert prompt["in_progress"] is False
    merge = prompt["merge_commit_hash"]
    assert town.git("log", "-1", "--format=%H %s") == f"{merge} Merge prompt 1 implementation"
    assert len(town.git("log", "-1", "--format=%P").split()) == 2
    town.is_whole()
