"""K1: what the last step of a run changes behind an approval is said, for nobody can be asked."""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SPEC: dict[str, Any] = {
    "id": "specify",
    "artifact": "spec.md",
    "gate": {"name": "spec-ok", "next": "build"},
}
BUILD: dict[str, Any] = {"id": "build"}
FILE = "codev/projects/0001-x/spec.md"
TOLD = f"changed since spec-ok was approved: {FILE}; the run has ended, so nobody was asked"


def begin(desk: "Desk", last: str) -> str:
    agents = {
        "specify": [{"write": {"{project_dir}/spec.md": "Build the thing.\n"}}],
        "build": [{"write": {"{project_dir}/spec.md": last}}],
    }
    decided = {"spec-ok": [{"approve": True}]}
    return desk.begin(SPEC, BUILD, agents=agents, decisions=decided, code=0).out


def test_k1_what_the_last_step_changes_is_said_when_the_run_ends(desk: "Desk") -> None:
    said = begin(desk, "Less.\n")
    assert TOLD in said
    assert "0001-x is complete" in said
    (fact,) = desk.facts("ApprovalOutdated")
    assert "-Build the thing." in fact["question"]["difference"][FILE]
    assert TOLD in desk.porch("log", "1", "--all").out
    assert desk.records()[-1]["moves"] == []


def test_k1_a_run_that_has_ended_asks_nobody_and_says_it_once(desk: "Desk") -> None:
    begin(desk, "Less.\n")
    assert "No decision is waiting" in desk.porch("pending").out
    desk.porch("resume", "1", code=0)
    assert len(desk.facts("ApprovalOutdated")) == 1


def test_k1_a_run_whose_files_are_as_approved_says_nothing(desk: "Desk") -> None:
    assert "nobody was asked" not in begin(desk, "Build the thing.\n")
    assert desk.facts("ApprovalOutdated") == []


def test_k1_a_person_who_ends_the_run_at_its_last_gate_can_read_it_as_well(desk: "Desk") -> None:
    agents = {
        "specify": [{"write": {"{project_dir}/spec.md": "Build the thing.\n"}}],
        "build": [{"write": {"{project_dir}/spec.md": "Less.\n"}}],
    }
    last = {**BUILD, "gate": {"name": "done-ok", "next": None}}
    desk.begin(SPEC, last, agents=agents, code=3)
    desk.porch("approve", "1", "spec-ok")
    desk.porch("resume", "1", code=3)
    desk.porch("approve", "1", "done-ok")
    assert desk.entered()[-1] == "complete"
    assert TOLD in desk.porch("log", "1", "--all").out


@pytest.fixture
def by_hand(desk: "Desk") -> "Desk":
    """The specification was approved, then changed; an agent that nobody drives works on."""
    agents = {"specify": [{"write": {"{project_dir}/spec.md": "Build the thing.\n"}}]}
    desk.begin(SPEC, BUILD, agents=agents, code=3)
    desk.porch("approve", "1", "spec-ok")
    desk.write(FILE, "Less.\n")
    return desk


def test_k1_an_agent_that_reports_its_work_by_hand_is_told_nothing_to_begin(
    by_hand: "Desk",
) -> None:
    told = by_hand.porch("next", "1")
    assert f"nothing can begin: changed since spec-ok was approved: {FILE}" in told.out
    assert by_hand.porch("next", "1", "--json").json["effects"] == []


def test_k1_an_agent_that_reports_its_work_by_hand_is_no_exception(by_hand: "Desk") -> None:
    """Nothing begins in between, so what it reports is looked at when it reports."""
    for _ in range(2):
        refused = by_hand.porch("done", "1", code=1)
        assert "spec-ok must be approved first; then report again" in refused.err
        assert "+Less." in by_hand.porch("pending").out
    assert by_hand.entered()[-1] == "changed:spec-ok"
    assert "spec-ok must be approved first" in by_hand.porch("next", "1").out
    by_hand.porch("approve", "1", "spec-ok")
    by_hand.porch("done", "1")
    assert by_hand.entered()[-1] == "complete"
