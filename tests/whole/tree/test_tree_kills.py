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
    "worktree.after-add",
    "worktree.after-archive",
    "worktree.after-aside",
    "worktree.after-remove",
    "merge.after-mark",
    "merge.after-lock",
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


@pytest.mark.parametrize("point", POINTS if FULL else QUICK[::3])
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
    while kills < KILLS:
        # The third death under one agent ends its instance; each second time it comes further.
        least = 12 if kills % 2 else 0
        code = _kill_after_records(planted, luck.randint(least, 25), luck.uniform(0, 0.2))
        if code == 0:
            break
        kills += code == -signal.SIGKILL
        _answer(planted)
    for _ in range(20):
        if planted.run().returncode == 0:
            break
        _answer(planted)
    assert kills
    assert planted.result() == undisturbed[0]


def _kill_after_records(grove: Any, records: int, more_s: float) -> int:
    """By what came of the run, not by the clock: a slow machine must not keep it where it is."""
    quiet = subprocess.DEVNULL
    limit = _record_count(grove) + records
    with start("porch", grove.words, grove.repo, os.environ, quiet, quiet) as running:
        while running.poll() is None and _record_count(grove) < limit:
            time.sleep(0.005)
        try:
            running.wait(timeout=more_s)
        except subprocess.TimeoutExpired:
            running.kill()
    return running.returncode


def _record_count(grove: Any) -> int:
    journals = (grove.repo / ".git" / "porch").glob("**/journal.jsonl")
    return sum(journal.read_bytes().count(b"\n") for journal in journals)


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
