"""The demonstration, watched by nobody and by somebody who presses keys."""

import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from porch.cli.porch import demo

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Open


def shown_files(text: str) -> list[Path]:
    tail = text.partition("Look at:")[2].partition("\n  cd ")[0].splitlines()
    return [Path(line.strip()) for line in tail if line.strip().startswith("/")]


def shown_hints(text: str) -> list[str]:
    lines = text.partition("Look at:")[2].splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("  cd "))
    last = next((n for n, line in enumerate(lines) if "in your browser" in line), len(lines))
    return [line.strip() for line in lines[first:last] if line.strip()]


def test_r8_the_demonstration_shows_the_way_of_the_readme(
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
    typed = [line for line in out.splitlines() if line.startswith("$ ")]
    assert [line.split()[1:3] for line in typed[1:]] == [
        ["codev", "init"],
        ["porch", "run"],
        *[["porch", "approve"], ["porch", "resume"]] * 2,
        ["porch", "finish"],
    ]
    assert "0001-greeter: merged into" in out
    assert "The project is complete. Look at:" in out
    named = shown_files(out)
    assert len(named) == 4
    assert all(path.is_file() for path in named)
    *_, offer, command = out.rstrip().splitlines()
    assert "in your browser" in offer
    assert command.endswith("dashboard --demo")
    helped = subprocess.run(["sh", "-c", f"{command} --help"], capture_output=True, check=False)
    assert (helped.returncode, b"usage: af dashboard" in helped.stdout) == (0, True)


def test_the_dashboard_is_offered_only_where_its_packages_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert demo.has_dashboard()
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert not demo.has_dashboard()


@pytest.mark.parametrize("program", ["porch", "af"])
def test_a_program_that_is_nowhere_can_still_be_called_as_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str
) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    monkeypatch.setattr("sys.executable", str(python))
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    words = f"{demo.find_own_command(program)} --help"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert f"usage: {program}" in done.stdout, done.stderr


def test_r8_other_keys_do_nothing_and_the_last_hints_work_as_printed(
    desk: "Desk", open_: "Open"
) -> None:
    terminal = open_("demo", columns=120)
    terminal.until("GATE  specify_approval: codev/projects/0001-greeter/spec.md")
    terminal.until("press a to approve, r to reject, q to quit: ")
    # The last character of an arrow is an A.
    terminal.type("xX \r\x1b[A")
    terminal.type("q")
    assert terminal.leave() == 3
    assert "$ porch approve" not in terminal.text
    assert "The project is not finished." in terminal.text
    assert terminal.after == terminal.before
    assert [path.name for path in shown_files(terminal.text)] == [
        "spec.md",
        "consultation-specify-round-1.md",
    ]
    hints = shown_hints(terminal.text)
    assert [hint.split()[1] for hint in hints[1:]] == ["approve", "resume", "log"]
    done = subprocess.run(
        ["sh", "-c", "\n".join(hints)], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "waiting for your decision: plan_approval" in done.stdout


def test_the_reason_for_sending_back_is_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("it's too long\n\n"))
    assert demo.ask_reason() == "it's too long"
    assert "what must change?" in capsys.readouterr().out
    assert demo.ask_reason() == "The viewer of the demo wants another version."


def test_nobody_there_approves_nothing(desk: "Desk", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(desk.root.parent))
    said = desk.call("demo", code=3)
    assert said.out.count("GATE  ") == 1
    assert "not finished" in said.out
