"""Another definition in the middle of a run: what it asks stays asked, whatever else happens."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import LOCK

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SPEC: dict[str, Any] = {
    "id": "specify",
    "artifact": "spec.md",
    "gate": {"name": "spec-ok", "next": "build"},
    "on_complete": {"commit": True},
}
RENAMED = {**SPEC, "gate": {"name": "spec-agreed", "next": "build"}}
WIDER = {**SPEC, "gate": {**SPEC["gate"], "artifacts": ["spec.md", "other.md"]}}
REST: list[dict[str, Any]] = [
    {"id": "build"},
    {"id": "review", "gate": {"name": "done-ok", "next": None}},
]
SPEC_FILE = "codev/projects/0001-x/spec.md"
OTHER_FILE = "codev/projects/0001-x/other.md"
WRITTEN = {"specify": [{"write": {"{project_dir}/spec.md": "Build the thing.\n"}}]}
APPROVE = {"spec-ok": [{"approve": True}]}


@pytest.fixture
def behind(desk: "Desk") -> "Desk":
    """The specification was approved long ago; the run waits at its last gate."""
    desk.begin(SPEC, *REST, agents=WRITTEN, decisions=APPROVE, code=3)
    return desk


def upgrade(desk: "Desk", first: dict[str, Any]) -> str:
    desk.protocol("p", first, *REST)
    return desk.porch("upgrade", "1").out


def asked(desk: "Desk") -> list[str]:
    return [each["name"] for each in desk.porch("pending", "--json").json["decisions"]]


def test_k2_a_rollback_behind_a_gate_that_was_added_leaves_it_asked(behind: "Desk") -> None:
    upgrade(behind, RENAMED)
    behind.porch("rollback", "1", "build")
    assert asked(behind) == ["spec-agreed"]
    behind.porch("resume", "1", code=3)
    assert behind.started()[-1].startswith("review#1/"), "nothing begins before the answer"
    assert "adds this gate" in behind.porch("pending").out
    behind.porch("approve", "1", "spec-agreed")
    behind.porch("resume", "1", code=3)
    assert asked(behind) == ["done-ok"]


def test_k2_a_rollback_in_front_of_it_comes_to_the_gate_anyway(behind: "Desk") -> None:
    upgrade(behind, RENAMED)
    behind.porch("rollback", "1", "specify")
    assert asked(behind) == []
    behind.porch("resume", "1", code=3)
    assert behind.entered()[-1] == "specify:gate"


def test_k2_a_gate_that_was_added_is_approved_as_its_files_are_now(behind: "Desk") -> None:
    """What changed since it was asked is shown first, as at any other gate."""
    upgrade(behind, RENAMED)
    behind.write(SPEC_FILE, "Build another thing.\n")
    assert "+Build another thing." in behind.porch("approve", "1", "spec-agreed", code=1).err
    said = behind.porch("approve", "1", "spec-agreed", "--accept-changes").out
    assert f"approved as changed since porch asked: {SPEC_FILE}" in said
    behind.write(SPEC_FILE, "Delete the billing tables.\n")
    behind.porch("reject", "1", "done-ok", "--reason", "again")
    behind.porch("resume", "1", code=3)
    assert asked(behind) == ["spec-agreed"]


def test_k1_a_gate_that_was_changed_shows_what_changed_since_its_approval(behind: "Desk") -> None:
    upgrade(behind, WIDER)
    behind.write(SPEC_FILE, "Delete the billing tables.\n")
    behind.write(OTHER_FILE, "More.\n")
    refused = behind.porch("approve", "1", "spec-ok", code=1)
    assert "+Delete the billing tables." in refused.err
    behind.porch("resume", "1", code=3)
    said = behind.porch("pending").out
    assert "files: spec.md -> spec.md, other.md" in " ".join(said.split())
    assert "+Delete the billing tables." in said
    behind.porch("approve", "1", "spec-ok")
    assert set(behind.facts("WishTaken")[-1]["artifacts"]) == {SPEC_FILE, OTHER_FILE}


def test_k1_what_changed_before_an_upgrade_is_shown_with_it(behind: "Desk") -> None:
    behind.write(SPEC_FILE, "Delete the billing tables.\n")
    upgrade(behind, WIDER)
    assert "+Delete the billing tables." in behind.porch("pending").out


@pytest.mark.parametrize("first, name", [(WIDER, "spec-ok"), (RENAMED, "spec-agreed")])
def test_k2_a_gate_that_is_being_asked_is_asked_by_the_new_words(
    desk: "Desk", first: dict[str, Any], name: str
) -> None:
    desk.begin(SPEC, *REST, agents=WRITTEN, code=3)
    said = upgrade(desk, first)
    assert "spec-ok is asked again: the new version of the protocol changes this gate" in said
    desk.write(OTHER_FILE, "More.\n")
    desk.porch("resume", "1", code=3)
    assert asked(desk) == [name]
    desk.porch("approve", "1", name)
    wanted = {SPEC_FILE, OTHER_FILE} if first is WIDER else {SPEC_FILE}
    assert set(desk.facts("WishTaken")[-1]["artifacts"]) == wanted
    assert {gate["status"] for gate in desk.status()["gates"].values()} == {"approved", "waiting"}


def test_k2_at_the_commit_behind_a_gate_a_new_one_is_asked_too(desk: "Desk") -> None:
    """Skipping a commit that failed leads past the gate."""
    locked = {"specify": [{**WRITTEN["specify"][0], "run": LOCK}]}
    desk.begin_in_worktree(SPEC, *REST, agents=locked, decisions=APPROVE, code=3)
    assert desk.entered()[-1] == "failed:specify"
    assert "spec-agreed is asked again" in upgrade(desk, RENAMED)
    desk.porch("skip", "1", "--reason", "without it")
    desk.porch("resume", "1", code=3)
    assert asked(desk) == ["spec-agreed"]


def test_k7_a_waiver_that_is_approved_again_is_still_a_waiver(desk: "Desk") -> None:
    failing = {
        "id": "specify",
        "artifact": "spec.md",
        "verification": {"checks": {"unit": {"command": "false"}}, "max_retries": 0},
        "gate": {"name": "ready", "next": "build"},
    }
    desk.begin(failing, *REST, agents=WRITTEN, code=3)
    desk.porch("approve", "1", "ready", "--override", "I looked myself")
    desk.write(SPEC_FILE, "Build another thing.\n")
    desk.porch("resume", "1", code=3)
    desk.porch("approve", "1", "ready")
    assert desk.status()["gates"]["ready"]["status"] == "waived"
    desk.write(SPEC_FILE, "Build nothing.\n")
    desk.porch("resume", "1", code=3)
    desk.write(SPEC_FILE, "Build another thing.\n")
    desk.porch("resume", "1", code=3)
    assert desk.status()["gates"]["ready"]["status"] == "waived"
