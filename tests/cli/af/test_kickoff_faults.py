"""Kickoffs in a bad world: killed anywhere, refused, without room; nothing half made is left."""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from porch.fleet.drivers.start import StartingDriver, start_driver
from porch.run.engine.run_places import mark_of
from porch.run.settings import load_settings
from porch.store import where as places
from porch.store.worktree_records import list_records
from porch.system.process_marks import list_marked_processes
from tests import commands
from tests.cli.af.conftest import Farm

SETTINGS = '[agent]\nback_off = 0.01\n\n[worktree]\nsetup = ["echo ready > made.txt"]\n'
AF = (sys.executable, "-c", "from porch.cli.dispatch import af; raise SystemExit(af())")
WORDS = ("kickoff", "0001", "--title", "x", "--protocol", "p", "--no-claude")
# What a kickoff passes until its run is there and driven; journals are tried by other tests too.
POINTS = (
    "atomic.before-write",
    "atomic.after-write",
    "atomic.after-sync",
    "atomic.before-rename",
    "atomic.after-rename",
    "atomic.after-directory-sync",
    "worktree.after-record",
    "worktree.after-add",
    "worktree.after-placed",
    "worktree.after-setup",
    "worktree.after-ready",
    "lock.after-take",
    "lock.after-sign",
    "journal.after-create",
    "payload.before-write",
    "payload.after-rename",
    "journal.before-write",
    "journal.after-write",
    "journal.after-sync",
    "journal.before-write:2",
    "journal.after-write:2",
    "journal.after-sync:2",
    "takeover.before-reap",
    "takeover.after-reap",
)


def _choose_points() -> tuple[str, ...]:
    """All in full; else the borders of what can be left, and some that vary with their number."""
    if os.environ.get("PORCH_TORTURE") == "full":
        return POINTS
    return ("worktree.after-add", "journal.after-sync:2", random.Random(len(POINTS)).choice(POINTS))


@pytest.fixture
def busy(farm: Farm) -> Farm:
    farm.desk.write("codev/config.toml", SETTINGS)
    return farm


def _count_left(farm: Farm) -> tuple[int, int, int]:
    """Worktrees, branches of runs, and files of kickoffs that did not come to an end."""
    kickoffs = farm.desk.root / ".git/porch/kickoffs"
    return (
        farm.desk.git("worktree", "list").count("\n"),
        len(farm.desk.git("branch", "--list", "p_*").splitlines()),
        len(list(kickoffs.iterdir())) if kickoffs.is_dir() else 0,
    )


def _list_processes(farm: Farm, run: str = "0001-x") -> set[int]:
    where = places.find_project(str(farm.desk.root))
    return {each.pid for each in list_marked_processes(f"{mark_of(where, run)}:")}


