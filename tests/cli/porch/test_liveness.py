"""Every view says whether somebody drives a run, and hints name one run only."""

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from porch.run.verbs import run_list
from porch.run.verbs.liveness import LiveRows
from porch.show import board
from porch.store import run_drivers
from porch.store.lock import RunLock
from porch.store.run_drivers import Pulse, RunDriver, find_driver, format_clock, parse_instant
from porch.store.run_names import quote_word, rename_in_commands, unique_word
from porch.store.where import find_project
from tests.cli.conftest import Desk

WORK = {"id": "work"}
GATED = {**WORK, "gate": {"name": "go", "type": "human"}}
SLOW = {"work": [{"hang": True}]}


@pytest.fixture
def killed(desk: Desk) -> Iterator[Desk]:
    """A run whose driver was killed in the middle of an agent's turn."""
    desk.protocol("p", WORK)
    script = desk.script(agents=SLOW)
    words = ("run", "p", "0001", "--title", "x", "--no-claude", "--script", script)
    driver = desk.start(*words)
    desk.wait_for_turn("work#1/agent/work/0", "0001-x")
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    yield desk
    desk.clear()


def test_r4_after_a_kill_every_view_says_that_nobody_drives_the_run(killed: Desk) -> None:
    assert "not running since" in killed.porch("status", "0001").out
    assert "porch resume 0001" in killed.porch("status", "0001").out
    assert "porch resume 0001 (not running" in killed.porch("status").out
    assert "0001-x: not running since" in killed.porch("pending").out
    told = killed.porch("explain", "0001").out
    assert "Not running since" in told
    assert "an agent works on it" not in told
    assert killed.porch("status", "--json").json["runs"][0]["driver"] is None
    assert killed.porch("status", "0001", "--json").json["driver"] is None


def test_r4_a_stopped_run_is_not_said_to_be_worked_on(killed: Desk) -> None:
    killed.porch("stop", "0001")
    told = killed.porch("explain", "0001").out
    assert "The run is stopped" in told
    assert "an agent works on it" not in told
    assert "not running" not in killed.porch("status", "0001").out


def test_r4_a_driven_run_names_its_driver(desk: Desk) -> None:
    desk.protocol("p", WORK)
    script = desk.script(agents=SLOW)
    words = ("run", "p", "0001", "--title", "x", "--no-claude", "--script", script)
    driver = desk.start(*words)
    desk.wait_for_turn("work#1/agent/work/0", "0001-x")
    assert f"porch run, pid {driver.pid}, since " in desk.porch("status", "0001").out
    assert desk.porch("status", "--json").json["runs"][0]["driver"]["pid"] == driver.pid
    assert "an agent works on it" in desk.porch("explain", "0001").out
    assert "nobody" not in desk.porch("pending").out
    desk.clear()


def test_r4_an_approval_says_who_goes_on(desk: Desk) -> None:
    desk.begin(GATED, {**WORK, "id": "next"}, code=3)
    assert "not running since" in desk.porch("pending").out
    told = desk.porch("approve", "0001", "go")
    assert "The run is not running. Start it again: porch resume 0001" in told.out


def test_r4_an_approval_of_a_driven_run_names_the_driver(desk: Desk) -> None:
    desk.protocol("p", GATED, {**WORK, "id": "next"})
    words = ("run", "p", "0001", "--title", "x", "--no-claude", "--wait")
    driver = desk.start(*words, "--script", desk.script(agents={"next": SLOW["work"]}))
    desk.wait_for(lambda: (desk.run_dir() / "picture.json").exists() and _asked(desk))
    told = desk.porch("approve", "0001", "go").out
    assert f"porch run, pid {driver.pid}, since " in told
    assert "The run continues" in told
    desk.clear()


def _asked(desk: Desk) -> bool:
    return bool(desk.porch("pending", "--json").json["decisions"])


def test_r4_the_last_decision_of_a_run_needs_nobody_to_go_on(desk: Desk) -> None:
    desk.begin(GATED, code=3)
    assert "porch resume" not in desk.porch("approve", "0001", "go").out


