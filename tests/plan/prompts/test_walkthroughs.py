"""What was done is told to whoever writes it up, once each."""

from pathlib import Path

import pytest
from msgspec import to_builtins

from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.plan.prompts import plan_merge, prompt_work, walkthroughs
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
    write,
)

ONE = PromptId(1)


def test_a_prompt_without_work_has_an_empty_walkthrough(where: ProjectPaths) -> None:
    write(where, "2_A", description="d", criteria="c")
    assert to_builtins(walkthroughs.read_walkthrough(where, parse_prompt_id(["2A"]))) == {
        "prompt_num": 2,
        "variant": "A",
        "description": "d",
        "success_criteria": "c",
        "walkthrough": [],
        "git_diff_summary": "",
        "merge_commit_hash": None,
        "documentation_extracted": False,
    }
    with refused("not-found"):
        walkthroughs.read_walkthrough(where, ONE)


def test_before_the_merge_the_difference_is_that_of_the_files_it_is_about(
    shop: Path, where: ProjectPaths
) -> None:
    write(where, "1", files=["mine.txt", ":(top)", "*"])
    branch = Branch(where, "1")
    branch.commit("mine.txt", "1\n2\n")
    branch.commit("other.txt", "x\n")
    start(where, "1")
    record(where, "1")
    told = walkthroughs.read_walkthrough(where, ONE)
    assert "mine.txt | 2 ++" in told.git_diff_summary
    assert "other.txt" not in told.git_diff_summary
    assert told.walkthrough[0]["approach"] == "Turn 1 of 1."
    assert git(shop, "status", "--porcelain") == ""


@pytest.mark.parametrize("how", ["engine", "by hand", "fast-forward"])
def test_after_the_merge_the_difference_is_all_that_it_brought(
    shop: Path, where: ProjectPaths, how: str
) -> None:
    branch = carried_out(where, "1", "one.txt")
    branch.commit("two.txt")
    if how == "engine":
        plan_merge.merge_worktree(where, ONE)
    else:
        words = ["--no-ff", "-m", "m"] if how == "by hand" else ["--ff-only"]
        git(shop, "merge", "-q", *words, branch.name)
    prompt_work.complete_prompt(where, ONE)
    (shop / "later.txt").write_text("x")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "later")
    told = walkthroughs.read_walkthrough(where, ONE)
    assert told.merge_commit_hash == fields(where, "1")["merge_commit_hash"]
    summary = told.git_diff_summary
    assert "two.txt" in summary
    assert "one.txt" in summary
    assert "later.txt" not in summary


def test_a_merge_that_is_not_there_any_more_has_no_difference(where: ProjectPaths) -> None:
    write(where, "1")
    mark(where, "1", status="merged", merge_commit_hash="f" * 40)
    assert walkthroughs.read_walkthrough(where, ONE).git_diff_summary == ""


def test_a_prompt_is_written_up_once(where: ProjectPaths) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    told = walkthroughs.mark_prompt_extracted(where, ONE, "curator")
    assert to_builtins(told) == {"id": "1", "documentation_extracted": True, "notes": []}
    assert facts(where)[-1]["agent"] == "curator"
    once = file(where, "1").read_bytes()
    assert fields(where, "1")["documentation_extracted"] is True
    walkthroughs.mark_prompt_extracted(where, ONE)
    assert file(where, "1").read_bytes() == once
    with refused("not-found"):
        walkthroughs.mark_prompt_extracted(where, PromptId(9))


def test_all_that_is_due_is_told_and_marked(where: ProjectPaths) -> None:
    for number in "1234":
        write(where, number)
    for number in "123":
        start(where, number)
        record(where, number)
    mark(where, "1", status="merged")
    mark(where, "2", documentation_extracted=True)
    told = walkthroughs.read_all_walkthroughs(where)
    assert told.count == 2
    assert [each.prompt_num for each in told.walkthroughs] == [1, 3]
    done = walkthroughs.mark_all_documented(where)
    assert to_builtins(done) == {"marked_count": 1, "marked_prompts": ["1"], "notes": []}
    assert walkthroughs.mark_all_documented(where).marked_count == 0
    assert [e.prompt_num for e in walkthroughs.read_all_walkthroughs(where).walkthroughs] == [3]
    assert disagreements(where) == []


def test_a_broken_file_keeps_nobody_from_the_other_walkthroughs(where: ProjectPaths) -> None:
    for number in "12":
        write(where, number)
        start(where, number)
        record(where, number)
        mark(where, number, status="merged")
    file(where, "1").write_bytes(b"broken")
    told = walkthroughs.read_all_walkthroughs(where)
    assert [len(each.walkthrough) for each in told.walkthroughs] == [0, 1]
    assert "1.md" in told.notes[0]
    done = walkthroughs.mark_all_documented(where)
    assert done.marked_prompts == ["1", "2"]
    assert "1.md" in done.notes[0]
    assert fields(where, "2")["documentation_extracted"] is True
    assert file(where, "1").read_bytes() == b"broken"
