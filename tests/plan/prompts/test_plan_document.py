"""A plan is made, looked at and kept: its words are people's, its stage is the journal's."""

import re
import shutil
from pathlib import Path

import pytest
from msgspec import to_builtins

from porch.machine.facts import PlanMoved
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.files import plan_location
from porch.plan.prompts import plan_document, plan_merge, prompt_edits
from porch.plan.prompts.prompt_edits import PromptWords
from porch.plan.session import plan_session
from porch.plan.session.file_sync import draw_stage
from porch.store.where import ProjectPaths
from tests.plan.yards import (
    carried_out,
    disagreements,
    facts,
    fields,
    file,
    git,
    journal,
    refused,
    tree,
    write,
)

HOME = ".claude/plans/feat~x"


def go_ahead(where: ProjectPaths) -> None:
    """As the gate of the plan does."""
    with plan_session.hold_plan(where) as desk:
        desk.record(PlanMoved(action="plan", plan={"stage": "in_progress"}))
        draw_stage(desk)


def test_a_plan_has_its_rooms_and_git_sees_none_of_it(shop: Path, where: ProjectPaths) -> None:
    told = to_builtins(plan_document.init_plan(where, "planner"))
    assert told == {
        "initialized": True,
        "branch": "feat/x",
        "base_branch": "main",
        "direct_mode": False,
        "directory": str(shop / HOME),
        "notes": [],
    }
    rooms = {path.name for path in (shop / HOME).iterdir()}
    assert rooms == {"prompts", "findings", "design", "user_feedback"}
    plan_document.write_plan(where, "T", "o", "c")
    assert git(shop, "status", "--porcelain", "--ignored") == "!! .claude/"
    assert facts(where, "init")[0]["agent"] == "planner"


def test_a_second_init_changes_nothing(shop: Path, where: ProjectPaths) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    write(where, "1")
    before = tree(shop / HOME), journal(where).read_bytes()
    plan_document.init_plan(where)
    plan_document.init_plan(where)
    once = tree(shop / HOME), journal(where).read_bytes()
    assert once[0] == before[0]
    assert [fact["action"] for fact in facts(where)] == ["write-plan", "write-prompt"]


def test_the_status_tells_whether_there_is_a_plan_and_makes_none(
    shop: Path, where: ProjectPaths
) -> None:
    told = to_builtins(plan_document.read_plan_status(where))
    assert (told["exists"], told["branch"], told["base_branch"]) == (False, "feat/x", "main")
    assert not (shop / ".claude").exists()
    assert not (shop / ".git/porch").exists()
    plan_document.init_plan(where)
    assert plan_document.read_plan_status(where).exists is True


def test_a_branch_without_a_plan_is_checked(where: ProjectPaths) -> None:
    told = to_builtins(plan_document.check_plan(where))
    assert told["exists"] is False
    assert "init" in told["message"]


