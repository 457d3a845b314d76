"""A question about files says what lies there now, and which answer can be given now."""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

NOTES = "codev/projects/0001-x/notes.md"
ASKED = {"id": "build", "gate": {"name": "ok", "artifacts": ["notes.md"], "next": "last"}}
LAST = {"id": "last", "name": "Build"}
SILENT: dict[str, Any] = {"*": [{"say": "done"}]}
WRITES = {"build": [{"write": {"{project_dir}/notes.md": "# Notes\n"}}]}


def told(desk: "Desk") -> dict[str, Any]:
    """The question, which the list and the status tell alike."""
    (listed,) = desk.porch("pending", "--json").json["decisions"]
    (shown,) = desk.porch("status", "1", "--json").json["decisions"]
    for key in ("missing", "artifacts", "options"):
        assert listed.get(key) == shown.get(key), key
    return dict(listed)


def effect(desk: "Desk", answer: str = "approved") -> str:
    (option,) = (each for each in told(desk)["options"] if each["answer"] == answer)
    return str(option.get("then", ""))


def words(desk: "Desk", *command: str) -> str:
    return " ".join(desk.porch(*command).out.split())


def test_a_file_that_was_written_since_the_question_is_not_called_missing(desk: "Desk") -> None:
    desk.begin(ASKED, LAST, agents=SILENT, code=3)
    assert told(desk)["missing"] == [NOTES]
    desk.write(NOTES, "# Notes\n")
    assert "missing" not in told(desk)
    for command in (("pending",), ("pending", "1"), ("status", "1")):
        assert f"read: {NOTES}" in words(desk, *command), command
        assert "missing:" not in words(desk, *command), command


def test_a_file_that_was_removed_since_the_question_is_called_missing(desk: "Desk") -> None:
    desk.begin(ASKED, LAST, agents=WRITES, code=3)
    assert "missing" not in told(desk)
    assert effect(desk) == "starts Build"
    (desk.root / NOTES).unlink()
    assert told(desk)["missing"] == [NOTES]
    for command in (("pending",), ("pending", "1"), ("status", "1")):
        assert f"missing: {NOTES}" in words(desk, *command), command


def test_an_approval_that_would_be_refused_is_foreseen_as_that(desk: "Desk") -> None:
    desk.begin(ASKED, LAST, agents=WRITES, code=3)
    rejected = effect(desk, "rejected")
    (desk.root / NOTES).unlink()
    assert effect(desk) == f"cannot be given now: {NOTES} is missing"
    assert effect(desk, "rejected") == rejected
    assert "approve-missing" in desk.porch("approve", "1", "ok", "--json", code=1).out
    desk.write(NOTES, "# Other notes\n")
    assert effect(desk) == f"starts Build; needs --accept-changes: {NOTES} changed"
    assert "approve-changed" in desk.porch("approve", "1", "ok", "--json", code=1).out
    desk.porch("approve", "1", "ok", "--accept-changes")


def test_a_file_that_a_pattern_did_not_find_is_found_once_it_is_there(desk: "Desk") -> None:
    phase = {"id": "build", "gate": {"name": "ok", "artifacts": ["docs/**/*.md"], "next": "last"}}
    desk.begin(phase, LAST, agents=SILENT, code=3)
    assert told(desk)["missing"] == ["docs/**/*.md"]
    desk.write("docs/a/b.md", "# B\n")
    assert told(desk)["artifacts"] == ["docs/a/b.md"]
    assert "missing" not in told(desk)


def test_who_lists_what_waits_only_looks_when_a_named_file_was_written(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    from porch.run.verbs.read_run import RunReader

    desk.begin(ASKED, LAST, agents=WRITES, code=3)
    desk.porch("pending")
    read: list[str] = []
    whole = RunReader.read

    def count(self: RunReader, name: str) -> Any:
        read.append(name)
        return whole(self, name)

    monkeypatch.setattr(RunReader, "read", count)
    desk.porch("pending")
    desk.porch("status", "1")
    assert read == []
    desk.write(NOTES, "# Other notes\n")
    desk.porch("pending")
    desk.porch("pending")
    assert len(read) == 1


def test_no_command_is_offered_for_an_approval_of_what_is_missing(desk: "Desk") -> None:
    desk.begin(ASKED, LAST, agents=WRITES, code=3)
    (desk.root / NOTES).unlink()
    assert "--accept-changes" not in desk.porch("pending", "1").out
    desk.write(NOTES, "# Other notes\n")
    assert "porch approve 0001 ok --accept-changes" in desk.porch("pending", "1").out