def test_r5_hints_name_the_run_where_two_have_one_id(desk: Desk) -> None:
    desk.begin(GATED, code=3)
    other = desk.root / ".git/porch/runs/tick_0001_more"
    shutil.copytree(desk.run_dir(), other)
    told = desk.porch("pending").out
    assert "porch approve 0001-x go" in told
    assert "porch approve tick_0001_more go" in told
    assert "porch approve 0001 go" not in told
    told = desk.porch("status", "0001-x").out
    assert "porch approve 0001-x go" in told
    assert "porch resume 0001-x" in told
    desk.porch("approve", "0001", "go", code=2)


def test_questions_are_printed_as_they_were_drawn_with_the_rows(desk: Desk) -> None:
    desk.begin(GATED, code=3)
    shutil.copytree(desk.run_dir(), desk.root / ".git/porch/runs/tick_0001_more")
    where = find_project(str(desk.root))
    drawn = run_list.every_row(where, "told").rows
    assert all("decisions" not in row for row in drawn.values())
    told = [text for _, _, text in LiveRows(where, drawn).told_decisions()]
    asked = LiveRows(where, run_list.every_row(where).rows).decisions()
    assert board.join_decisions(told, has_gate=True) == board.render_pending_decisions(asked)
    assert desk.porch("pending").out == board.join_decisions(told, has_gate=True)


def test_a_word_is_the_id_only_if_nobody_else_has_it() -> None:
    assert unique_word(["0001-x"], "0001-x", "0001") == "0001"
    assert unique_word(["0001-x", "tick_0001_y"], "0001-x", "0001") == "0001-x"
    assert unique_word(["größe"], "größe", "") == "'größe'"
    assert quote_word("it's") == "'it'\"'\"'s'"


def test_only_commands_are_renamed() -> None:
    text = "0001 waits: porch approve 0001 go; porch retry 0001, not porch log 0001-a"
    renamed = "0001 waits: porch approve 0001-x go; porch retry 0001-x, not porch log 0001-a"
    assert rename_in_commands(text, "0001", "0001-x") == renamed
    assert rename_in_commands(text, "0001", "0001") == text


def test_the_sign_of_life_of_a_driver_moves_the_time_since_when_nobody_drives(
    tmp_path: Path,
) -> None:
    with RunLock(str(tmp_path / "lock")) as lock:
        assert lock.acquire("porch run", 1)
        os.utime(tmp_path / "lock", (1, 1))
        Pulse(str(tmp_path)).beat()
        assert (tmp_path / "lock").stat().st_mtime == 1
        Pulse(str(tmp_path), every_s=0).beat()
        assert (tmp_path / "lock").stat().st_mtime > 1
        holder = find_driver(str(tmp_path)).holder
        assert holder is not None
        assert holder.pid == os.getpid()
    Pulse(str(tmp_path / "gone"), every_s=0).beat()
    assert find_driver(str(tmp_path)).holder is None


def test_times_are_said_as_people_here_read_them(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    assert format_clock(now) == time.strftime("%H:%M", time.localtime(now))
    assert format_clock(now - 200_000).count("-") == 2
    assert format_clock(0) == "an unknown time"
    assert parse_instant("1970-01-02T00:00:00Z") == 86400
    assert parse_instant("nonsense") == 0
    told = run_drivers.describe_driver(RunDriver(None), "0001")
    assert told == "not running. Start it again: porch resume 0001"


def test_a_holder_that_has_not_signed_is_still_somebody(tmp_path: Path) -> None:
    with RunLock(str(tmp_path / "lock")) as lock:
        assert lock.acquire("porch run", 1)
        (tmp_path / "lock").write_text("")
        driver = find_driver(str(tmp_path))
        assert run_drivers.describe_driver(driver, "1").startswith("an unknown process, since")
        assert json.dumps(run_drivers.make_driver_data(driver))
