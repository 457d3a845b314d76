"""What an agent says about a prompt, held against what is so."""

from pathlib import Path

import pytest

from porch.adapters.where import Where
from porch.model.prompt_ids import PromptId
from porch.operations.plans import homecoming, verifying
from tests.operations.plans.yards import carried_out, git, mark, refused, write

ONE = PromptId(1)


def test_what_is_merged_is_merged(where: Where) -> None:
    carried_out(where, "1")
    with refused("claim-not-so"):
        verifying.verify(where, ONE, "merged")
    homecoming.merge_worktree(where, ONE)
    assert verifying.verify(where, ONE, "merged")["verified"] is True
    with refused("claim-not-so"):
        verifying.verify(where, ONE, "put-aside")


def test_a_merge_that_was_taken_back_is_none(shop: Path, where: Where) -> None:
    carried_out(where, "1")
    homecoming.merge_worktree(where, ONE)
    git(shop, "reset", "-q", "--hard", "HEAD~1")
    with refused("claim-not-so"):
        verifying.verify(where, ONE, "merged")


@pytest.mark.parametrize("solution", ["alternative", "discard"])
def test_what_a_person_put_aside_is_put_aside(where: Where, solution: str) -> None:
    write(where, "1")
    mark(where, "1", variant_solution=solution)
    assert verifying.verify(where, ONE, "put-aside")["verified"] is True


def test_the_plan_of_another_branch_may_be_meant(shop: Path, where: Where) -> None:
    carried_out(where, "1")
    homecoming.merge_worktree(where, ONE)
    git(shop, "switch", "-q", "main")
    with refused("no-plan"):
        verifying.verify(where, ONE, "merged")
    assert verifying.verify(where, ONE, "merged", "feat/x")["verified"] is True


def test_only_a_dry_run_needs_no_plan(where: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    with refused("no-plan"):
        verifying.verify(where, ONE, "merged")
    monkeypatch.setenv("PORCH_DRY_RUN", "1")
    assert "dry run" in verifying.verify(where, ONE, "merged")["note"]
    write(where, "1")
    with refused("claim-not-so"):
        verifying.verify(where, ONE, "merged")
