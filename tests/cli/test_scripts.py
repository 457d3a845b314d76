"""Installed scripts leave quickly, and leave nothing undone."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from porch.cli import scripts

ROOT = Path(__file__).parent.parent.parent
BEGIN = """
import atexit, sys, threading
from porch.cli import scripts
atexit.register(print, "at the end")
print("said")
"""


def ended(code: str) -> tuple[int, list[str]]:
    words = [sys.executable, "-I", "-c", BEGIN + code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def test_what_was_said_and_what_was_to_be_done_at_the_end_is_there() -> None:
    assert ended("scripts._leave(3); print('never')") == (3, ["said", "at the end"])


def test_threads_that_still_work_are_waited_for() -> None:
    code = """
go = threading.Event()
def work():
    go.wait()
    print("worked")
threading.Thread(target=work).start()
code = scripts._leave(3)
go.set()
sys.exit(code)
"""
    assert ended(code) == (3, ["said", "worked", "at the end"])


def test_output_that_nobody_takes_is_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    monkeypatch.setattr("atexit._run_exitfuncs", lambda: None)
    assert scripts._leave(3) == 3


def test_every_program_has_its_script() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert known == {
        name: f"porch.cli.scripts:{name}" for name in ("porch", "af", "codev", "envoy")
    }
    assert all(callable(getattr(scripts, name)) for name in known)
