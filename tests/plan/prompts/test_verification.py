"""What an agent says about a prompt, held against what is so."""

from pathlib import Path

import pytest

from porch.machine.plan.prompt_ids import PromptId
from porch.plan.prompts import plan_merge, prompt_work
from porch.store.where import ProjectPaths
from tests.plan.yards import carried_out, git, mark, refused, write

ONE = PromptId(1)


def test_what_is_merged_is_merged(where: ProjectPaths) -> None:
    carried_out(where, "1")
    with refused("claim-not-so"):
        prompt_work.verify_prompt(where, ONE, "merged")
    plan_merge.merge_worktree(where, ONE)
    assert prompt_work.verify_prompt(where, ONE, "merged").verified is True
    with refused("claim-not-so"):
        prompt_work.verify_prompt(where, ONE, "put-aside")


def test_a_merge_that_was_taken_back_is_none(shop: Path, where: ProjectPaths) -> None:
    carried_out(where, "1")
    plan_merge.merge_worktree(where, ONE)
    git(shop, "reset", "-q", "--hard", "HEAD~1")
    with refused("claim-not-so"):
        prompt_work.verify_prompt(where, ONE, "merged")


@pytest.mark.parametrize("solution", ["alternative", "discard"])
def test_what_a_person_put_aside_is_put_aside(where: ProjectPaths, solution: str) -> None:
    write(where, "1")
    mark(where, "1", variant_solution=solution)
    assert prompt_work.verify_prompt(where, ONE, "put-aside").verified is True


def test_the_plan_of_another_branch_may_be_meant(shop: Path, where: ProjectPaths) -> None:
    carried_out(where, "1")
    plan_merge.merge_worktree(where, ONE)
    git(shop, "switch", "-q", "main")
    with refused("no-plan"):
        prompt_work.verify_prompt(where, ONE, "merged")
    assert prompt_work.verify_prompt(where, ONE, "merged", "feat/x").verified is True


def test_only_a_dry_run_needs_no_plan(where: ProjectPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    with refused("no-plan"):
        prompt_work.verify_prompt(where, ONE, "merged")
    monkeypatch.setenv("PORCH_DRY_RUN", "1")
    assert "dry run" in prompt_work.verify_prompt(where, ONE, "merged").note
    write(where, "1")
    with refused("claim-not-so"):
        prompt_work.verify_prompt(where, ONE, "merged")
