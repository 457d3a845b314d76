"""Many hands on one run: no wish is lost, none is answered twice, one wins, one runner drives."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from porch.errors import BusyError
from porch.machine import facts as f
from porch.run.engine.send_wish import send_wish
from porch.store import where
from porch.store.lock import RunLock
from porch.system.process_marks import list_marked_processes
from porch.testing import Project
from tests.commands import Forked, ForkedProject

FULL = os.environ.get("PORCH_TORTURE") == "full"
HANDS, WISHES = (32, 50) if FULL else (6, 10)
GATE = "write:gate#1"

PROTOCOL: dict[str, Any] = {
    "name": "gated",
    "subject": "project",
    "phases": [{"id": "write", "artifact": "text.md", "gate": "approval"}],
}
WRITTEN = {"write": {"{project_dir}/text.md": "# Text\n"}}
SCRIPT: dict[str, Any] = {"agents": {"write": [WRITTEN]}}


def one_hand() -> int:
    """One of many: leaves wishes one after the other and prints what each was answered."""
    root, run, seed, count, gate = sys.argv[1:]
    luck, place = random.Random(seed), where.find_project(root)
    for _ in range(int(count)):
        exit_ = luck.choice(["approved", "rejected", ""])
        decide = {"kind": "decide", "position": gate, "exit": exit_, "text": "why"}
        try:
            told = send_wish(place, run, decide if exit_ else {"kind": "stop"}, "test")["wish"][
                "id"
            ]
        except BusyError:
            told = "late"
        sys.stdout.write(f"{told}\n")
        sys.stdout.flush()
    return 0


def deaf() -> int:
    """Holds the lock and answers nobody."""
    assert RunLock(sys.argv[1]).acquire("a deaf test", 5)
    sys.stdout.write("held\n")
    sys.stdout.flush()
    time.sleep(100)
    return 0


@pytest.fixture
def gated(tmp_path: Path) -> Project:
    return ForkedProject.make(str(tmp_path), PROTOCOL, SCRIPT)


@pytest.fixture
def started() -> Iterator[list["subprocess.Popen[str]"]]:
    """Processes that must not outlive the test, however it ends."""
    running: list[subprocess.Popen[str]] = []
    yield running
    for process in running:
        process.kill()
        process.communicate()


def _until(holds: Callable[[], bool], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.05)


def _is_asked(project: Project) -> bool:
    return os.path.exists(project.journal) and any(
        isinstance(record.fact, f.DecisionAsked) for record in project.records()
    )


def _hand(project: Project, seed: int, crash_at: str = "") -> "subprocess.Popen[str]":
    run = os.path.basename(project.directory)
    words = [project.root, run, str(seed), str(WISHES), GATE]
    return Forked(
        one_hand,
        words,
        env={**os.environ, **({"PORCH_CRASH_AT": crash_at} if crash_at else {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _all_wish(project: Project, started: list[Any], crashes: tuple[str, ...]) -> tuple[int, int]:
    """How many answers the hands saw, and how many hands died with a wish on its way."""
    hands = [_hand(project, seed, crashes[seed % len(crashes)]) for seed in range(HANDS)]
    started.extend(hands)
    said = [hand.communicate(timeout=240) for hand in hands]
    for hand, (_, err) in zip(hands, said, strict=True):
        assert hand.returncode in (0, -signal.SIGKILL), err
    known = [line for out, _ in said for line in out.split()]
    answers = _answers(project)
    assert {word: answers[word] for word in known if word != "late"} == {
        word: 1 for word in known if word != "late"
    }
    return len(known), sum(hand.returncode != 0 for hand in hands)


def _answers(project: Project) -> "Counter[str]":
    """How often the journal answers each wish."""
    facts = [record.fact for record in project.records()]
    return Counter(fact.wish.id for fact in facts if isinstance(fact, f.WishTaken | f.WishRefused))


def _taken(project: Project) -> "Counter[str]":
    facts = [record.fact for record in project.records()]
    return Counter(fact.wish.kind for fact in facts if isinstance(fact, f.WishTaken))


def _drained(project: Project) -> None:
    """Somebody else's command takes the lock and answers what still lies there."""
    assert project.porch("stop", project.id).returncode == 0
    if os.listdir(os.path.join(project.directory, "inbox")):
        assert project.porch("resume", project.id).returncode in (0, 1, 3)
    assert os.listdir(os.path.join(project.directory, "inbox")) == []


@pytest.mark.torture
@pytest.mark.timeout(600)
@pytest.mark.parametrize("is_driven", [False, True], ids=["nobody drives", "a runner drives"])
@pytest.mark.parametrize("is_killed", [False, True], ids=["nobody dies", "some die"])
def test_every_wish_is_answered_once_and_one_decides(
    gated: Project, started: list[Any], is_driven: bool, is_killed: bool
) -> None:
    if is_driven:
        started.append(gated.start(*gated.run_words, "--wait"))
        _until(lambda: _is_asked(gated))
    else:
        assert gated.run().returncode == 3
    points = ("wish.before-unlink:2", "wish.after-rename:5", "wish.after-unlink:3")
    crashes = ("", *points) if is_killed else ("",)
    known, died = _all_wish(gated, started, crashes)
    if is_driven:
        started[0].communicate(timeout=60)
    _drained(gated)
    answers = _answers(gated)
    assert set(answers.values()) == {1}, "a wish was answered twice"
    own = sum(word.startswith("resume-") for word in answers)
    assert len(answers) - own in (known + died, known + died + 1), "a wish was lost"
    assert died or not is_killed
    assert _taken(gated)["decide"] == 1, "one decision, one winner"


