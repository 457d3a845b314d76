"""The crash points themselves: armed ones kill, the others do nothing, and the list is complete."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import porch
from porch.system import crash_points
from porch.testing import kill_python_at

THRICE = """
from porch.system import crash_points as crash
for number in range(3):
    crash.reach_point("journal.before-write")
    print(number, flush=True)
"""


def test_every_point_in_the_source_is_listed_and_every_listed_one_is_in_the_source() -> None:
    sources = Path(porch.__file__).parent.rglob("*.py")
    used = [
        name
        for source in sources
        for name in re.findall(r"crash_points\.reach_point\(\s*([^)]*?)\s*\)", source.read_text())
    ]
    assert {name.strip('"') for name in used} == set(crash_points.POINTS)
    assert all(re.fullmatch(r'"[a-z]+\.[a-z-]+"', name) for name in used), "a name that is computed"


def test_no_point_is_listed_twice() -> None:
    assert len(set(crash_points.POINTS)) == len(crash_points.POINTS)


@pytest.mark.parametrize(
    "setting, printed",
    [("journal.before-write", b""), ("journal.before-write:3", b"0\n1\n")],
)
def test_the_process_dies_at_the_named_hit(setting: str, printed: bytes) -> None:
    dead = kill_python_at(setting, THRICE)
    assert dead.returncode == -signal.SIGKILL
    assert dead.stdout == printed


def test_a_point_that_is_hit_too_seldom_kills_nobody() -> None:
    assert kill_python_at("journal.before-write:4", THRICE).returncode == 0


def test_an_unarmed_point_does_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", THRICE], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"0\n1\n2\n")


@pytest.mark.parametrize("setting", ["journal.befor-write", "journal.before-write:soon", ":2"])
def test_a_misspelt_point_is_refused_at_import(setting: str) -> None:
    refused = kill_python_at(setting, THRICE)
    assert refused.returncode == 1
    assert refused.stdout == b""
    assert b"ValueError" in refused.stderr
