"""What a person types at a question of `codev`, or does not type."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from porch.cli.typed_line import ask_line

CODEV = (sys.executable, "-c", "from porch.cli.dispatch import codev; exit(codev())")


def test_a_line_is_taken_without_its_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(" make test \n"))
    assert ask_line("Which? ") == "make test"


def test_who_closes_the_input_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(KeyboardInterrupt):
        ask_line("Which? ")


def test_ctrl_c_at_a_question_leaves_the_cursor_on_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(question: str) -> str:
        sys.stdout.write(question)
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ask_line("Which? ")
    assert capsys.readouterr().out == "Which? \n"


def test_ctrl_d_at_a_question_of_codev_init_leaves_and_changes_nothing(
    tmp_path: Path, home: Path
) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"\x04")
    with open(theirs, "r+b", buffering=0) as end:
        done = subprocess.run(
            (*CODEV, "init"),
            cwd=tmp_path,
            stdin=end,
            stdout=end,
            stderr=subprocess.PIPE,
            check=False,
        )
    os.close(ours)
    assert done.returncode == 130
    assert b"error" not in done.stderr
    assert not (tmp_path / "codev").exists()