def test_a_draft_is_checked_with_what_the_user_said(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    told = to_builtins(plan_document.check_plan(where))
    assert told == {"exists": True, "stage": "draft", "branch": "feat/x", "user_input": ""}
    plan_document.append_user_input(where, "make it fast")
    write(where, "1")
    told = to_builtins(plan_document.check_plan(where))
    assert "make it fast" in told["user_input"]
    assert set(told) == {"exists", "stage", "branch", "user_input"}


def test_a_plan_in_progress_is_checked_with_its_context_and_prompts(where: ProjectPaths) -> None:
    plan_document.write_plan(where, "Title", "Be faster", "Only SQLite")
    write(where, "1", description="first", debug=True)
    write(where, "2_A", 1)
    go_ahead(where)
    told = to_builtins(plan_document.check_plan(where))
    assert told["stage"] == "in_progress"
    assert "Only SQLite" in told["plan_context"]
    assert told["prompts"] == [
        {
            "id": "1",
            "description": "first",
            "status": "unimplemented",
            "kind": "debug",
            "depends_on": [],
            "in_progress": False,
            "variant_solution": None,
        },
        {
            "id": "2_A",
            "description": "",
            "status": "unimplemented",
            "kind": "feature",
            "depends_on": [1],
            "in_progress": False,
            "variant_solution": None,
        },
    ]


def test_a_completed_plan_is_checked_with_its_summary(where: ProjectPaths) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    plan_merge.complete_plan(where, "All is well", force=True)
    told = to_builtins(plan_document.check_plan(where))
    assert told == {
        "exists": True,
        "stage": "completed",
        "branch": "feat/x",
        "summary": "All is well\n",
    }


def test_a_plan_is_written(shop: Path, where: ProjectPaths) -> None:
    assert plan_document.write_plan(where, " Faster ", "Be fast.", "Only SQLite.").created is True
    assert (shop / HOME / "plan.md").read_text() == (
        "---\nstage: draft\nbranch_name: feat/x\naudits: []\nreviews: []\n---\n\n"
        "# Faster\n\n## Objective\n\nBe fast.\n\n## Context\n\nOnly SQLite.\n"
    )


def test_a_plan_written_again_keeps_what_reviews_said_of_it_and_every_comment(
    shop: Path, where: ProjectPaths
) -> None:
    plan_document.write_plan(where, "Old", "old", "old")
    path = shop / HOME / "plan.md"
    top = (
        "---\n# ours\nstage: draft   # not yet\n\nbranch_name: feat/x\naudits:\n"
        "- {review_context: a, decision: approved}\nreviews:\n  # none was kind\n"
        "  - review_context: b\n    decision: rejected\nmine: kept\n---\n"
    )
    path.write_text(f"{top}\n# Old\n\n## Objective\n\nold\n")
    assert plan_document.write_plan(where, "New", "new", "new").created is False
    once = path.read_text()
    assert once == f"{top}\n# New\n\n## Objective\n\nnew\n\n## Context\n\nnew\n"
    plan_document.write_plan(where, "New", "new", "new")
    assert path.read_text() == once
    go_ahead(where)
    plan_document.write_plan(where, "New", "new", "new")
    told = to_builtins(plan_document.read_full_plan(where))["plan"]["front_matter"]
    assert (told["stage"], told["mine"], len(told["audits"])) == ("in_progress", "kept", 1)
    assert "# none was kind" in path.read_text()


def test_a_plan_needs_a_title(where: ProjectPaths) -> None:
    with refused("empty-content"):
        plan_document.write_plan(where, " \n", "o", "c")
    assert not Path(where.root, ".claude").exists()


def test_a_plan_file_that_cannot_be_read_is_not_touched_and_nothing_is_recorded(
    shop: Path, where: ProjectPaths
) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    path = shop / HOME / "plan.md"
    for broken in (b"---\nstage: [\n---\nmy words\n", b"no fields at all\n", b"---\n\xff\n---\n"):
        path.write_bytes(broken)
        before = len(facts(where))
        with pytest.raises(Exception, match=r"plan\.md"):
            plan_document.write_plan(where, "New", "o", "c")
        with pytest.raises(Exception, match=r"plan\.md"):
            plan_merge.complete_plan(where, "done", force=True)
        assert path.read_bytes() == broken
        assert len(facts(where)) == before
        assert plan_document.check_plan(where).stage == "draft"


def test_a_stage_written_by_hand_counts_for_nothing(shop: Path, where: ProjectPaths) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    path = shop / HOME / "plan.md"
    path.write_text(path.read_text().replace("stage: draft", "stage: completed"))
    assert plan_document.check_plan(where).stage == "draft"
    assert (
        to_builtins(plan_document.read_full_plan(where))["plan"]["front_matter"]["stage"] == "draft"
    )
    plan_document.write_plan(where, "T", "o", "c")
    assert "stage: draft" in path.read_text()


def test_the_full_plan_has_everything_in_it(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    empty = to_builtins(plan_document.read_full_plan(where))
    assert empty["plan"] == {"front_matter": {"stage": "draft"}, "content": ""}
    assert (empty["user_input"], empty["summary"], empty["prompts"]) == ("", "", [])
    plan_document.write_plan(where, "T", "o", "c")
    plan_document.append_user_input(where, "please")
    write(where, "2", context="second")
    write(where, "1_B", context="B")
    write(where, "1_A", context="A")
    told = to_builtins(plan_document.read_full_plan(where))
    assert [each["id"] for each in told["prompts"]] == ["1_A", "1_B", "2"]
    assert [each["content"] for each in told["prompts"]] == ["A", "B", "second"]
    assert told["prompts"][0]["front_matter"]["status"] == "unimplemented"
    assert told["branch"] == "feat/x"
    assert "please" in told["user_input"]


def test_what_the_user_said_is_only_ever_added_to(shop: Path, where: ProjectPaths) -> None:
    path = shop / HOME / "user_input.md"
    seen = b""
    for text in ("  first\n", "second\n---\nwith a rule", "\u00e4 \u529f", "first"):
        assert plan_document.append_user_input(where, text).appended is True
        now = path.read_bytes()
        assert now.startswith(seen)
        assert len(now) > len(seen)
        seen = now
    entries = re.findall(r"(?m)^---\n\*\*\S+Z\*\*.*\n\n(.+)$", path.read_text())
    assert entries == ["first", "second", "\u00e4 \u529f", "first"]
    assert path.read_text().startswith("# User Input Log\n")


def test_a_log_of_input_that_somebody_wrote_stays_as_it_is(shop: Path, where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    path = shop / HOME / "user_input.md"
    path.write_bytes(b"my own words\r\nwithout an end")
    plan_document.append_user_input(where, "more")
    assert path.read_bytes().startswith(b"my own words\r\nwithout an end\n")
    assert path.read_bytes().endswith(b"\n\nmore\n")
    path.write_bytes(b"no text: \xff")
    with refused("unreadable"):
        plan_document.append_user_input(where, "more")
    assert path.read_bytes() == b"no text: \xff"


def test_nothing_is_no_input(where: ProjectPaths) -> None:
    for text in ("", " \n\t"):
        with refused("empty-content"):
            plan_document.append_user_input(where, text)
    assert not Path(where.root, ".claude").exists()


def test_a_log_of_input_that_leads_elsewhere_is_not_followed(
    shop: Path, where: ProjectPaths
) -> None:
    plan_document.init_plan(where)
    (shop / "a.txt").write_text("mine\n")
    (shop / HOME / "user_input.md").symlink_to(shop / "a.txt")
    with refused("unreadable"):
        plan_document.append_user_input(where, "x")
    assert (shop / "a.txt").read_text() == "mine\n"


def test_a_plan_whose_directory_was_deleted_is_told_and_can_be_made_again(
    shop: Path, where: ProjectPaths
) -> None:
    carried_out(where, "1")
    plan_document.append_user_input(where, "x")
    shutil.rmtree(shop / ".claude")
    assert plan_document.check_plan(where).exists is False
    with refused("no-plan"):
        plan_document.read_full_plan(where)
    told = to_builtins(plan_document.init_plan(where))
    assert any("prompt 1 is gone" in note for note in told["notes"])
    write(where, "2")
    with refused("already-in-progress"):
        write(where, "1")
    prompt_edits.write_prompt(where, PromptId(1), PromptWords(context="again"), force=True)
    assert disagreements(where) == []
    assert fields(where, "1")["status"] == "implemented"


def test_a_damaged_journal_is_not_trusted_and_not_touched(where: ProjectPaths) -> None:
    write(where, "1")
    write(where, "2")
    data = bytearray(journal(where).read_bytes())
    data[len(data) // 2] ^= 1
    journal(where).write_bytes(data)
    files = tree(plan_location.find_current_plan(where).directory)
    for act in (plan_document.init_plan, plan_document.check_plan, plan_document.read_full_plan):
        with refused("journal-damaged") as caught:
            act(where)
        assert caught.value.exit_code == 5
    assert journal(where).read_bytes() == bytes(data)
    assert tree(plan_location.find_current_plan(where).directory) == files


def test_the_plan_of_a_tool_that_kept_no_journal_is_taken_up(
    shop: Path, where: ProjectPaths
) -> None:
    home = shop / HOME
    (home / "prompts").mkdir(parents=True)
    (home / "plan.md").write_text("---\nstage: draft\nbranch_name: feat/x\n---\n\n# Old\n")
    (home / "prompts/1.md").write_text("---\nnumber: 1\nstatus: merged\n---\n\nDo it.\n")
    assert plan_document.check_plan(where).stage == "draft"
    assert (
        to_builtins(plan_document.read_full_plan(where))["prompts"][0]["front_matter"]["status"]
        == "unimplemented"
    )
    notes = plan_document.init_plan(where).notes
    assert any("written by hand" in note for note in notes)
    assert disagreements(where) == []
    assert file(where, "1").read_text().endswith("Do it.\n")
