"""The last word before a run is complete is a fresh measurement (K12)."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

GREEN = {"command": "test ! -e broken", "max_retries": 0, "retry_delay": 0}
BUILD: dict[str, Any] = {"id": "build", "checks": {"tests": GREEN}}
REVIEW: dict[str, Any] = {"id": "review"}
LOOP: list[dict[str, Any]] = [
    {"id": "plan", "artifact": "plan.md"},
    {"id": "implement", "phased": True, "phases_from": "plan", "checks": {"tests": GREEN}},
    {"id": "review"},
]
BREAKS = {"write": {"broken": "yes\n"}}


def test_k12_a_review_that_breaks_the_tests_does_not_complete_the_run(desk: "Desk") -> None:
    agents = {"review": [BREAKS, {}], "build": [{}, {"delete": ["broken"]}]}
    desk.begin(BUILD, REVIEW, agents=agents, code=0)
    last = desk.entered()
    assert last == [
        "build", "build:checks", "review", "complete:checks",
        "build", "build:checks", "review", "complete:checks", "complete",
    ]  # fmt: skip
    assert "Failed checks" in desk.prompt("build#2/agent/build/0")


def test_k12_what_is_broken_again_and_again_is_for_a_person(desk: "Desk") -> None:
    agents = {"review": [BREAKS], "build": [{}, {"delete": ["broken"]}]}
    desk.begin(BUILD, REVIEW, agents=agents, code=3)
    assert desk.entered().count("complete:checks") == 4
    assert desk.entered()[-1] == "failed:complete:checks"
    assert "end the run as complete without them" in desk.porch("pending").out
    desk.porch("skip", "1", "--reason", "I know better")
    assert desk.status()["state"] == "complete"


def test_k12_fresh_evidence_about_files_alone_is_not_measured_again(desk: "Desk") -> None:
    build = {**BUILD, "checks": {"tests": {**GREEN, "about": "files"}}}
    desk.begin(build, REVIEW, agents={"review": [{"say": "nothing to write"}]}, code=0)
    ended = desk.facts("CheckEnded")
    assert [(each["effect"].split("#")[0], each.get("reused", False)) for each in ended] == [
        ("build:checks", False),
        ("complete:checks", True),
    ]


def test_the_form_of_documents_that_the_run_wrote_is_measured_again(desk: "Desk") -> None:
    """It was skipped there, as if the documents had been older than the run."""
    form = {"command": "grep -q Risks doc.md", "about": "form", "max_retries": 0}
    good, bad = {"write": {"doc.md": "## Risks\n"}}, {"write": {"doc.md": "nothing\n"}}
    agents = {"build": [good], "review": [bad, {}]}
    desk.begin({"id": "build", "checks": {"sections": form}}, REVIEW, agents=agents, code=0)
    results = [(f["effect"].partition("#")[0], f["result"]) for f in desk.facts("CheckEnded")]
    assert results == [
        ("build:checks", "passed"),
        ("complete:checks", "failed"),
        ("build:checks", "passed"),
        ("complete:checks", "passed"),
    ]


def test_k12_the_last_item_of_a_loop_is_gone_back_to(desk: "Desk") -> None:
    plan = "### Phase 1: one\n- a\n\n### Phase 2: two\n- b\n"
    agents = {
        "plan": [{"write": {"{project_dir}/plan.md": plan}}],
        "review": [BREAKS, {}],
        "implement:phase_2": [{}, {"delete": ["broken"]}],
    }
    desk.begin(*LOOP, agents=agents, code=0)
    went = [place for place in desk.entered() if place.startswith(("implement:phase", "complete"))]
    assert went == [
        "implement:phase_1", "implement:phase_2", "complete:checks",
        "implement:phase_2", "complete:checks", "complete",
    ]  # fmt: skip


def test_k12_nothing_is_drawn_where_nobody_works_behind_the_checks(desk: "Desk") -> None:
    desk.begin(REVIEW, BUILD, code=0)
    assert desk.entered()[-2:] == ["build:checks", "complete"]


NEVER: dict[str, Any] = {"id": "build", "checks": {"tests": {**GREEN, "command": "false"}}}


def test_t17_a_check_that_a_person_skipped_is_asked_for_once_more_and_pays_no_agent(
    desk: "Desk",
) -> None:
    """T17: skipped tests never ran again, and the end of the run was shown as passed."""
    decided = {"failed:build": [{"skip": "known"}]}
    desk.begin(NEVER, REVIEW, decisions=decided, code=3)
    assert desk.entered()[-2:] == ["complete:checks", "failed:complete:checks"]
    assert len(desk.facts("CheckEnded")) == 2
    assert len(desk.started()) == 2, "one turn for each phase"
    desk.porch("skip", "1", "--reason", "still known")
    assert desk.status()["state"] == "complete"
    shown = desk.porch("finish", "1", code=None).out
    assert "not passed: complete: tests failed, skipped by " in shown
    assert "[x] complete" not in desk.porch("status", "1").out


def test_t17_a_check_that_was_skipped_and_passes_at_the_end_asks_nobody(desk: "Desk") -> None:
    decided = {"failed:build": [{"skip": "the review mends it"}]}
    agents = {"build": [BREAKS], "review": [{"delete": ["broken"]}]}
    desk.begin(BUILD, REVIEW, agents=agents, decisions=decided, code=0)
    assert desk.entered()[-2:] == ["complete:checks", "complete"]
    assert [each["result"] for each in desk.facts("CheckEnded")] == ["failed", "passed"]


def test_k12_a_check_of_its_moment_is_not_repeated(desk: "Desk") -> None:
    red = {"id": "red", "checks": {"fails": {"command": "test ! -e fixed", "once": True}}}
    green = {"id": "green"}
    desk.begin(red, green, agents={"green": [{"write": {"fixed": "x\n"}}]}, code=0)
    assert "complete:checks" not in desk.entered()
