"""When a run is drawn: not more often than people look, always where it rests, never half."""

import json
import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.machine.state import Decision, Run, RunState, Standing
from porch.model import protocol as p
from porch.model.definition import Definition
from porch.run.engine.pictures import PICTURE_EVERY_S, RunPictures
from porch.show import status_yaml
from porch.store import run_rows
from porch.store.journal import Journal
from porch.system.clock import Clock
from porch.testing import kill_python_at
from tests.torture import choose_some

AT = "2026-01-19T10:15:00.000Z"
GATE = p.Human("gate", "go", "Go on?", (p.Option("approved", "goes on"),))
STATES = (
    p.State("work", "work", p.Agent("builder"), title="Work"),
    p.State("gate", "work", GATE, title="Gate"),
)
PROTOCOL = p.Protocol("p", p.Target("work"), {state.name: state for state in STATES}, ())
STANDING = Standing("work#1", "", "work", "", 1, AT)
ASKED = Standing("gate#1", "", "gate", "", 1, AT)


class Desk:
    """A run whose journal, clock and pictures are moved by hand."""

    def __init__(self, root: Path):
        self.root = root
        self.at = 1000.0
        self.edited: list[str] = []
        self.journal, _ = Journal.open(str(root / "run/journal.jsonl"))
        clock = Clock(lambda: self.at)
        self.pictures = RunPictures(str(root), str(root / "run"), self.journal, clock)
        self.pictures.on_edited = self.edited.append
        run = Run(name="0001-x", id="0001", title="x", protocol="p", started_at=AT)
        self.state = RunState(run=run, at=AT, positions={"work#1": STANDING})
        self.definition = Definition(PROTOCOL)

    def record(self, **changes: object) -> None:
        self.append(**changes)
        self.pictures.draw(self.definition, self.state)

    def append(self, **changes: object) -> None:
        """As far as somebody comes who is killed before drawing."""
        seq = self.state.seq + 1
        state = replace(self.state, seq=seq, **changes)
        announce = partial(self.pictures.announce, self.definition, state)
        self.journal.append(seq, {"fact": {}}, announce)
        self.state = state

    def listed(self) -> int | None:
        """The record that a list shows without reading the journal."""
        ((_, row),) = run_rows.covering_rows(str(self.root), ["run"], "decisions")
        return row and int(row["seq"])

    @property
    def status(self) -> Path:
        return self.root / "run/status.yaml"

    def drawn(self) -> tuple[int, int, int]:
        """The record that each of the three shows."""
        signed = status_yaml.parse_signature(self.status.read_text())
        assert signed is not None
        assert signed[1], "it is not as we wrote it"
        files = [self.root / "run" / name for name in ("picture.json", run_rows.FILE)]
        return (signed[0], *(json.loads(file.read_bytes())["seq"] for file in files))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(tmp_path)
    yield found
    found.pictures.close()
    found.journal.close()


def test_a_busy_run_is_drawn_at_most_four_times_a_second(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "thread_time", float)
    seen = set()
    for _ in range(200):
        desk.record()
        seen.add(desk.drawn())
        desk.at += 0.01
    assert len(seen) <= 2 / PICTURE_EVERY_S + 1
    assert len(seen) >= 2 / PICTURE_EVERY_S - 2
    assert desk.pictures.late
    desk.pictures.draw_now(desk.definition, desk.state)
    assert desk.drawn() == (200, 200, 200)
    assert not desk.pictures.late


