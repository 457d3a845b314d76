"""A status file decides nothing by itself, and a run whose journal is gone says so (K3)."""

import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

GATED: dict[str, Any] = {"id": "one", "gate": {"name": "go", "next": "two"}}
TWO: dict[str, Any] = {"id": "two"}
STATUS = 'id: "0001"\ntitle: "x"\nprotocol: "p"\nstate: "two"\n'
APPROVED = STATUS + "gates:\n  go: { status: approved }\n"
FILE = "codev/projects/0001-x/status.yaml"


@pytest.fixture
def lost(desk: "Desk") -> "Desk":
    """A run waited at its gate; then somebody removed its directory."""
    desk.begin(GATED, TWO, code=3)
    shutil.rmtree(desk.run_dir())
    return desk


def test_k3_a_file_that_says_that_all_is_over_is_history_and_no_run(desk: "Desk") -> None:
    """Q4: such a project needs no protocol to be read, and nothing of it is approved."""
    desk.write(FILE, STATUS.replace("two", "complete"))
    assert "0001-x is history (complete); nothing was changed" in desk.porch("resume", "1").out
    assert not desk.run_dir().exists()
    shown = desk.porch("status", "--json").json
    assert (shown["runs"], shown["history"]) == ([], {FILE: "complete"})
    assert desk.porch("status", "1", "--json").json["history"] is True


@pytest.mark.parametrize("text", [APPROVED, STATUS])
def test_k3_a_plain_file_behind_a_gate_is_adopted_only_when_asked_for(
    desk: "Desk", text: str
) -> None:
    desk.protocol("p", GATED, TWO)
    desk.write(FILE, text)
    for words in (("resume", "1"), ("run", "p", "0001")):
        said = desk.porch(*words, "--no-claude", code=2)
        assert "adopted-approval" in said.err
        assert "gates as passed: go" in said.err
    assert not desk.run_dir().exists()
    told = desk.porch("resume", "1", "--no-claude", "--adopt").out
    assert "approved according to the file; nobody is named: go" in told


def test_k3_a_file_behind_the_gate_of_its_own_phase_is_no_exception(desk: "Desk") -> None:
    """The commit of a phase comes after its gate."""
    desk.protocol("p", {**GATED, "artifact": "a.md", "on_complete": {"commit": True}}, TWO)
    desk.write(FILE, STATUS.replace('state: "two"', 'state: "one:commit"'))
    said = desk.porch("resume", "1", "--no-claude", code=2)
    assert "gates as passed: go" in said.err
    for place in ("one:gate", "failed:one"):
        desk.write(FILE, STATUS.replace('state: "two"', f'state: "{place}"'))
        desk.porch("resume", "1", "--no-claude", code=3)
        assert desk.status()["gates"]["go"]["status"] in ("pending", "waiting")
        shutil.rmtree(desk.root / ".git" / "porch")


def test_k3_a_file_in_front_of_all_gates_is_adopted_as_before(desk: "Desk") -> None:
    desk.protocol("p", GATED, TWO)
    desk.write(FILE, STATUS.replace('state: "two"', 'state: "one"'))
    desk.porch("resume", "1", "--no-claude", code=3)


def test_k3_a_run_whose_journal_is_gone_is_said_to_be_gone(lost: "Desk") -> None:
    lost.write(FILE, APPROVED)
    for words in (("resume", "1"), ("run", "p", "0001")):
        said = lost.porch(*words, "--no-claude", code=5)
        assert "there was a run 0001-x here, but its journal is gone" in said.err
    shown = lost.porch("status", "1")
    assert "journal is gone" in shown.out
    assert lost.porch("status", "1", "--json").json["journal_gone"] is True
    assert not lost.run_dir().exists()


def test_an_ended_run_without_its_journal_is_not_said_to_be_older_than_porch(desk: "Desk") -> None:
    desk.begin(TWO)
    shutil.rmtree(desk.root / ".git" / "porch")
    said = desk.porch("status", "1").out
    assert "before porch had it" not in said
    assert "history: a run of porch that has ended; its journal is not here" in said


def test_k3_lists_of_runs_say_so_too(lost: "Desk") -> None:
    for words in (("status",), ("pending",)):
        assert "0001-x: there was a run, but its journal is gone" in lost.porch(*words).out
    assert lost.porch("pending", "--hook").out == ""


def test_k3_its_id_alone_does_not_begin_another_run_in_its_place(lost: "Desk") -> None:
    for words in (("run", "p", "1", "--no-claude"), ("run", "p", "1"), ("resume", "1")):
        assert "there was a run 0001-x here" in lost.porch(*words, code=5).err
    lost.porch("run", "p", "1", "--title", "another", "--no-claude", code=3)


def test_k3_also_without_a_status_file(lost: "Desk") -> None:
    (lost.root / FILE).unlink()
    for words in (("approve", "1"), ("resume", "1"), ("log", "1"), ("status", "1")):
        assert "journal is gone" in lost.porch(*words, code=5).err


def test_k3_whoever_knows_it_begins_without_the_journal(lost: "Desk") -> None:
    (lost.root / FILE).unlink()
    lost.porch("run", "p", "0001", "--title", "x", "--no-claude", "--here", "--adopt", code=3)
    assert lost.entered() == ["one", "one:gate"]


def test_k3_a_run_of_an_earlier_release_is_known_once_it_is_driven(desk: "Desk") -> None:
    desk.begin(GATED, TWO, code=3)
    known = desk.root / ".git/porch/known-runs"
    known.unlink()
    desk.porch("resume", "1", code=3)
    assert known.read_text().split() == ["0001-x"]
