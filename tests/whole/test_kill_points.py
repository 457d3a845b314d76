"""A run killed at any named point goes on to the same end as one that nobody killed."""

import os
import random
import signal
from collections import Counter
from collections.abc import Callable

import pytest

from porch.system import crash_points
from porch.system.process_marks import list_marked_processes
from porch.testing import Project, Result, distrust, result
from tests.torture import choose_some

pytestmark = [pytest.mark.torture, pytest.mark.timeout(300)]

WHICH = ("first", "second", "middle")
# Passed only by trees, `porch finish` and `codev migrate`; the tests of these kill there.
ELSEWHERE = ("worktree.", "merge.", "finish.", "migrate.")
ON_THE_ROAD = tuple(point for point in crash_points.POINTS if not point.startswith(ELSEWHERE))


def _chosen(point: str) -> tuple[str, ...]:
    """All three hits in full; else one of them, always the same for one point."""
    full = os.environ.get("PORCH_TORTURE") == "full"
    return WHICH if full else (random.Random(point).choice(WHICH),)


def _nth(which: str, hits: int) -> int:
    return min({"first": 1, "second": 2, "middle": max(3, hits // 2)}[which], max(hits, 1))


def _as_new(project: Project) -> tuple[str, ...]:
    return project.run_words


def _with_an_orphan(project: Project) -> tuple[str, ...]:
    """The runner died under an agent, so the next one has something to take over."""
    assert project.run(PORCH_CRASH_AT="turn.after-spawn:2").returncode == -signal.SIGKILL
    return project.run_words


def _with_a_torn_tail(project: Project) -> tuple[str, ...]:
    assert project.run(PORCH_CRASH_AT="journal.after-sync:5").returncode == -signal.SIGKILL
    with open(project.journal, "ab") as file:
        file.write(b'{"v":1,"seq":6,"at":"2026-')
    return project.run_words


def _with_damage(project: Project) -> tuple[str, ...]:
    """What was written after the last record is not a record; nothing acknowledged is lost."""
    assert project.run(PORCH_CRASH_AT="journal.after-sync:5").returncode == -signal.SIGKILL
    with open(project.journal, "ab") as file:
        file.write(b"this is no record\n")
    return ("repair", project.id)


def _with_a_stranger(project: Project) -> tuple[str, ...]:
    assert project.run(PORCH_CRASH_AT="journal.after-sync:5").returncode == -signal.SIGKILL
    inbox = os.path.join(project.directory, "inbox")
    os.makedirs(inbox, exist_ok=True)
    with open(os.path.join(inbox, "stranger.json"), "w", encoding="utf-8") as file:
        file.write("not a wish")
    return project.run_words


# Points that an undisturbed run does not pass, and what has to happen before one passes them.
PREPARED: dict[str, Callable[[Project], tuple[str, ...]]] = {
    "journal.before-cut": _with_a_torn_tail,
    "journal.after-cut": _with_a_torn_tail,
    "journal.after-cut-sync": _with_a_torn_tail,
    "repair.before-aside": _with_damage,
    "repair.after-aside": _with_damage,
    "repair.after-replace": _with_damage,
    "wish.before-refuse": _with_a_stranger,
    "wish.after-refuse": _with_a_stranger,
    "takeover.after-settle": _with_an_orphan,
}


def _to_the_end(project: Project) -> None:
    for _ in range(5):
        done = project.run()
        if done.returncode == 5:
            assert project.porch("repair", project.id).returncode == 0
        elif done.returncode == 0:
            return
    raise AssertionError(done.stdout + done.stderr)


@pytest.mark.parametrize(
    "point, which",
    choose_some([(point, which) for point in ON_THE_ROAD for which in _chosen(point)], 2),
)
def test_a_run_killed_at_a_point_ends_like_one_that_was_not(
    project: Project, undisturbed: Result, hits: Counter[str], point: str, which: str
) -> None:
    words = PREPARED.get(point, _as_new)(project)
    nth = _nth(which, 1 if point in PREPARED else hits[point])
    killed = project.porch(*words, PORCH_CRASH_AT=f"{point}:{nth}")
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
    _to_the_end(project)
    assert result(project) == undisturbed
    assert distrust(project) == []
    assert list_marked_processes(project.mark) == [], "a process was left behind"


def test_every_point_is_passed_by_the_run_or_prepared(hits: Counter[str]) -> None:
    assert set(ON_THE_ROAD) - hits.keys() == PREPARED.keys()


def test_the_undisturbed_run_is_what_the_script_says(
    finished: Project, undisturbed: Result
) -> None:
    """Everything else is compared with it, so it is spelt out once."""
    assert undisturbed.exits == (
        ("plan:draft#1", "DRAFTED"),
        ("plan:draft:checks#1", "passed"),
        ("plan:consult#1", "changes"),
        ("plan:revise#1", "DRAFTED"),
        ("plan:revise:checks#1", "passed"),
        ("plan:consult#2", "approved"),
        ("plan:gate#1", "approved"),
        ("plan:commit#1", "clean"),
        ("implement#1", ""),
        ("implement:phase_1#1", "BUILT"),
        ("implement:checks:phase_1#1", "failed"),
        ("implement:phase_1#2", "BUILT"),
        ("implement:checks:phase_1#2", "passed"),
        ("implement:phase_2#1", "BUILT"),
        ("implement:checks:phase_2#1", "passed"),
    )
    assert (undisturbed.outcome, undisturbed.gates) == ("complete", {"approval": "approved"})
    assert {name.partition(".")[0] for name, _ in undisturbed.charged}, "no budget was charged"
    turns = ("plan:draft", "plan:revise", *["implement phase_1"] * 2, "implement phase_2")
    titles = [text.strip().partition("\n")[0] for text in reversed(undisturbed.commits)]
    assert titles == ["", "begin", *(f"0001-t: {turn}" for turn in turns)]
    assert distrust(finished) == []
    assert set(finished.starts().values()) == {1}
    assert len(finished.starts()) == 9