def test_t7_a_picture_that_takes_long_is_drawn_less_often(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a large tree takes to draw must not be paid for at every second state."""
    used = iter(range(1000))
    monkeypatch.setattr(time, "thread_time", lambda: float(next(used)))
    seen = set()
    for _ in range(300):
        desk.record()
        seen.add(desk.drawn())
        desk.at += 0.5
    # Each takes a second of the processor, and all of them a fiftieth of the time.
    assert len(seen) == 300 * 0.5 / 50
    desk.pictures.draw_now(desk.definition, desk.state)
    assert desk.drawn() == (300, 300, 300)


RESTS: dict[str, dict[str, object]] = {
    "stopped": {"paused": True},
    "ended": {"outcome": "complete"},
    "asked": {
        "positions": {"gate#1": ASKED},
        "decisions": {"gate#1": Decision("gate#1", "gate", "go", AT, "", {})},
    },
}


@pytest.mark.parametrize("rest", RESTS.values(), ids=RESTS)
def test_where_a_run_rests_it_is_drawn_at_once_and_on_the_disk(
    desk: Desk, rest: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = watch_syncs(monkeypatch)
    desk.record()
    desk.record()
    assert desk.drawn() == (1, 1, 1)
    assert desk.root / "run/status.yaml.tmp" not in synced
    desk.record(**rest)
    assert desk.drawn() == (3, 3, 3)
    assert desk.root / "run/status.yaml.tmp" in synced


@pytest.mark.parametrize("rest", RESTS.values(), ids=RESTS)
def test_where_a_run_rests_lists_know_it_before_it_is_drawn(
    desk: Desk, rest: dict[str, object]
) -> None:
    desk.append()
    assert desk.listed() is None
    desk.append(**rest)
    assert desk.listed() == 2
    assert not (desk.root / "run" / run_rows.FILE).exists()


def test_lists_know_what_a_short_command_recorded_before_it_is_drawn(desk: Desk) -> None:
    desk.pictures.put_off()
    for seq in (1, 2, 3):
        desk.append()
        assert desk.listed() == seq
    desk.pictures.close()
    desk.append()
    assert desk.listed() == 4


def watch_syncs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    synced: list[Path] = []
    sync = os.fdatasync

    def seen(fd: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{fd}")))
        sync(fd)

    monkeypatch.setattr("os.fdatasync", seen)
    return synced


def test_a_clock_that_is_put_back_keeps_nobody_waiting(desk: Desk) -> None:
    desk.record()
    desk.at -= 3600
    desk.record()
    assert desk.drawn() == (2, 2, 2)


def test_who_reads_sees_a_whole_file_and_keeps_the_one_that_is_open(desk: Desk) -> None:
    desk.record()
    with open(desk.status, encoding="utf-8") as reader:
        begin = reader.read(10)
        for _ in range(5):
            desk.at += 1
            desk.record()
        assert status_yaml.parse_signature(begin + reader.read()) == (1, True)
    assert sorted(os.listdir(desk.root / "run")) == [
        "journal.jsonl",
        "picture.json",
        run_rows.FILE,
        "status.yaml",
    ]


def test_an_edit_under_a_runner_is_kept_aside_at_the_next_drawing(desk: Desk) -> None:
    desk.record()
    with open(desk.status, "a", encoding="utf-8") as file:
        file.write("mine: yes\n")
    desk.record()
    assert desk.edited == []
    desk.at += 1
    desk.record()
    assert desk.edited == ["run/status.edited-1.yaml"]
    assert (desk.root / desk.edited[0]).read_text().endswith("mine: yes\n")
    assert desk.drawn() == (3, 3, 3)


def test_what_a_kill_left_of_a_drawing_is_removed_by_the_next_one(desk: Desk) -> None:
    """Also if the last record is drawn already: this may be the last command of the run."""
    desk.record()
    assert desk.pictures.is_current(desk.state)
    left = desk.root / "run/status.yaml.tmp"
    left.touch()
    assert not desk.pictures.is_current(desk.state)
    desk.pictures.draw_now(desk.definition, desk.state)
    assert not left.exists()
    assert desk.pictures.is_current(desk.state)


def test_a_status_that_cannot_be_written_takes_nothing_else_with_it(desk: Desk) -> None:
    desk.record()
    desk.status.unlink()
    desk.status.mkdir()
    (desk.status / "something").touch()
    desk.at += 1
    with pytest.raises(Exception, match=r"status\.yaml"):
        desk.record()
    assert json.loads((desk.root / "run" / run_rows.FILE).read_bytes())["seq"] == 2


DRAW = """
import sys
from pathlib import Path
from tests.run.engine.test_pictures import Desk
desk = Desk(Path(sys.argv[1]))
desk.record()
for _ in range(3):
    desk.at += 1
    desk.record()
desk.record(paused=True)
"""
POINTS = [
    *(f"atomic.{point}:{nth}" for point in ("before-write", "after-write") for nth in (4, 5, 6)),
    *(f"atomic.{point}:{nth}" for point in ("before-rename", "after-rename") for nth in (4, 5, 6)),
    "atomic.after-sync",
    "atomic.after-directory-sync",
]


@pytest.mark.torture
@pytest.mark.parametrize("point", choose_some(POINTS, 3))
def test_a_kill_at_any_point_of_drawing_leaves_whole_files(tmp_path: Path, point: str) -> None:
    """Each file is the old one or the new one; how far behind it is, it says itself."""
    assert kill_python_at(point, DRAW, str(tmp_path)).returncode == -signal.SIGKILL
    run = tmp_path / "run"
    signed = status_yaml.parse_signature((run / "status.yaml").read_text())
    assert signed is not None
    assert signed[1]
    for name in ("picture.json", run_rows.FILE):
        assert json.loads((run / name).read_bytes())["seq"] in range(1, 6)
