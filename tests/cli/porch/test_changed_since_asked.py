"""An approval is for what a person was shown, and for nothing that was written since."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.store import inbox
from tests.repositories import ACCOUNT

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

TEXT = "codev/projects/0001-x/text.md"
WRITE: dict[str, Any] = {
    "id": "write",
    "artifact": "text.md",
    "gate": {"name": "ready", "description": "Is the text good?", "next": None},
}
WRITTEN = {"write": [{"write": {"{project_dir}/text.md": "As the agent wrote it.\n"}}]}


@pytest.fixture
def asked(desk: "Desk") -> "Desk":
    """A run that waits at its gate, for the text as the agent wrote it."""
    desk.begin(WRITE, agents=WRITTEN, code=3)
    return desk


def status_of(desk: "Desk", gate: str = "ready") -> str:
    return str(desk.status()["gates"][gate]["status"])


def test_what_changed_since_porch_asked_is_refused_with_the_difference(asked: "Desk") -> None:
    """X5"""
    asked.porch("pending")
    asked.write(TEXT, "Rewritten behind your back.\n")
    said = asked.porch("approve", "1", "ready", code=1).err
    assert "error[approve-changed]" in said
    assert f"{TEXT} changed since porch asked" in said
    assert "-As the agent wrote it." in said
    assert "+Rewritten behind your back." in said
    assert "porch approve 0001 ready --accept-changes" in said
    assert status_of(asked) == "pending"


def test_the_difference_that_was_shown_can_be_accepted_and_the_log_says_so(asked: "Desk") -> None:
    """X5"""
    asked.write(TEXT, "Rewritten.\n")
    asked.porch("approve", "1", "ready", code=1)
    said = asked.porch("approve", "1", "ready", "--accept-changes", "--note", "fine").out
    assert f"approved as changed since porch asked: {TEXT}" in said
    assert status_of(asked) == "approved"
    log = " ".join(asked.porch("log", "1").out.split())
    told = f"approved by {ACCOUNT} (cli), as changed since porch asked: {TEXT}: fine"
    assert told in log


def test_a_write_between_the_refusal_and_the_acceptance_is_shown_again(asked: "Desk") -> None:
    """X5: only the difference that was shown is accepted."""
    asked.write(TEXT, "Rewritten.\n")
    asked.porch("approve", "1", "ready", code=1)
    asked.write(TEXT, "Rewritten, and worse.\n")
    said = asked.porch("approve", "1", "ready", "--accept-changes", code=1).err
    assert "changed since you looked" in said
    assert "-Rewritten.\n" in said
    assert "+Rewritten, and worse." in said
    asked.porch("approve", "1", "ready", "--accept-changes")
    assert asked.facts("WishTaken")[0]["wish"]["data"]["accept_changes"] == [TEXT]


def test_what_was_never_shown_cannot_be_accepted_beforehand(asked: "Desk") -> None:
    asked.write(TEXT, "Rewritten.\n")
    said = asked.porch("approve", "1", "ready", "--accept-changes", code=1).err
    assert "+Rewritten." in said
    asked.porch("approve", "1", "ready", "--accept-changes")


def test_where_nothing_changed_accepting_changes_says_nothing_of_changes(asked: "Desk") -> None:
    assert asked.porch("approve", "1", "ready", "--accept-changes").out == "ready: approved\n"
    assert "accept_changes" not in asked.facts("WishTaken")[0]["wish"]["data"]


def test_a_file_that_is_put_back_is_not_what_was_shown_last(asked: "Desk") -> None:
    asked.write(TEXT, "Rewritten.\n")
    asked.porch("approve", "1", "ready", code=1)
    asked.write(TEXT, "As the agent wrote it.\n")
    said = asked.porch("approve", "1", "ready", code=1).err
    assert "-Rewritten." in said
    assert asked.porch("approve", "1", "ready").out == "ready: approved\n"


def test_a_change_can_be_rejected_without_being_looked_at(asked: "Desk") -> None:
    asked.write(TEXT, "Rewritten.\n")
    asked.porch("reject", "1", "ready", "--reason", "not that")
    assert asked.entered()[-1] == "write"


def test_pending_of_a_run_shows_what_changed_and_binds_it(asked: "Desk") -> None:
    asked.write(TEXT, "Rewritten.\n")
    said = asked.porch("pending", "1").out
    assert f"changed since porch asked: {TEXT}" in said
    assert "+Rewritten." in said
    assert "porch approve 0001 ready --accept-changes\n" in said
    asked.porch("approve", "1", "ready", code=1)
    asked.porch("approve", "1", "ready", "--accept-changes")


def test_a_list_of_all_decisions_shows_no_contents_and_binds_nothing(asked: "Desk") -> None:
    asked.write(TEXT, "Rewritten.\n")
    asked.porch("pending")
    asked.porch("pending", "--json")
    asked.porch("approve", "1", "ready", "--accept-changes", code=1)


def test_what_an_agent_lists_was_not_shown_to_a_person(
    asked: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.write(TEXT, "Rewritten.\n")
    asked.porch("approve", "1", "ready", code=1)
    asked.write(TEXT, "Worse.\n")
    with monkeypatch.context() as agent:
        agent.setenv("CLAUDECODE", "1")
        asked.porch("pending", "1")
    said = asked.porch("approve", "1", "ready", "--accept-changes", code=1).err
    assert "+Worse." in said


def test_pending_names_a_run_that_there_is(asked: "Desk") -> None:
    assert "ready (gate)" in asked.porch("pending", "0001-x").out
    asked.porch("pending", "2", code=2)


@pytest.mark.parametrize(
    "words",
    [
        ("approve", "1", "ready"),
        ("approve", "1", "ready", "--accept-changes"),
        ("answer", "1", "ready", "approved"),
    ],
)
def test_what_is_missing_cannot_be_approved(desk: "Desk", words: tuple[str, ...]) -> None:
    """T4"""
    desk.begin(WRITE, agents=WRITTEN, code=3)
    (Path(desk.root) / TEXT).unlink()
    for _ in range(2):
        said = desk.porch(*words, code=1).err
        assert "error[approve-missing]" in said
        assert f"{TEXT} is missing, and what nobody can read cannot be approved" in said
        assert 'porch reject 0001 ready --reason "..."' in said
    assert status_of(desk) == "pending"


def test_a_waiver_does_not_replace_a_file_that_is_missing(desk: "Desk") -> None:
    """T4"""
    desk.begin(WRITE, agents=WRITTEN, code=3)
    (Path(desk.root) / TEXT).unlink()
    said = desk.porch("approve", "1", "--override", "I know", code=1).err
    assert "what nobody can read cannot be approved" in said


def test_a_file_that_a_person_writes_instead_is_shown_before_it_is_approved(asked: "Desk") -> None:
    (Path(asked.root) / TEXT).unlink()
    asked.porch("approve", "1", "ready", code=1)
    asked.write(TEXT, "By hand.\n")
    assert "+By hand." in asked.porch("approve", "1", "ready", code=1).err
    asked.porch("approve", "1", "ready", "--accept-changes")


def test_a_wish_that_nobody_was_shown_anything_for_approves_only_what_was_asked(
    asked: "Desk",
) -> None:
    """Whoever writes into the inbox by hand says nothing of what they saw."""
    wish: dict[str, Any] = {"kind": "decide", "position": "write:gate#1", "exit": "approved"}
    directory = str(asked.run_dir() / "inbox")
    asked.write(TEXT, "Rewritten.\n")
    inbox.leave_wish(directory, wish)
    inbox.leave_wish(directory, {**wish, "data": {"accept_changes": [TEXT]}})
    asked.porch("resume", "1", code=3)
    reasons = [fact["reason"] for fact in asked.facts("WishRefused")]
    assert (
        reasons == ["the files changed since porch asked; look at the difference, then decide"] * 2
    )


def test_a_script_approves_what_was_asked_and_nothing_that_changed_since(desk: "Desk") -> None:
    desk.begin(WRITE, agents=WRITTEN, code=3)
    desk.write(TEXT, "Rewritten.\n")
    script = desk.script(decisions={"ready": [{"approve": True}]}, agents=WRITTEN)
    desk.porch("resume", "1", "--script", script, code=3)
    assert "files changed since porch asked" in desk.facts("WishRefused")[0]["reason"]
    desk.write(TEXT, "As the agent wrote it.\n")
    desk.porch("resume", "1", "--script", script)
