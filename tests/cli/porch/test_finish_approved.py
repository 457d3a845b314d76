"""What is delivered is what was approved; whatever differs is refused, or accepted on record."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.earlier_releases import rewrite_journal

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SPEC: dict[str, Any] = {
    "id": "specify",
    "artifact": "spec.md",
    "gate": {"name": "spec-ok", "next": None},
    "on_complete": {"commit": True},
}
FILE = "codev/projects/0001-x/spec.md"
WRITTEN = {"specify": [{"write": {"{project_dir}/spec.md": "Build the thing.\n"}}]}
CHANGED = f"changed since spec-ok was approved: {FILE}"


def ended(desk: "Desk", place: str) -> None:
    """A run whose one document was approved, and that has ended."""
    # In one's own checkout the work lies uncommitted until it is finished.
    desk.protocol("p", SPEC if place == "--worktree" else {**SPEC, "on_complete": {}})
    script = desk.script(agents=WRITTEN)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, place, code=3)
    if place == "--here":
        rewrite_journal(desk.run_dir())  # of this release such a run is not delivered
    desk.porch("approve", "1", "spec-ok")
    desk.porch("resume", "1")


def edit(desk: "Desk", place: str) -> None:
    """After the end: in the checkout as it lies there, on a branch of the run as a commit."""
    where = desk.root if place == "--here" else desk.root / "worktrees/p_0001_x"
    (where / FILE).write_text("Build the thing.\nDelete the billing tables.\n")
    if place == "--worktree":
        desk.git("-C", str(where), "commit", "-qam", "one more")


@pytest.mark.parametrize("place", ["--here", "--worktree"])
def test_k1_a_change_behind_the_approval_is_not_delivered_unless_somebody_accepts_it(
    desk: "Desk", place: str
) -> None:
    ended(desk, place)
    edit(desk, place)
    assert CHANGED in desk.porch("finish", "1").out
    refused = desk.porch("finish", "1", "--merge", code=1).err
    assert f"error[finish-changed-approval]: {CHANGED}" in refused
    assert "porch finish 0001 --merge --accept-changes" in refused
    assert desk.facts("WorkFinished") == []
    desk.porch("finish", "1", "--merge", "--accept-changes")
    accepted = desk.facts("WorkFinished")[0]["accepted"]
    assert accepted[0] == CHANGED
    assert len(accepted) == (1 if place == "--here" else 2), "a later commit is told, too"
    assert CHANGED in desk.porch("log", "1").out
    assert "Delete the billing tables." in desk.git("show", f"HEAD:{FILE}")


@pytest.mark.parametrize("place", ["--here", "--worktree"])
def test_k1_what_was_approved_is_delivered_without_a_word(desk: "Desk", place: str) -> None:
    ended(desk, place)
    assert "changed since" not in desk.porch("finish", "1").out
    desk.porch("finish", "1", "--merge")
    assert desk.facts("WorkFinished")[0].get("accepted", []) == []


def test_k1_of_a_branch_counts_what_is_committed_also_where_its_worktree_is_gone(
    desk: "Desk",
) -> None:
    ended(desk, "--worktree")
    (desk.root / "worktrees/p_0001_x" / FILE).write_text("only lying there\n")
    assert "changed since" not in desk.porch("finish", "1").out
    desk.git("-C", "worktrees/p_0001_x", "commit", "-qam", "one more")
    desk.git("worktree", "remove", "--force", "worktrees/p_0001_x")
    assert CHANGED in desk.porch("finish", "1", "--merge", code=1).err
    desk.porch("finish", "1", "--keep")


def test_k1_a_file_that_git_was_told_to_overlook_does_not_stand_for_its_commit(
    desk: "Desk",
) -> None:
    ended(desk, "--worktree")
    place = desk.root / "worktrees/p_0001_x"
    approved = (place / FILE).read_bytes()
    edit(desk, "--worktree")
    desk.git("-C", str(place), "update-index", "--assume-unchanged", FILE)
    (place / FILE).write_bytes(approved)
    assert CHANGED in desk.porch("finish", "1", "--merge", code=1).err
