"""A tree of instances killed at any instant, also in the middle of a merge, ends the same."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import start

pytestmark = [pytest.mark.torture, pytest.mark.timeout(600)]

FULL = os.environ.get("PORCH_TORTURE") == "full"
POINTS = (
    "journal.after-write",
    "journal.after-sync",
    "turn.after-spawn",
    "turn.after-end",
    "git.before-update-ref",
    "git.after-update-ref",
    "worktree.after-branch",
    "worktree.after-add",
    "worktree.after-archive",
    "worktree.after-aside",
    "worktree.after-remove",
    "merge.before-swap",
    "merge.after-swap",
    "merge.after-checkout",
)
# Those that only a tree passes; the others are tried with every run of a line of states.
QUICK = tuple(point for point in POINTS if point.startswith(("worktree", "merge")))
KILLS = 60 if FULL else 8


def _to_the_end(grove: Any, most: int = 6) -> None:
    for _ in range(most):
        done = grove.run()
        if done.returncode == 0:
            return
    raise AssertionError(done.stdout + done.stderr)


def _nths(point: str, hits: int) -> list[int]:
    if FULL:
        return sorted({1, 2, hits // 2, hits - 1, hits} & set(range(1, hits + 1)))
    return [random.Random(point).randint(1, hits)]


@pytest.mark.parametrize("point", POINTS if FULL else QUICK)
def test_a_tree_killed_at_a_point_ends_like_one_that_was_not(
    tmp_path: Path,
    plant: Callable[[Path], Any],
    undisturbed: tuple[dict[str, Any], Counter[str]],
    point: str,
) -> None:
    result, hits = undisturbed
    assert hits[point], f"nobody passes {point}"
    for nth in _nths(point, hits[point]):
        grove = plant(tmp_path / str(nth))
        killed = grove.run(PORCH_CRASH_AT=f"{point}:{nth}")
        assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
        _to_the_end(grove)
        assert grove.result() == result


def test_a_tree_killed_again_and_again_at_random_merges_everything_once(
    planted: Any, undisturbed: tuple[dict[str, Any], Counter[str]]
) -> None:
    luck, kills = random.Random(7), 0
    began = time.monotonic()
    while kills < KILLS and time.monotonic() - began < 300:
        quiet = subprocess.DEVNULL
        with start("porch", planted.words, planted.repo, os.environ, quiet, quiet) as running:
            try:
                running.wait(timeout=luck.uniform(0.3, 3.0))
            except subprocess.TimeoutExpired:
                running.kill()
                kills += 1
        if running.returncode not in (-signal.SIGKILL, 3):
            break
        _answer(planted)
    for _ in range(10):
        if planted.run().returncode == 0:
            break
        _answer(planted)
    assert kills
    assert planted.result() == undisturbed[0]


def _answer(grove: Any) -> None:
    """The third death under one agent asks a person, who says to go on."""
    for line in grove.porch("pending").stdout.splitlines():
        if "person" in line:
            grove.porch("answer", "root", "person", "go on", "--as-person")


def test_the_undisturbed_tree_is_what_the_script_says(
    undisturbed: tuple[dict[str, Any], Counter[str]],
) -> None:
    """Everything else is compared with it, so it is spelt out once."""
    result, _ = undisturbed
    assert result["main"] == ["feat(root): implement"]
    assert result["root"] == [f"feat({child}): implement" for child in ("a", "b", "c")]
    files = [row.split("\t")[1] for row in result["files"]]
    names = ("a", "b", "c", "root")
    assert [f"src/{name}/code" for name in names] == [f for f in files if f.endswith("code")]
    assert result["status"] == ""
