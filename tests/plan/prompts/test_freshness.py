"""What people and reviewers have seen is what is merged, and nobody gets around it quietly."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from porch.machine.plan.prompt_ids import PromptId
from porch.plan.claims import prompt_claims
from porch.plan.files import plan_location
from porch.plan.prompts import (
    branch_contents,
    claim_owner,
    plan_document,
    plan_merge,
    prompt_edits,
    prompt_queue,
    prompt_work,
)
from porch.plan.prompts.prompt_edits import PromptWords
from porch.run.verbs import decide
from porch.run.verbs.decide import DecisionRequest
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests.plan.gatehouse import RUN, ask
from tests.plan.yards import (
    Branch,
    carried_out,
    facts,
    git,
    mark,
    record,
    refused,
    start,
    write,
)

ONE = PromptId(1)


def passed(where: ProjectPaths, id_: str = "1") -> None:
    """A person tries a prompt and is content."""
    ask(where, "testing", id_)
    decide.decide_question(where, RUN, f"testing:{id_}", DecisionRequest("approved"))


@pytest.fixture
def tried(where: ProjectPaths) -> Branch:
    branch = carried_out(where, "1")
    mark(where, "1", requires_manual_testing=True)
    passed(where)
    return branch


def test_what_was_tried_is_merged(where: ProjectPaths, tried: Branch) -> None:
    assert plan_merge.merge_worktree(where, ONE).forced == []


def test_work_after_the_test_is_tried_again_before_it_is_merged(
    where: ProjectPaths, tried: Branch
) -> None:
    tried.commit("late.txt", "nobody has seen this\n")
    with refused("testing-outdated"):
        plan_merge.merge_worktree(where, ONE)
    record(where, "1", 2, "Testing feedback: more")
    passed(where)
    assert plan_merge.merge_worktree(where, ONE).forced == []


def test_to_commit_what_was_tried_is_no_new_work(where: ProjectPaths) -> None:
    branch = carried_out(where, "1")
    mark(where, "1", requires_manual_testing=True)
    (branch.path / "late.txt").write_text("not committed yet\n")
    passed(where)
    git(branch.path, "add", "-A")
    git(branch.path, "commit", "-qm", "as it was tried")
    assert plan_merge.merge_worktree(where, ONE).status == "merged"


def test_work_after_the_review_is_reviewed_again(where: ProjectPaths) -> None:
    branch = carried_out(where, "1")
    plan = plan_location.find_current_plan(where)
    mark(
        where,
        "1",
        review="passed",
        reviewed_tree=branch_contents.hash_branch_files(plan, branch.name),
    )
    branch.commit("late.txt", "unseen\n")
    with refused("review-outdated"):
        plan_merge.merge_worktree(where, ONE)
    told = plan_merge.merge_worktree(where, ONE, force=True)
    assert told.forced == facts(where, "merge-worktree")[-1]["forced"] == ["review-outdated"]


def test_another_branch_is_not_merged_as_the_one_that_was_tried(
    where: ProjectPaths, tried: Branch
) -> None:
    git(where.base, "branch", "evil", "feat/x")
    work = Path(where.base).parent / "evil"
    git(where.base, "worktree", "add", "-q", str(work), "evil")
    (work / "evil.txt").write_text("x\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "evil")
    prompt_claims.release_prompt(where, ONE)
    start(where, "1", worktree="evil")
    with refused("testing-outdated"):
        plan_merge.merge_worktree(where, ONE)


def test_a_merge_by_hand_of_other_files_is_not_called_tested(
    where: ProjectPaths, tried: Branch
) -> None:
    tried.commit("late.txt", "unseen\n")
    git(where.base, "merge", "-q", "--no-ff", "-m", "by hand", tried.name)
    with refused("testing-outdated"):
        prompt_work.complete_prompt(where, ONE)
    assert prompt_work.complete_prompt(where, ONE, force=True).forced == ["testing-outdated"]


def test_what_is_asked_for_anew_has_been_tried_by_nobody(
    where: ProjectPaths, tried: Branch
) -> None:
    prompt_claims.release_prompt(where, ONE)
    prompt_edits.write_prompt(where, ONE, PromptWords(criteria="something else"))
    with refused("testing-not-passed"):
        plan_merge.merge_worktree(where, ONE)


def test_a_prompt_that_was_begun_is_not_cleared_quietly(where: ProjectPaths, tried: Branch) -> None:
    prompt_claims.release_prompt(where, ONE)
    with refused("has-begun"):
        prompt_edits.clear_prompt(where, ONE)
    prompt_edits.clear_prompt(where, ONE, force=True)
    assert facts(where, "clear-prompt")[-1]["forced"] == ["has-begun"]


def test_what_a_person_accepted_is_not_taken_out_quietly(where: ProjectPaths) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    for id_ in ("1", "2_A", "2_B"):
        write(where, id_)
    ask(where, "plan")
    decide.decide_question(where, RUN, "plan", DecisionRequest("approved"))
    with refused("plan-accepted"):
        prompt_edits.clear_prompt(where, PromptId(2, "B"))
    prompt_edits.clear_prompt(where, PromptId(2, "B"), force=True)
    assert facts(where, "clear-prompt")[-1]["forced"] == ["plan-accepted"]


def test_a_claim_is_given_back_by_those_who_have_it(where: ProjectPaths) -> None:
    write(where, "1")
    start(where, "1")
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        other: dict[str, Any] = claim_owner.describe_caller(process.pid)
        mark(where, "1", owner=other)
        with refused("already-in-progress"):
            prompt_claims.release_prompt(where, ONE)
        assert prompt_claims.release_prompt(where, ONE, "gone mad", force=True).released is True
    finally:
        process.kill()
        process.wait()
    assert facts(where, "release-prompt")[-1]["forced"] == ["already-in-progress"]
    assert prompt_queue.list_next_prompts(where, None).count == 1


def test_in_a_submodule_the_plan_is_that_of_its_branch(shop: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", "-b", "main", str(outer))
    words = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(shop), "inner")
    git(outer, *words)
    git(outer / "inner", "switch", "-q", "-c", "feat/inner")
    here = places.find_project(str(outer / "inner"))
    assert plan_document.init_plan(here).branch == "feat/inner"
    assert plan_document.check_plan(here).exists is True


def test_what_was_noticed_is_told_with_what_went_wrong(where: ProjectPaths) -> None:
    write(where, "1")
    path = Path(plan_location.find_current_plan(where).prompts_dir, "1.md")
    path.write_text(path.read_text().replace("status: unimplemented", "status: tested"))
    with pytest.raises(Exception, match=r"not-found|no prompt") as caught:
        prompt_edits.clear_prompt(where, PromptId(9))
    assert "changed by hand" in str(caught.value)


LOGGED = "def f():\n    # [" + "DEBUG-TEMP]\n    print(1)\n\n    real = 1\n    return real\n"
CLEAN = "def f():\n\n    real = 1\n    return real\n"


@pytest.fixture
def logged(where: ProjectPaths) -> Branch:
    """The fix of a fault, tried by a person with its logs still in it, and reviewed."""
    branch = carried_out(where, "1", "fix.py", LOGGED)
    mark(where, "1", kind="debug", completed_debug_logging=True)
    passed(where)
    return branch


def review(where: ProjectPaths, branch: Branch) -> None:
    plan = plan_location.find_current_plan(where)
    mark(
        where,
        "1",
        review="passed",
        reviewed_tree=branch_contents.hash_branch_files(plan, branch.name),
    )


def test_a_fix_that_lost_only_its_logs_after_the_test_is_merged(
    where: ProjectPaths, logged: Branch
) -> None:
    logged.commit("fix.py", CLEAN)
    review(where, logged)
    assert plan_merge.merge_worktree(where, ONE).forced == []


@pytest.mark.parametrize(
    "name, text",
    [
        pytest.param("fix.py", CLEAN.replace("1", "666"), id="another value"),
        pytest.param("fix.py", CLEAN + "\n", id="a line more"),
        pytest.param("other.py", "x = 1\n", id="another file"),
        pytest.param("fix.py", "", id="nothing left"),
    ],
)
def test_a_fix_that_changed_after_the_test_is_tried_again(
    where: ProjectPaths, logged: Branch, name: str, text: str
) -> None:
    """X12: real = 666 was reviewed and merged, and nobody had tried it."""
    logged.commit("fix.py", CLEAN)
    logged.commit(name, text)
    review(where, logged)
    with refused("testing-outdated"):
        plan_merge.merge_worktree(where, ONE)
    passed(where)
    assert plan_merge.merge_worktree(where, ONE).forced == []
