"""Drivers of a real `af`: forks of it, which have nothing of it, and go on when it has gone."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from porch.cli.products import PRODUCTS
from porch.fleet.drivers import forked
from porch.fleet.drivers.forked import may_fork
from porch.machine.facts import RunnerStarted
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.run.engine.drive_options import DriveWatch, RunRequest
from porch.run.engine.driver import DriveManner
from porch.run.verbs import launch
from porch.store import where as places
from porch.system.process_marks import SECOND_LOOK_S, read_environment
from tests.cli.af.conftest import Farm
from tests.commands import Forked

AF = (sys.executable, "-P", "-c", "from porch.cli.scripts import af; raise SystemExit(af())")
WORDS = ("kickoff", "0001", "--title", "x", "--protocol", "p", "--no-claude")


def call_af(
    farm: Farm, words: Sequence[str] = WORDS, code: int = 0, **given: Any
) -> "subprocess.CompletedProcess[str]":
    given = {"stdin": subprocess.DEVNULL, **given} if "input" not in given else given
    done = subprocess.run(
        [*AF, *words],
        cwd=farm.desk.root,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **given,
    )
    assert done.returncode == code, done
    return done


def read_words(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def test_a_real_kickoff_forks_its_driver(farm: Farm) -> None:
    said = call_af(farm, env={**os.environ, "COLUMNS": "30"}).stdout
    pid = farm.driver()
    assert f"Started 0001-x (pid {pid})" in said
    assert "kickoff" in read_words(pid), "it has the words of the command that it was"
    assert os.getsid(pid) == os.getpgid(pid) == pid, "a session of its own"
    assert os.readlink(f"/proc/{pid}/fd/0") == os.devnull
    log = str(farm.desk.run_dir() / "driver.log")
    assert {os.readlink(f"/proc/{pid}/fd/{n}") for n in (1, 2)} == {log}
    assert "PORCH_MARK" not in read_environment(pid)
    farm.wait_for_gate()
    assert "porch started" in farm.af("logs", "1").out
    assert farm.desk.facts("RunnerStarted")[0]["detached"] is True


def test_a_driver_holds_nothing_that_its_caller_had_open(farm: Farm) -> None:
    """Whoever waits for the end of a pipe that `af` was given does not wait for the run."""
    listen, tell = os.pipe()
    call_af(farm, pass_fds=(tell,))
    os.close(tell)
    assert os.read(listen, 1) == b""
    os.close(listen)
    assert farm.driver()


# What only the work itself needs; each costs more than most of what a kickoff does.
NOT_YET = ("asyncio", "platform", "shutil", "porch.agents.transcripts", "porch.machine.rollback")
TELLING = """
import os, sys
file, parent, write = sys.argv.pop(1), os.getpid(), os.write
def write_and_note(number, data):
    if os.getpid() != parent and bytes(data).startswith(b"0001-x\\n"):
        with open(file, "w") as note:
            note.write(" ".join(sys.modules))
    return write(number, data)
os.write = write_and_note
from porch.cli.scripts import af
raise SystemExit(af())
"""


def test_a_driver_tells_before_it_loads_what_only_its_work_needs(farm: Farm) -> None:
    note = farm.desk.root.parent / "note"
    subprocess.run(
        [sys.executable, "-P", "-c", TELLING, str(note), *WORDS],
        cwd=farm.desk.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=300,
        check=True,
    )
    loaded = note.read_text().split()
    assert "porch.run.drive.drive" in loaded
    assert [name for name in NOT_YET if name in loaded] == []


# What a driver did until it told: each git with whether it had loaded what drives, and each nap.
HEARING = """
import os, sys, time
file, parent, write, sleep = sys.argv.pop(1), os.getpid(), os.write, time.sleep
heard = []
def hear(event, args):
    if event == "os.posix_spawn" and os.getpid() != parent:
        command = next((word for word in args[1] if word in ("worktree", "status")), "other")
        heard.append(f"{command} {'porch.run.drive.drive' in sys.modules}")
def sleep_and_note(seconds):
    heard.append(f"sleep {seconds}")
    sleep(seconds)
def write_and_note(number, data):
    if os.getpid() != parent and bytes(data).startswith(b"0001-x\\n"):
        with open(file, "w") as note:
            note.write("\\n".join(heard))
    return write(number, data)
os.write, time.sleep = write_and_note, sleep_and_note
sys.addaudithook(hear)
from porch.cli.scripts import af
raise SystemExit(af())
"""


@pytest.fixture
def heard(farm: Farm) -> list[str]:
    note = farm.desk.root.parent / "note"
    subprocess.run(
        [sys.executable, "-P", "-c", HEARING, str(note), *WORDS],
        cwd=farm.desk.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=300,
        check=True,
    )
    return note.read_text().splitlines()


def test_a_driver_loads_what_drives_while_git_writes_its_worktree(heard: list[str]) -> None:
    gits = [each for each in heard if not each.startswith("sleep ")]
    # The first one reads the settings of the commit.
    assert gits[:3] == ["other False", "worktree False", "status False"]
    assert gits[3:]
    assert all(each.endswith(" True") for each in gits[3:])


def test_a_driver_of_a_new_run_does_not_look_twice_for_processes_of_it(heard: list[str]) -> None:
    assert f"sleep {SECOND_LOOK_S}" not in heard


LOOKS = """
import gc, os, tempfile
from porch.fleet.drivers.forked import DriverCall, fork_driver

