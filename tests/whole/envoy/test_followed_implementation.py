"""An agent that only does what is printed brings prompts home: `envoy protocol implementation`."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from porch.machine.plan.prompt_ids import parse_prompt_id
from porch.plan.prompts import plan_document, prompt_edits
from tests.whole.envoy.town import PASSED, People, Town

MINE = "x--implementation-1"
BRANCH = f"feat/{MINE}"
SHOP = "def total(prices):\n    return 0\n"
FIRST = "def total(prices):\n    return sum(prices)\n"
SECOND = 'def total(prices):\n    """What all of it costs."""\n    return sum(prices)\n'
THIRD = SECOND.replace("sum(prices)", "round(sum(prices), 2)")
# Whoever tries the program leaves compiled files behind; git ignores them, as everywhere.
FILES = {"shop.py": SHOP, ".gitignore": "__pycache__/\n"}
CHANGES = {"verdict": "failed", "thoughts": "x", "suggested_changes": "Say what it is for."}
STORY = re.compile(
    ".*".join((
        "write-prompt 1", "start-prompt 1", "record-implementation 1, 1, initial",
        "gemini: REQUEST_CHANGES", "record-implementation 1, 2, review-refinement",
        "gemini: APPROVE", "waiting for your decision: testing 1", "testing 1: answered",
        "record-implementation 1, 3, testing-refinement", "testing 1, attempt 2: answered",
        "merge-worktree 1", "complete-prompt 1", "complete by .*; the run is complete",
    )),
    re.DOTALL,
)  # fmt: skip
MERGED = "{ success: true, merged: true }"
REJECTED = '{ success: true, merged: false, reason: "rejected" }'


def plan(town: Town, *prompts: str, testing: bool = False) -> None:
    plan_document.write_plan(town.where, "Shop", "It sums", "-")
    for name in prompts:
        given = prompt_edits.PromptWords(
            files=["shop.py"],
            criteria="It adds",
            context=f"Body of {name}",
            description="Sum the prices",
            requires_testing=testing,
        )
        prompt_edits.write_prompt(town.where, parse_prompt_id([name]), given)


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
    plan(town, "1", testing=True)
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
    assert town.envoy("plan", "complete")["summary"].startswith("# Shop")
    assert STORY.search(town.type("porch", "log", "plan/feat/x"))
    town.is_whole()


@pytest.mark.req("E-025", "E-086")
def test_an_agent_that_dies_is_followed_by_one_that_goes_on(town: Town) -> None:
    town.found(FILES, {})
    plan(town, "1", testing=True)
    inputs = {"prompt_num": 1, "feature_branch": "feat/x"}
    for point in ("code:1", "plan record-implementation 1"):
        town.send("implementation", {**code(THIRD), "dies_at": point}, **inputs).died()
        assert town.prompt("1")["in_progress"] is True
    begun = town.git("reflog", "--format=%gs", BRANCH).splitlines()
    waiting = town.send("implementation", code(THIRD), **inputs)
    town.await_question("1_testing")
    os.killpg(waiting.process.pid, signal.SIGKILL)
    waiting.died()
    town.type("porch", "approve", "plan/feat/x", "testing:1")
    told = town.follow("implementation", code(THIRD), **inputs)
    assert told["output"] == MERGED
    assert told["trail"] == [1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 15]
    assert ["plan start-prompt", True] in resumed(told)
    assert begun == ["branch: Created from feat/x"]
    assert town.git("log", "--format=%s", f"main..{BRANCH}") == "Prompt 1: as planned"
    assert [each["iteration"] for each in town.prompt("1")["walkthrough"]] == [1]
    assert len(town.git("worktree", "list").splitlines()) == 2
    town.is_whole()


def test_n4_another_session_continues_what_was_interrupted_and_says_so(town: Town) -> None:
    town.found(FILES, {})
    plan(town, "1")
    inputs = {"prompt_num": 1, "feature_branch": "feat/x"}
    town.more["CLAUDE_CODE_SESSION_ID"] = "one"
    town.send("implementation", {**code(THIRD), "dies_at": "code:1"}, **inputs).died()
    town.more["CLAUDE_CODE_SESSION_ID"] = "two"
    told = town.follow("implementation", code(THIRD), **inputs)
    assert told["output"] == MERGED
    starts = [call for call in told["calls"] if call[0].startswith("plan start-prompt")]
    assert [call[2] for call in starts] == ["worker_gone", ""]
    assert starts[1][0].endswith(" --take-over")
    town.is_whole()


def test_v11_logs_that_were_forgotten_are_removed_before_the_merge(town: Town) -> None:
    town.found(FILES, {})
    plan(town, "1")
    logged = THIRD.replace("    return", "    # [" + "DEBUG-TEMP]\n    print(prices)\n\n    return")
    told = town.follow("implementation", code(logged), prompt_num=1, feature_branch="feat/x")
    assert told["output"] == MERGED
    merges = [call[2] for call in told["calls"] if call[0] == "git merge-worktree 1"]
    assert merges == ["debug_lines", ""]
    assert "DEBUG" not in (town.root / "shop.py").read_text()
    town.is_whole()


def resumed(told: dict[str, Any]) -> list[list[Any]]:
    pairs = zip(told["calls"], told["data"], strict=True)
    return [[" ".join(call[0].split()[:2]), data.get("resumed")] for call, data in pairs]


def test_a_prompt_that_somebody_works_on_is_left_alone(town: Town) -> None:
    town.found(FILES, {})
    plan(town, "1", testing=True)
    inputs = {"prompt_num": 1, "feature_branch": "feat/x"}
    first = town.send("implementation", code(THIRD), **inputs)
    town.await_question("1_testing")
    told = town.follow("implementation", code(FIRST), **inputs)
    assert told["output"] == '{ success: false, merged: false, reason: "already_in_progress" }'
    with People(town, {"1_testing": [{"test_passed": True, "thoughts": "fine"}]}):
        assert first.came()["output"] == MERGED
    assert (town.root / "shop.py").read_text() == THIRD


@pytest.mark.req("E-086", "E-032")
def test_a_reviewer_whom_nothing_pleases_ends_it_with_the_output_of_failure(town: Town) -> None:
    town.found(FILES, {BRANCH: [CHANGES]})
    plan(town, "1")
    told = town.follow("implementation", code(FIRST), prompt_num=1, feature_branch="feat/x")
    assert told["output"] == '{ success: false, merged: false, reason: "no_rounds_left" }'
    assert [call[0] for call in told["calls"]].count("gemini review 1") == 5
    assert town.tree(BRANCH).is_dir()
    assert (town.root / "shop.py").read_text() == SHOP
    town.is_whole()


@pytest.mark.req("E-086")
def test_of_two_variants_one_is_merged_and_the_other_kept(town: Town) -> None:
    town.found(FILES, {})
    plan(town, "1_A", "1_B")
    chosen = {"A": {"decision": "main", "reason": "short"}, "B": {"decision": "alternative"}}
    inputs = {"prompt_num": 1, "feature_branch": "feat/x"}
    with People(town, {"1_variants": [{"variants": chosen}]}):
        both = [town.send("implementation", code(text), variant=letter, **inputs)
                for letter, text in (("A", SECOND), ("B", THIRD))]  # fmt: skip
        a, b = (each.came() for each in both)
    assert (a["output"], b["output"]) == (MERGED, REJECTED)
    assert a["told_user"] == [f"{BRANCH}-B"]
    assert a["trail"][-3:] == [13, 14, 15]
    assert b["trail"][-1] == 13
    assert (town.root / "shop.py").read_text() == SECOND
    assert (town.tree(f"{BRANCH}-B") / "shop.py").read_text() == THIRD
    assert town.git("log", "--format=%s", f"feat/x..{BRANCH}-B") == "Prompt 1: as planned"
    assert town.prompt("1_B")["variant_solution"] == "alternative"
    town.is_whole()


@pytest.mark.req("E-086")
def test_a_variant_that_is_discarded_is_archived(town: Town) -> None:
    town.found(FILES, {})
    plan(town, "1_A", "1_B")
    words = "variants: {A: {decision: discard, reason: no}, B: {decision: main, reason: yes}}"
    answer = ("porch", "answer", "plan/feat/x", "variants:1", words)
    inputs = {"prompt_num": 1, "feature_branch": "feat/x"}
    with People(town, {"1_variants": [answer]}):
        both = [town.send("implementation", code(text), variant=letter, **inputs)
                for letter, text in (("A", FIRST), ("B", THIRD))]  # fmt: skip
        a, b = (each.came() for each in both)
    assert (a["output"], b["output"]) == (REJECTED, MERGED)
    assert not town.tree(f"{BRANCH}-A").exists()
    assert town.git("branch", "--list", f"{BRANCH}-A") == ""
    assert town.git("show", f"archive/{BRANCH}-A:shop.py") == FIRST.strip()
    assert (town.root / "shop.py").read_text() == THIRD
    town.is_whole()


@pytest.mark.req("E-089", "E-086")
def test_a_conflict_is_settled_on_the_branch_and_merged_again(town: Town) -> None:
    town.found(FILES, {})
    plan(town, "1", "2", testing=True)
    other = "def total(prices):\n    return float(sum(prices))\n"
    both = "def total(prices):\n    return round(float(sum(prices)), 2)\n"
    hands = {**code(other), "settled": {"shop.py": both}}
    late = town.send("implementation", hands, prompt_num=2, feature_branch="feat/x")
    with People(town, {"1_testing": [{"test_passed": True}]}):
        town.follow("implementation", code(THIRD), prompt_num=1, feature_branch="feat/x")
    with People(town, {"2_testing": [{"test_passed": True}] * 2}):
        told = late.came()
    assert told["output"] == MERGED
    # What was settled has been seen by nobody before it is reviewed and tried again.
    seen = [call[0].split()[1] for call in told["calls"] if call[0].startswith("gemini review")]
    assert len(seen) == 2
    merges = [call[1:] for call in told["calls"] if call[0].startswith("git merge-worktree")]
    assert merges == [[1, "merge_conflict"], [0, ""]]
    assert (town.root / "shop.py").read_text() == both
    said = town.git("log", "-1", "--format=%B", "feat/x--implementation-2")
    assert "Prompt 1: as planned" in said
    assert "Prompt 2: as planned" in said
    town.is_whole()


@pytest.mark.parametrize(
    "text, why",
    [
        ("Go to step 3 if the moon is full.", "nobody understands this"),
        ("Sing: `envoy plan sing <PROMPT_NUM>`", "is wrong"),
        ("Run `envoy plan read-prompt <WHICH>`.", "nobody knows <WHICH>"),
        ("Run `envoy plan complete-prompt <PROMPT_NUM>`.", "failed"),
    ],
)
def test_a_text_that_cannot_be_followed_is_noticed(town: Town, text: str, why: str) -> None:
    town.found(FILES, {})
    plan(town, "1")
    own = yaml.safe_dump({"name": "odd", "extends": "implementation", "steps": {1: text}})
    town.write(".claude/protocols/odd.yaml", own)
    sent = town.send("odd", code(FIRST), prompt_num=1, feature_branch="feat/x")
    with pytest.raises(AssertionError, match=why):
        sent.came()
