"""Runs killed again and again at random instants end like one that nobody killed."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from porch.system.process_marks import list_marked_processes
from porch.testing import Project, Result, distrust, result
from tests.commands import ForkedProject

KILLS = 1000 if os.environ.get("PORCH_TORTURE") == "full" else 20
ROUNDS_A_RUN = 60

PROTOCOL: dict[str, Any] = {
    "name": "quick",
    "subject": "project",
    "phases": [
        {
            "id": "write",
            "artifact": "text.md",
            "gate": "approval",
            "on_complete": {"commit": True},
        },
        {
            "id": "build",
            "checks": {"built": {"command": "test -e built.txt", "retry_delay": 0}},
        },
    ],
}
SCRIPT: dict[str, Any] = {
    "agents": {
        "write": [{"write": {"{project_dir}/text.md": "# Text\n"}}],
        "build": [{"write": {"built.txt": "yes\n"}}],
    },
    "decisions": {"approval": [{"approve": True}]},
}


def _made(base: Path) -> Project:
    base.mkdir()
    return ForkedProject.make(str(base), PROTOCOL, SCRIPT)


def _steady(ended: Result) -> Result:
    """Without what a third death under one agent adds: a person who says to try again."""
    words = [(place.rpartition("#")[0], word) for place, word in ended.exits]
    own = tuple(
        (place, word)
        for place, word in words
        if not place.startswith("failed:") and word != "exhausted"
    )
    return replace(ended, exits=own)


def _killed_after(project: Project, seconds: float) -> int:
    """The exit code, or that of SIGKILL if the time was over first."""
    with project.start(*project.run_words) as running:
        try:
            running.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
        return running.returncode


def _to_its_end(project: Project, luck: random.Random, whole_s: float, left: int) -> int:
    """Kill, resume and kill again until the run is over; the answer is how many kills that took."""
    kills = 0
    for _ in range(ROUNDS_A_RUN):
        # A machine that has grown busy must not keep a run from ever coming further.
        patience = whole_s * (1 + kills / 10)
        code = _killed_after(project, luck.uniform(0, patience) if kills < left else 100)
        kills += code == -signal.SIGKILL
        if code == 3:
            assert project.porch("retry", project.id).returncode == 0
        elif code == 0:
            return kills
        else:
            assert code == -signal.SIGKILL, f"exit code {code}"
    raise AssertionError(f"the run came to no end in {ROUNDS_A_RUN} rounds")


@pytest.mark.torture
@pytest.mark.timeout(1200)
def test_runs_killed_at_random_end_like_one_that_was_not(tmp_path: Path) -> None:
    luck = random.Random(20260101)
    began = time.monotonic()
    calm = _made(tmp_path / "calm")
    assert calm.run().returncode == 0
    whole_s = time.monotonic() - began
    expected = _steady(result(calm))
    kills = runs = 0
    while kills < KILLS:
        project = _made(tmp_path / f"run-{runs}")
        kills += _to_its_end(project, luck, whole_s, KILLS - kills)
        runs += 1
        assert _steady(result(project)) == expected
        assert distrust(project) == []
        assert list_marked_processes(project.mark) == [], "a process was left behind"
    assert kills == KILLS
