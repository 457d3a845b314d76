"""What nobody was asked yet waits for a driver, wherever that is told."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

BUILD: dict[str, Any] = {
    "id": "build",
    "checks": {"unit": {"command": "false", "max_retries": 0}},
    "gate": "go",
}


def test_a_gate_behind_a_skipped_phase_is_not_said_to_wait_for_a_person(desk: "Desk") -> None:
    desk.begin(BUILD, {"id": "last"}, code=3)
    desk.porch("skip", "1", "--reason", "known")
    assert desk.porch("pending", "--json").json["decisions"] == []
    assert desk.porch("approve", "1", "go", code=2).err
    (row,) = desk.porch("status", "--json").json["runs"]
    assert row["waiting"] == [{"on": "question", "names": ["go"], "needs_driver": True}]
    for command in (("status", "1"), ("status",), ("explain", "1")):
        said = " ".join(desk.porch(*command).out.split())
        assert " you: go" not in said.replace("must first ask you:", ""), command
        assert "waiting for your decision go" not in said, command
        assert "porch resume" in said, command
    assert "waits for   porch to ask: go" in desk.porch("status", "1").out
    assert "porch must first ask you: go." in desk.porch("explain", "1").out
    desk.porch("resume", "1", code=3)
    (row,) = desk.porch("status", "--json").json["runs"]
    assert row["waiting"] == [{"on": "person", "names": ["go"], "needs_driver": False}]
    assert "waits for you: go" in " ".join(desk.porch("status", "1").out.split())
