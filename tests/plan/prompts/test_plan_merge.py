"""Work comes home by a merge that either happens whole or leaves everything as it was."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.plan.prompts import plan_document, plan_merge, prompt_queue, prompt_work
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests.plan.yards import (
    Branch,
    carried_out,
    disagreements,
    facts,
    fields,
    file,
    git,
    mark,
    record,
    refused,
    start,
    tree,
    write,
)

ONE = PromptId(1)


def world(shop: Path) -> tuple[Any, ...]:
    """Every ref, every checkout and what each of them has uncommitted."""
    paths = [shop, *sorted(shop.parent.glob("work-*"))]
    statuses = [git(path, "status", "--porcelain=v2", "--branch") for path in paths]
    files = [
        {name: data for name, data in tree(path).items() if not name.startswith((".git", ".clau"))}
        for path in paths
    ]
    return git(shop, "for-each-ref"), statuses, files, git(shop, "stash", "list")


def test_a_prompt_is_merged_into_its_feature_branch(shop: Path, where: ProjectPaths) -> None:
    branch = carried_out(where, "1")
    old, head = git(shop, "rev-parse", "HEAD"), git(shop, "rev-parse", branch.name)
    told = plan_merge.merge_worktree(where, ONE, caller="me")
    new = git(shop, "rev-parse", "feat/x")
    assert to_builtins(told) == {
        "prompt_id": "1",
        "worktree_branch": branch.name,
        "merge_commit_hash": new,
        "status": "merged",
        "found_existing": False,
        "late_commits": 0,
        "unmerged_alternatives": [],
        "forced": [],
        "notes": [],
    }
    assert git(shop, "rev-parse", f"{new}^1", f"{new}^2").split() == [old, head]
    assert git(shop, "log", "-1", "--format=%s") == "Merge prompt 1 implementation"
    assert (shop / "1.txt").read_text() == "done\n"
    assert git(shop, "status", "--porcelain") == ""
    shown = fields(where, "1")
    assert (shown["status"], shown["merge_commit_hash"]) == ("merged", new)
    assert shown["in_progress"] is True
    assert disagreements(where) == []


def test_merged_again_it_is_found_and_nothing_changes(shop: Path, where: ProjectPaths) -> None:
    carried_out(where, "1")
    first = plan_merge.merge_worktree(where, ONE)
    before = world(shop), file(where, "1").read_bytes()
    again = plan_merge.merge_worktree(where, ONE)
    assert again == replace(first, found_existing=True)
    assert (world(shop), file(where, "1").read_bytes()) == before


@pytest.mark.parametrize("how", ["--no-ff", "--ff-only"])
def test_a_merge_by_hand_is_found(shop: Path, where: ProjectPaths, how: str) -> None:
    branch = carried_out(where, "1")
    git(shop, "merge", "-q", how, "-m", "by hand", branch.name)
    head = git(shop, "rev-parse", "HEAD")
    told = plan_merge.merge_worktree(where, ONE)
    assert (told.found_existing, told.merge_commit_hash) == (True, head)
    assert fields(where, "1")["status"] == "merged"
    assert git(shop, "rev-parse", "HEAD") == head


@pytest.mark.req("E-089")
def test_a_conflict_leaves_every_checkout_and_ref_as_it_was(
    shop: Path, where: ProjectPaths
) -> None:
    branch = carried_out(where, "1", "a.txt", "mine\n")
    (shop / "a.txt").write_text("theirs\n")
    git(shop, "commit", "-qam", "theirs")
    before = world(shop), file(where, "1").read_bytes(), len(facts(where))
    for _ in range(2):
        with refused("merge-conflict") as caught:
            plan_merge.merge_worktree(where, ONE)
        assert "a.txt" in str(caught.value)
        assert "commit messages" in caught.value.findings[0].fix
    assert (world(shop), file(where, "1").read_bytes(), len(facts(where))) == before
    assert not (shop / ".git/MERGE_HEAD").exists()
    done = git_merge(branch.path)
    assert done != 0
    (branch.path / "a.txt").write_text("both\n")
    git(branch.path, "commit", "-qam", "settled")
    assert plan_merge.merge_worktree(where, ONE).status == "merged"
    assert (shop / "a.txt").read_text() == "both\n"


def git_merge(path: Path) -> int:
    words = ["git", "merge", "-q", "feat/x"]
    return subprocess.run(words, cwd=path, check=False, capture_output=True).returncode


@pytest.mark.parametrize("what", ["changed", "new", "staged"])
def test_work_that_is_not_committed_is_not_left_behind(
    shop: Path, where: ProjectPaths, what: str
) -> None:
    branch = carried_out(where, "1")
    (branch.path / ("2.txt" if what == "new" else "1.txt")).write_text("more\n")
    if what == "staged":
        git(branch.path, "add", "-A")
    before = world(shop)
    with refused("uncommitted-work") as caught:
        plan_merge.merge_worktree(where, ONE)
    assert str(branch.path) in str(caught.value)
    assert world(shop) == before
    assert fields(where, "1")["status"] == "implemented"


@pytest.mark.parametrize("name", ["a.txt", "1.txt"])
def test_a_feature_branch_with_work_in_it_loses_none(
    shop: Path, where: ProjectPaths, name: str
) -> None:
    carried_out(where, "1")
    (shop / name).write_text("half done\n")
    before = world(shop)
    with pytest.raises(Exception, match=name):
        plan_merge.merge_worktree(where, ONE)
    assert world(shop) == before
    assert facts(where, "merge-worktree") == []
    git(shop, "stash", "-qu")
    plan_merge.merge_worktree(where, ONE)
    git(shop, "stash", "drop", "-q")


def test_whoever_is_in_the_middle_at_the_feature_branch_is_not_disturbed(
    shop: Path, where: ProjectPaths
) -> None:
    carried_out(where, "1")
    tracked = git(shop, "ls-files").split()[0]
    (shop / tracked).write_text("half done\n")
    with refused("uncommitted-changes"):
        plan_merge.merge_worktree(where, ONE)
    git(shop, "checkout", "-q", "--", tracked)
    git(shop, "merge", "-q", "--no-ff", "--no-commit", "feat/x--implementation-1")
    with refused("merge-in-progress"):
        plan_merge.merge_worktree(where, ONE)
    git(shop, "merge", "--abort")
    assert plan_merge.merge_worktree(where, ONE).status == "merged"


def test_a_feature_branch_that_is_checked_out_nowhere_is_merged_into(
    shop: Path, where: ProjectPaths
) -> None:
    branch = carried_out(where, "1")
    git(shop, "switch", "-q", "main")
    told = plan_merge.merge_worktree(places.find_project(str(branch.path)), ONE)
    assert git(shop, "rev-parse", "feat/x") == told.merge_commit_hash
    assert git(shop, "branch", "--show-current") == "main"
    assert not (shop / "1.txt").exists()


def test_a_prompt_that_nobody_started_has_nothing_to_merge(where: ProjectPaths) -> None:
    write(where, "1")
    with refused("no-worktree"):
        plan_merge.merge_worktree(where, ONE)
    start(where, "1")
    with refused("invalid-status"):
        plan_merge.merge_worktree(where, ONE)
    record(where, "1")
    with refused("no-worktree"):
        plan_merge.merge_worktree(where, ONE)
    with refused("not-found"):
        plan_merge.merge_worktree(where, PromptId(2))


def test_a_branch_without_a_commit_is_not_merged(shop: Path, where: ProjectPaths) -> None:
    write(where, "1")
    Branch(where, "1")
    start(where, "1")
    record(where, "1")
    before = world(shop)
    with refused("nothing-to-merge"):
        plan_merge.merge_worktree(where, ONE, force=True)
    assert world(shop) == before


@pytest.mark.parametrize(
    "news, code",
    [
        ({"review": "failed"}, "review-not-passed"),
        ({"requires_manual_testing": True}, "testing-not-passed"),
        ({"requires_manual_testing": True, "testing": "failed"}, "testing-not-passed"),
    ],
)
def test_what_was_not_passed_is_not_merged_without_force(
    shop: Path, where: ProjectPaths, news: dict[str, Any], code: str
) -> None:
    carried_out(where, "1")
    mark(where, "1", **news)
    before = world(shop)
    with refused(code):
        plan_merge.merge_worktree(where, ONE)
    assert world(shop) == before
    told = plan_merge.merge_worktree(where, ONE, force=True)
    assert told.forced == facts(where)[-1]["forced"] == [code]


@pytest.mark.req("E-040")
@pytest.mark.parametrize("solution", ["alternative", "discard", ""])
def test_only_the_main_variant_is_merged(shop: Path, where: ProjectPaths, solution: str) -> None:
    for id_ in ("1_A", "1_B"):
        carried_out(where, id_)
    mark(where, "1_A", variant_solution=solution)
    mark(where, "1_B", variant_solution="main" if solution else "")
    before = git(shop, "rev-parse", "feat/x")
    with refused("variant-put-aside" if solution else "variant-not-resolved"):
        plan_merge.merge_worktree(where, parse_prompt_id(["1A"]))
    assert git(shop, "rev-parse", "feat/x") == before
    if solution:
        plan_merge.merge_worktree(where, parse_prompt_id(["1B"]))
        with refused("variant-put-aside"):
            plan_merge.merge_worktree(where, parse_prompt_id(["1A"]))


def test_in_a_bare_repository_work_comes_home_between_its_worktrees(
    shop: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "shop.git"
    git(tmp_path, "clone", "-q", "--bare", str(shop), str(bare))
    git(bare, "worktree", "add", "-q", str(tmp_path / "feature"), "feat/x")
    where = places.find_project(str(tmp_path / "feature"))
    branch = carried_out(where, "1")
    told = plan_merge.merge_worktree(places.find_project(str(branch.path)), ONE)
    assert git(bare, "rev-parse", "feat/x") == told.merge_commit_hash
    assert (tmp_path / "feature/1.txt").read_text() == "done\n"
    assert git(tmp_path / "feature", "status", "--porcelain") == ""
    assert prompt_work.complete_prompt(where, ONE).status == "merged"


def test_prompts_are_merged_one_after_the_other(shop: Path, where: ProjectPaths) -> None:
    for number in "123":
        carried_out(where, number)
    for number in "231":
        plan_merge.merge_worktree(where, parse_prompt_id([number]))
        prompt_work.complete_prompt(where, parse_prompt_id([number]))
    assert [(shop / f"{number}.txt").read_text() for number in "123"] == ["done\n"] * 3
    assert prompt_queue.list_next_prompts(where, 1).all_done is True
    assert disagreements(where) == []


def test_a_broken_file_is_told_before_anything_is_merged(shop: Path, where: ProjectPaths) -> None:
    carried_out(where, "1")
    file(where, "1").write_bytes(b"broken")
    before = world(shop)
    with refused("bad-front-matter"):
        plan_merge.merge_worktree(where, ONE)
    with refused("bad-front-matter"):
        prompt_work.complete_prompt(where, ONE)
    assert world(shop) == before
    assert len(facts(where)) == 3


# -- the end ---------------------------------------------------------------------------------------


def test_a_plan_is_complete_once_everything_in_it_is_merged_or_put_aside(
    where: ProjectPaths,
) -> None:
    plan_document.write_plan(where, "Faster", "o", "c")
    for id_ in ("1_A", "1_B", "2"):
        carried_out(where, id_)
    with refused("prompts-not-merged") as caught:
        plan_merge.complete_plan(where)
    assert "1_A, 1_B, 2" in str(caught.value)
    mark(where, "1_A", variant_solution="main")
    mark(where, "1_B", variant_solution="alternative")
    for id_ in ("1_A", "2"):
        plan_merge.merge_worktree(where, parse_prompt_id([id_]))
    told = plan_merge.complete_plan(where, caller="me")
    assert (told.success, told.stage, told.unmerged_prompts) == (True, "completed", [])
    assert told.summary.startswith("# Faster\n\n## Prompt 1_A (merged as ")
    assert "## Prompt 1_B (implemented, alternative)\n\nTurn 1 of 1_B." in told.summary
    home = Path(file(where, "1_A").parents[1])
    assert (home / "summary.md").read_text() == told.summary + "\n"
    assert "stage: completed" in (home / "plan.md").read_text()
    assert plan_document.check_plan(where).summary == told.summary + "\n"
    assert plan_document.read_full_plan(where).plan.front_matter["stage"] == "completed"


def test_a_plan_is_ended_by_force_and_that_is_logged(where: ProjectPaths) -> None:
    write(where, "1", description="can never be done")
    told = plan_merge.complete_plan(where, " My words. ", force=True)
    assert (told.summary, told.unmerged_prompts) == ("My words.", ["1"])
    assert facts(where)[-1]["forced"] == ["prompts-not-merged"]


def test_completed_again_it_is_the_same(where: ProjectPaths) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    with refused("no-prompts"):
        plan_merge.complete_plan(where)
    first = plan_merge.complete_plan(where, force=True)
    home = file(where, "1").parents[1]
    before = tree(home)
    assert plan_merge.complete_plan(where, force=True) == first
    assert tree(home) == before


def test_what_is_said_after_the_end_is_kept_too(where: ProjectPaths) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    plan_merge.complete_plan(where, force=True)
    plan_document.append_user_input(where, "one more thing")
    with refused("plan-completed"):
        write(where, "1")
    with refused("plan-completed"):
        plan_document.write_plan(where, "Another", "o", "c")
    assert plan_document.check_plan(where).stage == "completed"
    assert disagreements(where) == []
