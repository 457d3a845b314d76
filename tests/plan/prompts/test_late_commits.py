"""V12: commits that come behind the merge of a prompt are merged or named, never left behind."""

import json
from pathlib import Path

import pytest

from porch.cli.dispatch import run_words
from porch.machine.plan.prompt_ids import PromptId
from porch.plan import branches
from porch.plan.claims import prompt_claims
from porch.plan.prompts import (
    plan_document,
    plan_merge,
    prompt_queue,
    prompt_work,
)
from porch.store.where import ProjectPaths
from tests.plan.yards import (
    Branch,
    carried_out,
    disagreements,
    facts,
    fields,
    git,
    mark,
    refused,
    start,
)

ONE = PromptId(1)


@pytest.fixture
def late(where: ProjectPaths) -> Branch:
    """A merged prompt with two more commits on its branch."""
    branch = carried_out(where, "1")
    plan_merge.merge_worktree(where, ONE)
    branch.commit("late.txt", "one\n")
    branch.commit("late.txt", "two\n")
    return branch


def test_v12_a_second_merge_brings_in_what_came_later(
    shop: Path, where: ProjectPaths, late: Branch
) -> None:
    first = fields(where, "1")["merge_commit_hash"]
    told = plan_merge.merge_worktree(where, ONE)
    assert (told.late_commits, told.found_existing) == (2, False)
    assert "2 commits" in told.notes[0]
    assert (shop / "late.txt").read_text() == "two\n"
    assert told.merge_commit_hash == git(shop, "rev-parse", "feat/x") != first
    again = plan_merge.merge_worktree(where, ONE)
    assert (again.late_commits, again.found_existing, again.notes) == (0, True, [])
    assert disagreements(where) == []


@pytest.mark.parametrize(
    "news, code",
    [
        ({"review": "passed", "reviewed_tree": "other"}, "review-outdated"),
        ({"requires_manual_testing": True, "testing": "passed"}, "testing-outdated"),
        ({"review": "failed"}, "review-not-passed"),
    ],
)
def test_v12_what_came_later_is_merged_under_the_same_rules(
    shop: Path, where: ProjectPaths, late: Branch, news: dict[str, object], code: str
) -> None:
    mark(where, "1", **news)
    before = git(shop, "rev-parse", "feat/x")
    with refused(code) as caught:
        plan_merge.merge_worktree(where, ONE)
    assert "2 commits" in str(caught.value)
    assert "envoy plan start-prompt 1" in caught.value.findings[0].fix
    assert git(shop, "rev-parse", "feat/x") == before


def test_v12_a_prompt_with_late_commits_is_taken_up_again_and_tried_again(
    shop: Path, where: ProjectPaths, late: Branch
) -> None:
    mark(where, "1", requires_manual_testing=True, testing="passed")
    prompt_claims.release_prompt(where, ONE)
    told = start(where, "1")
    assert (told.resumed, told.status) == (True, "implemented")
    assert "2 commits" in told.notes[0]
    assert prompt_queue.list_next_prompts(where, None).all_done is False
    mark(where, "1", testing="passed", tested_tree=git(late.path, "rev-parse", "HEAD^{tree}"))
    assert plan_merge.merge_worktree(where, ONE).status == "merged"
    with refused("already-merged"):
        start(where, "1")


def test_v12_a_marked_line_that_came_later_is_found(where: ProjectPaths, late: Branch) -> None:
    late.commit("a.py", "# [" + "DEBUG-TEMP]\nprint(1)\n\n")
    with refused("debug-lines"):
        plan_merge.merge_worktree(where, ONE)


def test_v12_a_prompt_is_not_done_with_while_commits_are_left(
    where: ProjectPaths, late: Branch
) -> None:
    with refused("commits-not-merged") as caught:
        prompt_work.complete_prompt(where, ONE)
    assert "2 commits" in str(caught.value)
    assert "envoy git merge-worktree 1" in caught.value.findings[0].fix
    with refused("claim-not-so"):
        prompt_work.verify_prompt(where, ONE, "merged")
    told = prompt_work.complete_prompt(where, ONE, force=True)
    assert told.forced == ["commits-not-merged"]
    with refused("claim-not-so"):
        prompt_work.verify_prompt(where, ONE, "merged")


def test_v12_status_check_and_next_say_what_is_left(
    where: ProjectPaths, late: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt_work.complete_prompt(where, ONE, force=True)
    expected = [{"prompt_id": "1", "branch": late.name, "commits": 2}]

    def told_by(*words: str) -> dict[str, object]:
        assert run_words("envoy", ["plan", *words]) == 0
        data: dict[str, object] = json.loads(capsys.readouterr().out)["data"]
        return data

    # Also of a plan that nobody was asked to accept.
    assert told_by("check")["late_commits"] == expected
    mark_in_progress(where)
    assert told_by("check")["late_commits"] == told_by("status")["late_commits"] == expected
    told = prompt_queue.list_next_prompts(where, None)
    assert (told.all_done, "2 commits" in told.notes[0]) == (False, True)
    plan_merge.merge_worktree(where, ONE)
    assert plan_document.read_plan_status(where).late_commits == []
    assert prompt_queue.list_next_prompts(where, None).all_done is True


def mark_in_progress(where: ProjectPaths) -> None:
    from porch.machine.facts import PlanMoved
    from porch.plan.session import plan_session

    with plan_session.hold_plan(where) as desk:
        desk.record(PlanMoved(action="plan", plan={"stage": "in_progress"}))


def test_v12_a_plan_does_not_end_with_commits_left(where: ProjectPaths, late: Branch) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    with refused("commits-not-merged"):
        plan_merge.complete_plan(where)
    plan_merge.complete_plan(where, force=True)
    assert facts(where)[-1]["forced"] == ["commits-not-merged"]
    assert plan_document.check_plan(where).late_commits[0].commits == 2  # type: ignore[index]


def test_v12_a_worktree_with_late_commits_stays_and_says_how_many(
    where: ProjectPaths, late: Branch
) -> None:
    told = branches.cleanup_worktrees(where)
    assert told.cleaned == []
    assert told.kept[0].reason == "it is not merged into feat/x (commits missing there: 2)"
    assert late.path.is_dir()


@pytest.mark.parametrize("how", ["squash", "rebase"])
def test_v12_what_came_in_another_form_is_not_late(
    shop: Path, where: ProjectPaths, late: Branch, how: str
) -> None:
    if how == "squash":
        git(shop, "merge", "-q", "--squash", late.name)
        git(shop, "commit", "-qm", "squashed")
    else:
        git(shop, "cherry-pick", f"feat/x..{late.name}")
    assert plan_document.read_plan_status(where).late_commits == []
    assert plan_merge.merge_worktree(where, ONE).found_existing is True
    assert prompt_work.complete_prompt(where, ONE).status == "merged"


def test_v12_a_branch_that_is_gone_has_nothing_left(
    shop: Path, where: ProjectPaths, late: Branch
) -> None:
    git(shop, "worktree", "remove", "--force", str(late.path))
    git(shop, "branch", "-qD", late.name)
    assert plan_document.read_plan_status(where).late_commits == []
