"""What people are told while a run goes on, by the channels of their own settings."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.listener import Listener
from tests.trust import trust_settings

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

PHASE = {"id": "work", "prompt": "work.md", "gate": "ok", "artifact": "a.md"}
SCRIPT = {"agents": {"work": [{"write": {"{project_dir}/a.md": "one\n"}, "say": "done"}]}}


@pytest.fixture
def told(desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command of a person's own settings writes what it is told."""
    out = tmp_path / "told"
    code = (
        "import os; "
        f"open({str(out)!r}, 'a').write(os.environ['PORCH_EVENT'] + ' ' + os.environ['PORCH_RUN'] "
        "+ ' ' + os.environ['PORCH_DECISION'] + chr(10))"
    )
    own = tmp_path / "config" / "porch"
    own.mkdir(parents=True)
    (own / "config.toml").write_text(
        f"[notify]\ncommand = ['{sys.executable}', '-c', \"{code}\"]\n"
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    trust_settings(desk.root)
    return out


@pytest.mark.req("P-017")
def test_a_gate_and_the_end_are_told_once_each(desk: "Desk", told: Path) -> None:
    desk.begin(PHASE, code=3, **SCRIPT)
    assert told.read_text() == "gate 0001 ok\n"
    desk.porch("resume", "0001", code=3)
    assert told.read_text() == "gate 0001 ok\n"
    desk.porch("approve", "0001", "ok")
    desk.porch("resume", "0001")
    assert told.read_text() == "gate 0001 ok\ncomplete 0001 \n"


@pytest.mark.req("P-170")
def test_a_notice_of_a_gate_names_run_and_gate_and_nothing_that_was_written(
    desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener(200)
    own = tmp_path / "config/porch/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f"[notify]\nwebhook = '{listener.url}'\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    try:
        desk.begin(PHASE, code=3, **SCRIPT)
    finally:
        listener.close()
    said = "0001 x: waiting for your approval: ok"
    assert listener.bodies == [{"text": said, "event": "gate", "run": "0001", "decision": "ok"}]


@pytest.mark.req("P-118")
def test_a_failure_that_needs_a_person_is_told(desk: "Desk", told: Path) -> None:
    checked = {**PHASE, "checks": {"never": {"command": "false", "max_retries": 0}}}
    desk.begin(checked, code=3, **SCRIPT)
    assert told.read_text() == "failure 0001 failed:work\n"


def test_the_end_of_a_run_says_what_has_not_passed(
    desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener(200)
    own = tmp_path / "config/porch/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f"[notify]\nwebhook = '{listener.url}'\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    work = {"id": "work", "checks": {"never": {"command": "false", "max_retries": 0}}}
    look = {"id": "look"}
    try:
        desk.begin(work, look, code=3)
        desk.porch("skip", "1", "--reason", "later")
        desk.porch("resume", "1", code=3)
        desk.porch("skip", "1", "--reason", "still later")
        desk.porch("resume", "1")
    finally:
        listener.close()
    assert listener.bodies[-1]["text"] == "0001 x is complete; not passed: work, complete"


def test_a_project_cannot_make_porch_start_commands_for_notices(desk: "Desk") -> None:
    desk.write("codev/config.toml", "[notify]\ncommand = ['touch', 'made']\n")
    said = desk.begin(PHASE, code=3, **SCRIPT)
    assert "it works only in your own settings" in said.all
    assert not os.path.exists(desk.root / "made")


def test_a_notice_that_cannot_be_sent_does_not_stop_the_run(
    desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "config" / "porch"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("[notify]\ncommand = ['/no/such/thing']\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    trust_settings(desk.root)
    said = desk.begin(PHASE, code=3, **SCRIPT)
    assert "the notice could not be sent by command: `/no/such/thing` cannot be started" in said.all