def count():
    print(gc.get_freeze_count() > 1000, gc.isenabled())
    return 0

listen, tell = os.pipe()
with open(os.devnull, "rb") as given, tempfile.TemporaryFile() as output:
    call = DriverCall(words=(), directory="/", given=given, output=output, tell=tell)
    fork_driver(count, call).wait()
    output.seek(0)
    print(output.read().decode())
"""


def test_a_driver_looks_for_unused_objects_but_not_among_what_its_caller_has_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", LOOKS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_caller_without_streams_is_no_obstacle(farm: Farm, closed: str) -> None:
    script = f'"$@" {closed}'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *AF, *WORDS],
        cwd=farm.desk.root,
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0
    farm.wait_for_gate()
    assert "porch started" in farm.af("logs", "1").out


def test_r1_a_request_on_standard_input_reaches_a_forked_driver(farm: Farm) -> None:
    asked = "Greet people by name\n" * 3_000
    call_af(farm, (*WORDS, "--request", "-"), input=asked)
    assert farm.desk.porch("status", "1", "--json").json["request"]["text"] == asked


def test_what_a_forked_driver_says_is_shown_once_if_it_cannot_start(farm: Farm) -> None:
    farm.desk.git("branch", "p_0001_x")
    done = call_af(farm, code=2)
    assert done.stdout.count("error[branch-exists]") == 1
    assert done.stderr == ""
    assert not (farm.desk.root / ".git/porch/kickoffs").exists()


@pytest.mark.parametrize(
    "point", ["worktree.after-add", "worktree.after-setup", "lock.after-sign", "journal.after-sync"]
)
def test_a_forked_driver_that_is_killed_leaves_nothing_half_made(farm: Farm, point: str) -> None:
    farm.desk.write("codev/config.toml", '[worktree]\nsetup = ["echo ready > made.txt"]\n')
    said = call_af(farm, code=6, env={**os.environ, "PORCH_CRASH_AT": point}).stdout
    assert "ended by signal 9 before its run was there" in said
    call_af(farm)
    farm.wait_for_gate()
    assert farm.driver()
    assert len(farm.desk.facts("RunStarted")) == 1


def test_r4_a_forked_driver_is_stopped_started_again_and_taken_up(farm: Farm) -> None:
    call_af(farm)
    farm.wait_for_gate()
    first = farm.driver()
    os.kill(first, signal.SIGKILL)
    farm.desk.wait_for(lambda: farm.driver() == 0)
    assert "its driver was gone and was started again" in farm.af("status").out
    assert farm.driver() not in (0, first)
    call_af(farm, ("stop", "1"))
    assert not farm.driver()
    call_af(farm, ("resume", "1"))
    call_af(farm, ("approve", "1", "go"))
    farm.wait_for_end()
    assert farm.desk.entered()[-1] == "complete"


def test_a_polite_kill_of_a_forked_driver_is_journalled(farm: Farm) -> None:
    script = farm.desk.script(agents={"one": [{"hang": True}]})
    call_af(farm, (*WORDS, "--script", script))
    farm.desk.wait_for(lambda: farm.desk.facts("RunnerStarted"))
    os.kill(farm.driver(), signal.SIGTERM)
    farm.wait_for_end()
    # Whether or not its agent was at work by then, nothing of it stays in hand.
    begun = [hand["effect"] for record in farm.desk.records() for hand in record["begun"]]
    assert [fact["effect"] for fact in farm.desk.facts("EffectStopped")] == begun


def _ask_at_the_first_record() -> int:
    """As `porch run` does it; the signal comes before there is a loop that could hear it."""

    def ask(record: JournalRecord, _: RunState) -> None:
        if isinstance(record.fact, RunnerStarted):
            os.kill(os.getpid(), signal.SIGTERM)

    where = places.find_project(os.getcwd())
    wanted = RunRequest(
        protocol="p", words=("0001",), title="x", agent="scripted", in_checkout=True
    )
    driven = launch.start_run(
        where, wanted, DriveManner(wait=True), watch=DriveWatch(ask), products=PRODUCTS
    )
    return int(driven.rest != "interrupted")


def test_a_driver_that_is_asked_to_leave_before_its_loop_begins_leaves_in_order(
    farm: Farm,
) -> None:
    with Forked(_ask_at_the_first_record, (), cwd=farm.desk.root) as running:
        assert running.wait(timeout=100) == 0
    begun = [hand["effect"] for record in farm.desk.records() for hand in record["begun"]]
    assert begun
    assert [fact["effect"] for fact in farm.desk.facts("EffectStopped")] == begun


def test_where_nobody_tells_how_many_threads_there_are_nothing_is_forked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The driver is then a new process, which starts a little later."""
    monkeypatch.setattr(forked, "_TASKS", "/there-is-no-list")
    assert not may_fork()


def test_a_process_with_threads_is_not_forked() -> None:
    import threading

    gate = threading.Event()
    waiting = threading.Thread(target=gate.wait)
    waiting.start()
    try:
        assert not may_fork()
    finally:
        gate.set()
        waiting.join()
