"""Changes are told as soon as the system tells them, and seen in any case."""

import ctypes
import mmap
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from porch.plan.gates import file_events
from porch.plan.gates.file_events import DirectoryWatch, WatchKind

KINDS: tuple[WatchKind, ...] = ("inotify", "polling")
SAVINGS = {
    "written": "echo more >> gate.yaml",
    "replaced": "echo new > .new && mv .new gate.yaml",
    "created": "echo new > other.yaml",
    "removed": "rm gate.yaml",
    "moved away": "mv gate.yaml ../aside.yaml",
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    place = tmp_path / "user_feedback"
    place.mkdir()
    (place / "gate.yaml").write_text("done: false\n")
    return place


@pytest.fixture(autouse=True)
def no_descriptor_is_left() -> Iterator[None]:
    before = os.listdir("/dev/fd")
    yield
    assert len(os.listdir("/dev/fd")) == len(before)


def later(directory: Path, command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sh", "-c", f"sleep 0.1; {command}"], cwd=directory)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("saving", SAVINGS)
def test_what_another_process_does_is_told(
    directory: Path, kind: WatchKind, saving: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It must be the event, or the next look of polling; not the look that is for lost events.
    monkeypatch.setattr(file_events, "LOOK_S", 1000)
    with DirectoryWatch([str(directory)], kinds=(kind,)) as watching:
        assert watching.kind == kind
        assert not watching.wait(0)
        started = time.monotonic()
        with later(directory, SAVINGS[saving]):
            assert watching.wait(90)
            assert time.monotonic() - started < 90


def test_events_are_used_where_they_are_to_be_had(directory: Path) -> None:
    with DirectoryWatch([str(directory)]) as watching:
        assert watching.kind == "inotify"
    assert str(watching.kind) == "polling"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_told_when_the_time_is_over(directory: Path, kind: WatchKind) -> None:
    with DirectoryWatch([str(directory)], kinds=(kind,)) as watching:
        started = time.monotonic()
        assert not watching.wait(0.15)
        assert 0.15 <= time.monotonic() - started < 60
        (directory / "gate.yaml").read_text()
        assert not watching.wait(-1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_happens_between_two_waits_is_told_once(directory: Path, kind: WatchKind) -> None:
    with DirectoryWatch([str(directory)], kinds=(kind,)) as watching:
        for number in range(20):
            (directory / f"{number}.yaml").write_text("x")
        assert watching.wait(0)
        assert not watching.wait(0)


@pytest.mark.parametrize("kind", KINDS)
def test_several_directories_are_watched(directory: Path, tmp_path: Path, kind: WatchKind) -> None:
    other = tmp_path / "inbox"
    other.mkdir()
    with DirectoryWatch([str(directory), str(other)], kinds=(kind,)) as watching:
        for place in (other, directory):
            (place / "new").write_text("x")
            assert watching.wait(0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["removed", "moved"])
def test_a_directory_that_goes_away_and_comes_back_is_still_watched(
    directory: Path, tmp_path: Path, kind: WatchKind, way: str
) -> None:
    with DirectoryWatch([str(directory)], kinds=(kind,)) as watching:
        if way == "removed":
            shutil.rmtree(directory)
        else:
            directory.rename(tmp_path / "elsewhere")
        assert watching.wait(0)
        while watching.wait(0):
            pass
        assert watching.kind == "polling"
        directory.mkdir()
        assert watching.wait(0)
        assert not watching.wait(0)


def test_a_directory_that_is_not_there_yet_is_looked_for(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with DirectoryWatch([str(tmp_path), str(missing)]) as watching:
        assert watching.kind == "polling"
        missing.mkdir()
        assert watching.wait(0)


def test_more_events_than_the_queue_holds_are_one_change(directory: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 100_000:
        pytest.skip("the queue is too long to fill it here")
    with DirectoryWatch([str(directory)]) as watching:
        one, other = str(directory / "one"), str(directory / "other")
        os.close(os.open(one, os.O_CREAT | os.O_WRONLY))
        for _ in range(limit // 2 + 10):
            os.rename(one, other)
            one, other = other, one
        assert watching.wait(0)
        assert watching.kind == "polling"
        (directory / "gate.yaml").write_text("done: true\n")
        assert watching.wait(0)


def test_without_descriptors_it_goes_on_by_looking(directory: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    watching = DirectoryWatch([str(directory)])
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        watching.__enter__()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert watching.kind == "polling"
    assert watching.wait(0)
    assert not watching.wait(0)


def test_a_change_without_an_event_is_seen_by_looking(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_events, "LOOK_S", 0.2)
    # The system tells nothing of what is written through memory, as on a network file system.
    with (
        open(directory / "gate.yaml", "r+b") as file,
        mmap.mmap(file.fileno(), 0) as memory,
        DirectoryWatch([str(directory)], kinds=("inotify",)) as watching,
    ):
        memory[:4] = b"DONE"
        memory.flush()
        assert watching.wait(10)
        assert watching.kind == "inotify"


def test_a_file_that_goes_while_it_is_looked_at_is_gone(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lstat = os.lstat

    def too_late(path: str) -> os.stat_result:
        os.unlink(path)
        return lstat(path)

    with DirectoryWatch([str(directory)], kinds=("polling",)) as watching:
        monkeypatch.setattr(os, "lstat", too_late)
        assert watching.wait(0)
        assert not watching.wait(0)


class Everything:
    def __contains__(self, _: object) -> bool:
        return True


def test_far_file_systems_are_looked_at(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_events, "_NETWORK_FILE_SYSTEMS", Everything())
    with DirectoryWatch([str(directory)]) as watching:
        assert watching.kind == "polling"


@pytest.mark.parametrize("kind", KINDS)
def test_a_signal_ends_no_wait(directory: Path, kind: WatchKind) -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: came.append(number))
    try:
        with DirectoryWatch([str(directory)], kinds=(kind,)) as watching:
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
            started = time.monotonic()
            assert not watching.wait(0.3)
            assert time.monotonic() - started >= 0.3
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert came


def test_other_systems_have_no_inotify(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "sunos5")
    with DirectoryWatch([str(directory)]) as watching:
        assert watching.kind == "polling"


def test_a_c_library_without_the_call_has_no_events(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    with DirectoryWatch([str(directory)]) as watching:
        assert watching.kind == "polling"