@pytest.mark.torture
@pytest.mark.parametrize("point", _choose_points())
def test_a_driver_killed_anywhere_during_the_kickoff_is_taken_back_or_goes_on(
    busy: Farm, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setenv("PORCH_CRASH_AT", point)
    said = busy.af(*WORDS, code=6).out
    monkeypatch.delenv("PORCH_CRASH_AT")
    assert "ended by signal 9 before its run was there" in said
    has_begun = (busy.desk.run_dir() / "journal.jsonl").exists() and busy.desk.records()
    made = [*list_records(places.find_project(str(busy.desk.root)))]
    if not has_begun and not (made and made[0].is_ready):
        assert _count_left(busy) == (0, 0, 0), said
    shown = busy.af("status").out
    assert ("0001 " in shown) == bool(has_begun)
    busy.af(*WORDS, code=None)
    busy.wait_for_gate()
    assert _count_left(busy) == (1, 1, 0)
    assert len(busy.desk.facts("RunStarted")) == 1
    assert busy.driver(), "somebody drives it"
    place = Path(busy.af("open", "1").out.strip())
    assert (place / "made.txt").read_text() == "ready\n", "set up, and once"


@pytest.mark.parametrize("point", ["worktree.after-setup", "journal.after-sync:2"])
def test_if_nobody_is_left_to_tell_the_next_look_cleans_up_or_starts_the_driver_again(
    busy: Farm, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setenv("PORCH_CRASH_AT", point)
    _kick_off_and_die(busy)
    monkeypatch.delenv("PORCH_CRASH_AT")
    gone = "p_0001_x: its kickoff died before the run began"
    again = "0001-x: its driver was gone and was started again"
    told = gone if point.startswith("worktree") else again
    busy.desk.wait_for(lambda: told in busy.af("status").out)
    is_gone = told == gone
    assert _count_left(busy) == ((0, 0, 0) if is_gone else (1, 1, 0))
    assert bool(busy.driver()) != is_gone


@pytest.mark.parametrize("own", ["", "codev"])
def test_outside_git_a_kickoff_removes_no_directory_that_it_did_not_make(
    farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    here = tmp_path / "e1" / "shop"
    (here / own).mkdir(parents=True)
    monkeypatch.chdir(here)
    farm.af("kickoff", "x", code=2)
    assert here.is_dir()
    assert [each.name for each in here.iterdir()] == ([own] if own else []), "as it was"


def test_a_driver_goes_on_though_whoever_kicked_it_off_was_killed(busy: Farm) -> None:
    _kick_off_and_die(busy)
    busy.wait_for_gate()
    assert _count_left(busy) == (1, 1, 0)
    assert "porch started" in busy.af("logs", "1").out
    assert busy.group() == "waiting"


def _kick_off_and_die(farm: Farm) -> None:
    """`af` is gone as soon as it has started the driver."""
    where = places.find_project(str(farm.desk.root))
    words = ("run", "p", "0001", "--title", "x", "--worktree", "--no-claude")
    pid = os.fork()
    if pid == 0:
        try:
            start_driver(where, words, str(farm.desk.root))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def test_r4_after_a_kill_of_the_agent_and_of_the_driver_the_first_look_is_right(farm: Farm) -> None:
    tries = [{"hang": True}, {"hang": True}, {"say": "done"}]
    farm.kick_off("0001", "--script", farm.desk.script(agents={"one": [{"tries": tries}]}))
    first = _wait_for_agent(farm, set())
    os.kill(min(first), signal.SIGKILL)
    second = _wait_for_agent(farm, first)
    driver = farm.driver()
    os.kill(driver, signal.SIGKILL)
    # A thread of it may outlive the others by a moment, and with it the lock.
    farm.desk.wait_for(lambda: farm.driver() == 0)
    assert "0001-x: its driver was gone and was started again" in farm.af("status").out
    assert farm.driver() not in (0, driver)
    assert not second & _list_processes(farm), "what the dead driver left is ended first"
    farm.wait_for_gate()
    farm.af("stop", "1")
    assert not _list_processes(farm)
    assert farm.desk.entered() == ["one", "one:gate"], "nothing was lost, nothing done twice"


def test_ctrl_c_while_a_kickoff_waits_says_that_the_driver_goes_on(farm: Farm) -> None:
    wait = "until test -e ../../go; do sleep 0.05; done"
    farm.desk.write("codev/config.toml", f'[worktree]\nsetup = ["{wait}"]\n')
    words = ("kickoff", "0001", "--title", "x", "--protocol", "p", "--no-claude")
    typed = commands.start("af", words, farm.desk.root, os.environ)
    farm.desk.wait_for((farm.desk.root / "worktrees" / "p_0001_x").exists)
    typed.send_signal(signal.SIGINT)
    said = typed.communicate(timeout=90)[1]
    assert typed.returncode == 130
    assert "continues in the background" in said
    assert "af stop ID" in said
    farm.desk.write("go", "")
    farm.wait_for_gate()


def _wait_for_agent(farm: Farm, gone: set[int]) -> set[int]:
    """The processes of an agent that is at work, and was not before."""
    farm.desk.wait_for(lambda: _list_processes(farm) - gone)
    return _list_processes(farm) - gone


def test_a_full_disk_during_the_set_up_is_said_and_everything_taken_back(farm: Farm) -> None:
    farm.desk.write("codev/config.toml", '[worktree]\ncopy = ["large.env"]\n')
    farm.desk.write("large.env", "x" * 50_000)
    limit = (resource.RLIMIT_FSIZE, (20_000, 20_000))
    with subprocess.Popen(
        [*AF, *WORDS],
        cwd=farm.desk.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: resource.setrlimit(*limit),  # noqa: PLW1509 - we have no threads
    ) as full:
        said = full.communicate(timeout=90)[0]
    assert full.returncode == 6, said
    assert "error[disk-full]" in said
    assert "Traceback" not in said
    assert _count_left(farm) == (0, 0, 0)
    farm.kick_off()


def test_a_branch_that_exists_is_refused_and_doing_what_is_said_works(farm: Farm) -> None:
    farm.desk.git("branch", "p_0001_x")
    said = farm.kick_off(code=None)
    assert said.code
    assert "p_0001_x" in said.all
    assert _count_left(farm) == (0, 1, 0), "the branch is somebody's"
    farm.desk.git("branch", "-m", "p_0001_x", "mine")
    farm.kick_off()


def test_a_dirty_checkout_is_said_and_stays_as_it_is(farm: Farm) -> None:
    farm.desk.write("mine.txt", "not yet\n")
    before = farm.desk.git("status", "--porcelain")
    farm.kick_off()
    farm.wait_for_gate()
    assert "not committed" in farm.af("logs", "1").out
    assert farm.desk.git("status", "--porcelain") == before
    assert not (farm.desk.root / "worktrees/p_0001_x/mine.txt").exists()


@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_worktree_that_was_deleted_by_hand_is_there_again_when_the_run_goes_on(
    farm: Farm, is_stopped: bool
) -> None:
    agents = {"one": [{"write": {"work.txt": "1\n"}, "say": "done"}]}
    farm.kick_off("0001", "--script", farm.desk.script(agents=agents))
    farm.wait_for_gate()
    place = Path(farm.af("open", "1").out.strip())
    if is_stopped:
        farm.af("stop", "1")
    shutil.rmtree(place)
    if is_stopped:
        farm.af("resume", "1")
    farm.af("approve", "1", "go")
    farm.wait_for_end()
    assert farm.desk.entered()[-1] == "complete"
    assert (place / "work.txt").read_text() == "1\n"


class QuickDriver:
    """Has said why it cannot go on, and ended, before whoever started it looks again."""

    pid = 1

    def wait(self) -> int:
        return 4


def test_what_a_driver_says_before_anybody_looks_is_heard(tmp_path: Path) -> None:
    """It writes at the same place of the same open file as the one who started it."""
    log = tmp_path / "kickoff.log"
    log.write_text("of an earlier one\n")
    output = log.open("ab")
    before = output.tell()
    os.write(output.fileno(), b"error: there is no room\n")
    listen, tell = os.pipe()
    os.close(tell)
    started = StartingDriver(QuickDriver(), listen, output, before).wait()
    assert (started.code, started.said) == (4, "error: there is no room")


def test_a_kickoff_with_settings_that_nobody_trusts_makes_nothing(farm: Farm) -> None:
    """X2: neither does a driver that is started again."""
    (farm.desk.root / "codev/config.toml").write_text(SETTINGS)
    said = farm.af(*WORDS, code=2)
    (request,) = load_settings(str(farm.desk.root)).untrusted
    assert f"porch trust {request.digest}" in said.all
    assert _count_left(farm)[:2] == (0, 0)
    farm.af(*WORDS, "--trust", request.digest)
    farm.wait_for_gate("0001-x")
    farm.af("stop", "1")
    (farm.desk.root / "codev/config.toml").write_text(SETTINGS.replace("ready", "other"))
    assert "untrusted-settings" in farm.af("resume", "1", code=2).all


def test_an_answer_counts_also_if_its_driver_is_refused_because_of_settings(farm: Farm) -> None:
    farm.af(*WORDS)
    farm.wait_for_gate("0001-x")
    os.kill(farm.driver(), signal.SIGKILL)
    farm.desk.wait_for(lambda: farm.driver() == 0)
    (farm.desk.root / "codev/config.toml").write_text(SETTINGS)
    said = farm.af("approve", "1", code=2)
    assert said.out.startswith("go: approved")
    assert "untrusted-settings" in said.err
    assert [fact["wish"]["exit"] for fact in farm.desk.facts("WishTaken")][-1] == "approved"
