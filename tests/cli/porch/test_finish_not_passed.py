"""What has not passed is named before work is delivered, and somebody has to accept it (T2)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.porch.test_finish_command import (  # noqa: F401
    CHECKED,
    NAME,
    SETTINGS,
    finished,
    gh,
    own_agent,
    remote,
)
from tests.cli.porch.test_panels_in_runs import NO, specify

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

PLAN = "### Phase 1: one\n- a\n\n### Phase 2: two\n- b\n"
# The tests fail for the first plan phase only, and pass on the merged files.
BREAKS = {"write": {"broken": "yes\n"}}
TESTS = {"command": "test ! -e broken", "max_retries": 0, "retry_delay": 0}
PHASES: tuple[dict[str, Any], ...] = (
    {"id": "plan", "artifact": "plan.md"},
    {"id": "implement", "phased": True, "phases_from": "plan", "checks": {"tests": TESTS}},
)
SKIPPED = "implement (phase_1): tests failed"
REASON = "the first phase has no tests yet"


def ended(desk: "Desk", place: str = "--worktree") -> str:
    """A complete run in which a person skipped the tests of the first plan phase."""
    desk.protocol("p", *PHASES)
    script = desk.script(
        agents={
            "plan": [{"write": {"{project_dir}/plan.md": PLAN}}],
            "implement:phase_1": [BREAKS],
            "implement:phase_2": [{"delete": ["broken"]}],
        }
    )
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, place, code=3)
    desk.porch("skip", "1", "--reason", "no tests yet")
    return desk.porch("resume", "1").out


def test_a_skipped_check_is_named_before_the_merge_and_nothing_is_merged_without_a_reason(
    desk: "Desk",
) -> None:
    said = ended(desk)
    assert f"  not passed: {SKIPPED}" in said
    assert "all but --keep need --accept" in said
    head = desk.git("rev-parse", "main")
    shown = desk.porch("finish", "1").out
    assert f"  not passed: {SKIPPED}, skipped by " in shown
    assert ": no tests yet" in shown
    [told] = json.loads(desk.porch("finish", "1", "--json").out)["not_passed"]
    assert told.startswith(SKIPPED)
    for way in ("--merge", "--squash", "--pr"):
        refused = desk.porch("finish", "1", way, code=1).err
        assert f"error[finish-not-passed]: not all of it has passed: {SKIPPED}" in refused
        assert f'porch finish 0001 {way} --accept "REASON"' in refused
    assert (desk.git("rev-parse", "main"), desk.facts("WorkFinished")) == (head, [])


@pytest.mark.parametrize("reason, code", [("", 2), (" ", 1)])
def test_an_empty_reason_is_no_reason(desk: "Desk", reason: str, code: int) -> None:
    ended(desk)
    desk.porch("finish", "1", "--merge", "--accept", reason, code=code)
    assert desk.facts("WorkFinished") == []


@pytest.mark.parametrize("way", ["--merge", "--squash"])
def test_the_reason_and_the_parts_stand_in_the_journal_the_log_and_the_commit(
    desk: "Desk", way: str
) -> None:
    ended(desk)
    desk.porch("finish", "1", way, "--accept", REASON)
    [fact] = desk.facts("WorkFinished")
    assert fact["reason"] == REASON
    [told] = fact["not_passed"]
    assert told.startswith(SKIPPED)
    body = desk.git("log", "-1", "--format=%B", "main")
    log = " ".join(desk.porch("log", "1", "--all").out.split())
    for text in (body, log):
        assert SKIPPED in text
        assert REASON in text


def test_a_run_that_passed_needs_no_reason_and_records_none(desk: "Desk") -> None:
    desk.protocol("p", {"id": "work", "checks": {"tests": TESTS}})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--no-claude", "--worktree")
    assert json.loads(desk.porch("finish", "1", "--json").out)["not_passed"] == []
    desk.porch("finish", "1", "--merge")
    assert not {"reason", "not_passed"} & set(desk.facts("WorkFinished")[0])


def test_to_keep_the_work_needs_no_reason(desk: "Desk") -> None:
    ended(desk)
    desk.porch("finish", "1", "--keep")
    assert "reason" not in desk.facts("WorkFinished")[0]


def test_t16_a_pull_request_tells_the_tests_of_each_plan_phase(
    desk: "Desk",
    remote: Path,  # noqa: F811
    gh: Path,  # noqa: F811
) -> None:
    """T16: one result per name hid that the tests of the first plan phase had failed."""
    ended(desk)
    desk.porch("finish", "1", "--pr", "--accept", REASON)
    body = (gh / "body").read_text()
    assert "- implement (phase_1), tests: failed, skipped by " in body
    assert "- implement (phase_2), tests: passed" in body
    assert "- tests: passed" not in body
    assert f"## Not passed\n\n- {SKIPPED}" in body
    assert REASON in body


def test_a_pull_request_that_opens_itself_waits_for_a_reason(
    desk: "Desk",
    remote: Path,  # noqa: F811
    gh: Path,  # noqa: F811
    own_agent: Path,  # noqa: F811
) -> None:
    gate = {"id": "work", "checks": {"tests": {**TESTS, "command": "false"}}}
    desk.protocol("p", gate)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a check that fails")
    words = ("run", "p", "0001", "--title", "x", "--agent", "mine", "--worktree")
    desk.porch(*words, code=3)
    desk.porch("skip", "1", "--reason", "known", "--as-person")
    said = desk.porch("resume", "1").all
    assert "the pull request was not opened: " in said
    assert "work: tests failed, skipped by " in said
    assert 'porch finish 0001 --pr --accept "REASON"' in said
    assert not (gh / "calls").exists() or "pr create" not in (gh / "calls").read_text()
    assert desk.facts("WorkFinished") == []
    desk.porch("finish", "1", "--pr", "--accept", REASON)
    assert NAME in (gh / "calls").read_text()


def test_a_gate_that_was_approved_over_a_failure_and_an_open_review_are_named(
    desk: "Desk",
) -> None:
    """T7: what reviewers still ask for is told once more before the merge."""
    desk.protocol("p", specify(models=["claude"], max_rounds=1))
    script = desk.script(reviews={"specify:consult": {"*": [NO]}})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, "--worktree", code=3)
    desk.porch("approve", "1", "specify_approval", code=None)
    desk.porch("resume", "1", code=None)
    assert desk.entered()[-1] == "complete", desk.porch("pending").out
    shown = " ".join(desk.porch("finish", "1").out.split())
    assert "specify: round 1 of 1: claude asks for changes; no rounds are left" in shown
    assert "approved by" in shown


def test_what_was_skipped_in_a_phase_that_an_upgrade_drops_is_named_all_the_same(
    desk: "Desk",
) -> None:
    """The run was complete, and merged without a reason."""
    look = {"id": "look", "gate": "look"}
    desk.protocol("p", {"id": "work", "checks": {"own": {**TESTS, "command": "false"}}}, look)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--no-claude", code=3)
    desk.porch("skip", "1", "--reason", "later")
    desk.porch("resume", "1", code=3)
    desk.protocol("p", look)
    desk.git("commit", "-qam", "one phase less")
    desk.porch("upgrade", "1")
    desk.porch("approve", "1", "look")
    assert "not passed: work: skipped by" in desk.porch("resume", "1").out
    assert "[-] work: skipped by" in desk.porch("status", "1").out
    assert desk.porch("status", "1", "--json").json["outcomes"][-1]["outcome"] == "skipped"
    assert "finish-not-passed" in desk.porch("finish", "1", "--merge", code=1).err


def test_t16_a_pull_request_that_an_agent_opened_says_what_has_not_passed_all_the_same(
    desk: "Desk",
    remote: Path,  # noqa: F811
    gh: Path,  # noqa: F811
) -> None:
    """Its text is that of whoever opened it; what was measured and accepted is a comment."""
    desk.protocol("p", {"id": "work", "checks": {"own": {"command": "false", "max_retries": 0}}})
    desk.write("codev/config.toml", SETTINGS)
    script = desk.script(agents={"work": [{"write": {"new.py": "x = 1\n"}}]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, code=3)
    desk.porch("skip", "0001", "--reason", "later")
    known = {"url": "https://example.org/pull/3", "state": "OPEN", "headRefName": NAME}
    (gh / "open").write_text(json.dumps(known))
    (gh / "mute").touch()
    say = ("finish", "0001", "--pr", "--accept", "the tests come next week")
    assert "pr-comment-failed" in desk.porch(*say, code=6).err
    assert finished(desk) == []
    (gh / "mute").unlink()
    assert "a comment there: https://example.org/pull/3" in desk.porch(*say).out
    comment = (gh / "comment").read_text()
    assert "- work: own failed, skipped by" in comment
    assert "with this reason: the tests come next week" in comment


def test_t16_words_of_an_agent_for_a_pull_request_hide_nothing_below_them(
    desk: "Desk",
    remote: Path,  # noqa: F811
    gh: Path,  # noqa: F811
) -> None:
    """A comment of HTML that is not closed goes on to the end of the page."""
    words = "# Title\n\nAll passed.\n<details><summary>more</summary>\n<!-- the end\n"
    turn = {"write": {"new.py": "x = 1\n", "{project_dir}/pr.md": words}}
    desk.protocol("p", CHECKED)
    desk.write("codev/config.toml", SETTINGS)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    script = desk.script(agents={"work": [turn]})
    desk.porch("run", "p", "0001", "--title", "x", "--script", script)
    desk.porch("finish", "0001", "--pr")
    body = (gh / "body").read_text()
    assert body.startswith("All passed.\n")
    assert "<!--" not in body
    assert "<details" not in body
    assert body.replace("\u200b", "").count("<!-- the end") == 1
    assert "- work, tests: passed" in body


@pytest.mark.parametrize("way", ["--merge", "--squash", "--pr"])
def test_x10_the_title_of_a_request_closes_no_issue_when_the_work_is_delivered(
    desk: "Desk",
    remote: Path,  # noqa: F811
    gh: Path,  # noqa: F811
    way: str,
) -> None:
    desk.protocol("p", CHECKED)
    desk.write("codev/config.toml", SETTINGS)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    script = desk.script(agents={"work": [{"write": {"new.py": "x = 1\n"}}]})
    desk.porch("run", "p", "0001", "--title", "Closes #1 @team", "--script", script)
    desk.porch("finish", "0001", way)
    told = (gh / "calls").read_text() if way == "--pr" else desk.git("log", "-1", "--format=%B")
    assert "loses #1" in told
    assert "Closes #1" not in told
    assert "@team" not in told