def test_commands_that_decide_at_once_have_one_winner_and_the_documented_codes(
    gated: Project,
) -> None:
    assert gated.run().returncode == 3
    words = [("approve", gated.id, "approval"), ("reject", gated.id, "approval", "--reason", "no")]
    running = [gated.start(*words[number % 2]) for number in range(6)]
    codes = []
    for number, process in enumerate(running):
        out, err = process.communicate(timeout=60)
        codes.append((number % 2, process.returncode, out + err))
    assert {code for _, code, _ in codes} <= {0, 1, 2}, codes
    assert _taken(gated) == {"decide": 1}
    won = [said for _, code, said in codes if code == 0 and "already" not in said]
    assert len(won) == 1, codes


def test_a_second_runner_is_refused_with_the_name_of_the_first(
    gated: Project, started: list[Any]
) -> None:
    first = gated.start(*gated.run_words, "--wait")
    started.append(first)
    _until(lambda: _is_asked(gated))
    for words in (gated.run_words, ("resume", gated.id)):
        second = gated.porch(*words)
        assert second.returncode == 4
        assert "already running" in second.stderr
        assert f"pid {first.pid}" in second.stderr


def test_the_lock_of_a_killed_runner_is_free_at_once(gated: Project, started: list[Any]) -> None:
    first = gated.start(*gated.run_words, "--wait")
    started.append(first)
    _until(lambda: _is_asked(gated))
    first.kill()
    first.wait()
    assert gated.porch("resume", gated.id).returncode == 3
    assert gated.porch("approve", gated.id).returncode == 0
    assert gated.run().returncode == 0


def test_the_agent_of_a_killed_runner_is_stopped_before_a_new_one_starts(
    tmp_path: Path, started: list[Any]
) -> None:
    first = {"run": ["sh", "-c", "echo $PPID > pid.txt"], "hang": True, "ignore_sigint": True}
    alive = "grep -s ^State: /proc/$(cat pid.txt)/status > overlap.txt; true"
    script = {"agents": {"write": [{"tries": [first, {**WRITTEN, "run": ["sh", "-c", alive]}]}]}}
    gated = ForkedProject.make(str(tmp_path), PROTOCOL, script)
    runner = gated.start(*gated.run_words)
    started.append(runner)
    pid = Path(gated.workplace, "pid.txt")
    _until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    runner.kill()
    runner.wait()
    assert int(pid.read_text()) in [found.pid for found in list_marked_processes(gated.mark)]
    assert gated.run().returncode == 3
    # A dead one may wait for its parent to notice, which is nobody's concern here.
    assert Path(gated.workplace, "overlap.txt").read_text() in ("", "State:\tZ (zombie)\n")
    assert list_marked_processes(gated.mark) == []
    assert set(gated.starts().values()) == {1}
    assert len(gated.starts()) == 2


def test_a_wish_that_nobody_takes_is_told_with_the_holder_and_taken_later(
    gated: Project, started: list[Any]
) -> None:
    assert gated.run().returncode == 3
    lock = os.path.join(gated.directory, "lock")
    holder = Forked(deaf, [lock], stdout=subprocess.PIPE, text=True)
    started.append(holder)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    began = time.monotonic()
    undelivered = gated.porch("approve", gated.id, "approval")
    assert time.monotonic() - began >= 5
    assert undelivered.returncode == 4
    assert "sent, but not answered yet" in undelivered.stderr
    assert f"a deaf test, pid {holder.pid}" in undelivered.stderr
    holder.kill()
    holder.wait()
    assert gated.run().returncode == 0
    assert _taken(gated) == {"decide": 1}


@pytest.mark.parametrize("point", ["wish.before-unlink", "wish.after-rename", "journal.after-sync"])
def test_an_approval_killed_on_its_way_counts_once(gated: Project, point: str) -> None:
    assert gated.run().returncode == 3
    killed = gated.porch("approve", gated.id, "approval", PORCH_CRASH_AT=point)
    assert killed.returncode == -signal.SIGKILL
    assert gated.run().returncode == 0
    assert _taken(gated) == {"decide": 1}
    assert set(_answers(gated).values()) == {1}
    assert os.listdir(os.path.join(gated.directory, "inbox")) == []


def test_wishes_that_no_command_left_are_still_judged(gated: Project) -> None:
    """A hand-made file is under the same rules: what it asks is refused, not obeyed."""
    assert gated.run().returncode == 3
    name = random.Random(1).randbytes(16).hex()
    inbox = Path(gated.directory, "inbox")
    inbox.mkdir(exist_ok=True)
    wish = {"id": name, "kind": "decide", "position": "write:gate#2", "exit": "approved"}
    (inbox / f"{name}.json").write_text(json.dumps(wish))
    assert gated.run().returncode == 3
    assert (_answers(gated)[name], _taken(gated)["decide"]) == (1, 0)
