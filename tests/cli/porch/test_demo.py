"""The demonstration, watched by nobody and by somebody who presses keys."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Open


def test_the_demonstration_completes_by_itself(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(desk.root.parent))
    said = desk.call("demo", "--yes")
    out = said.out
    assert out.count("GATE  ") == 2
    assert "review by codex: REQUEST_CHANGES" in out
    assert "check build failed" in out
    for n in (1, 2, 3):
        assert f"evaluate, plan phase {n} of 3: the agent ended with EVALUATION_COMPLETE" in out
    assert "The project is complete. Look at:" in out
    tail = out.partition("Look at:")[2].splitlines()
    named = [Path(line.strip()) for line in tail if line.strip().startswith("/")]
    assert len(named) == 5
    assert all(path.is_file() for path in named)


def test_whoever_watches_decides_the_gates_with_one_key(desk: "Desk", open_: "Open") -> None:
    terminal = open_("demo", columns=120)
    terminal.until("GATE  specify_approval: codev/projects/0001-greeter/spec.md")
    terminal.until("press a to approve, r to reject, q to quit: ")
    terminal.type("a")
    terminal.until("GATE  plan_approval")
    terminal.until("press a to approve, r to reject, q to quit: ")
    terminal.type("q")
    assert terminal.leave() == 3
    assert "The project is not finished." in terminal.text
    assert terminal.after == terminal.before


def test_nobody_there_approves_nothing(desk: "Desk", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(desk.root.parent))
    said = desk.call("demo", code=3)
    assert said.out.count("GATE  ") == 1
    assert "not finished" in said.out
