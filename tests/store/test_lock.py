"""One writer a run: contention, killed holders, and what the second one is told."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from porch.errors import OutsideError
from porch.store import journal, lock
from porch.store.lock import LockHolder, RunLock
from porch.system import crash_points
from porch.testing import kill_python_at, unmeasured

HOLD = """
import sys, time
from porch.store.lock import RunLock
assert RunLock.acquire(held := RunLock(sys.argv[1]), "porch run", 0)
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "0073" / "lock")


@contextmanager
def another_holder(path: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOLD, path]
    with subprocess.Popen(command, env=unmeasured(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.kill()


def is_free(path: str) -> bool:
    with RunLock(path) as mine:
        return mine.acquire("test", 0)


@pytest.mark.req("P-154")
def test_a_held_lock_keeps_others_out_until_it_is_given_back(path: str) -> None:
    with RunLock(path) as mine:
        assert mine.acquire("porch run", 0)
        assert not is_free(path)
        mine.release()
        mine.release()
        assert is_free(path)
        assert mine.acquire("porch run", 0)
    assert is_free(path)


def test_the_holder_is_known_by_pid_host_boot_time_and_command(path: str) -> None:
    with another_holder(path) as process:
        found = lock.read_lock_holder(path)
        assert found is not None
        assert (found.pid, found.what) == (process.pid, "porch run")
        assert (found.host, found.boot) == (os.uname().nodename, lock.read_boot_id())
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found.since)


def test_the_lock_of_a_killed_holder_is_free_at_once_and_its_name_is_forgotten(path: str) -> None:
    with another_holder(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert str(process.pid).encode() in Path(path).read_bytes()
        assert lock.read_lock_holder(path) is None
        assert is_free(path)


def test_nobody_holds_a_lock_that_was_never_taken_or_was_given_back(path: str) -> None:
    assert lock.read_lock_holder(path) is None
    assert is_free(path)
    assert lock.read_lock_holder(path) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]\n", b'{"pid":"x"}\n', b"\xff\n", b'{"pid":1}'])
def test_a_holder_that_left_no_readable_name_is_still_a_holder(path: str, content: bytes) -> None:
    with RunLock(path) as mine:
        assert mine.acquire("porch run", 0)
        Path(path).write_bytes(content)
        found = lock.read_lock_holder(path)
    assert found is not None
    assert found.pid == 0
    assert "by an unknown process" in str(lock.run_busy_error("0073", found))


def test_a_longer_name_of_an_earlier_holder_does_not_shine_through(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(b'{"pid":' + b"1" * 3000 + b"}\n")
    with RunLock(path) as mine:
        assert mine.acquire("x", 0)
        assert Path(path).read_bytes().count(b"\n") == 1
        found = lock.read_lock_holder(path)
    assert found is not None
    assert found.pid == os.getpid()


def test_a_waiting_process_gets_the_lock_when_it_is_given_back(path: str) -> None:
    with another_holder(path) as process, RunLock(path) as mine:
        started = time.monotonic()
        assert not mine.acquire("porch run", 0.3)
        assert time.monotonic() - started >= 0.3
        process.kill()
        assert mine.acquire("porch run", 10)


def test_those_who_ask_for_the_holder_do_not_make_a_taker_give_up(path: str) -> None:
    asking = """
import sys, time
from porch.store import lock
end = time.monotonic() + 0.7
print("asking", flush=True)
while time.monotonic() < end:
    lock.read_lock_holder(sys.argv[1])
"""
    assert is_free(path)
    command = [sys.executable, "-c", asking, path]
    with subprocess.Popen(command, env=unmeasured(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        taken = [is_free(path) for _ in range(100)]
    assert all(taken)


def test_a_child_process_does_not_inherit_the_lock(path: str) -> None:
    with RunLock(path) as mine:
        assert mine.acquire("porch run", 0)
        with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
            mine.release()
            free = is_free(path)
            child.kill()
    assert free


def test_one_object_takes_its_lock_once(path: str) -> None:
    with RunLock(path) as mine:
        assert mine.acquire("porch run", 0)
        with pytest.raises(RuntimeError):
            mine.acquire("porch run", 0)


def test_a_lock_on_a_file_that_is_no_longer_there_is_none(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as file:
        assert lock._is_still_at(file.fileno(), path)
        os.unlink(path)
        assert not lock._is_still_at(file.fileno(), path)
        Path(path).touch()
        assert not lock._is_still_at(file.fileno(), path)


def test_a_lock_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "0073").write_text("a file")
    with pytest.raises(OutsideError, match="0073/lock"):
        RunLock(str(tmp_path / "0073" / "lock")).acquire("porch run", 0)
    assert lock.read_lock_holder(str(tmp_path / "0073" / "lock")) is None


def test_a_full_disk_does_not_keep_the_lock_from_being_taken(path: str) -> None:
    script = """
import resource, sys
from porch.store import lock
held = lock.RunLock(sys.argv[1])
lock.atomic.ensure_directory(sys.argv[1].rpartition("/")[0])
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(held.acquire("porch run", 0), lock.read_lock_holder(sys.argv[1]).pid)
"""
    command = [sys.executable, "-c", script, path]
    done = subprocess.run(command, env=unmeasured(), capture_output=True, check=False)
    assert done.stdout == b"True 0\n"


def test_a_file_system_without_locks_is_an_outside_failure(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, kind: int) -> None:
        raise OSError(37, "No locks available")

    assert is_free(path)
    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(OutsideError, match="could not lock"):
        RunLock(path).acquire("porch run", 0)
    assert lock.read_lock_holder(path) is None


@pytest.mark.parametrize("point", [p for p in crash_points.POINTS if p.startswith("lock.")])
def test_a_taker_killed_at_any_point_leaves_the_lock_free(path: str, point: str) -> None:
    assert kill_python_at(point, HOLD, path).returncode == -signal.SIGKILL
    assert is_free(path)


def test_the_second_runner_is_told_who_and_since_when() -> None:
    now = time.gmtime()
    by = LockHolder(
        4121, lock.host_name(), "b", time.strftime("%Y-%m-%dT%H:%M:%SZ", now), "porch run"
    )
    (finding,) = lock.run_busy_error("0073", by).findings
    assert re.fullmatch(
        r"run 0073 is already running \(porch run, pid 4121, since \d\d:\d\d\)", finding.message
    )
    assert finding.code == "run-busy"
    assert lock.run_busy_error("0073", by).exit_code == 4


def test_since_is_told_in_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-5")
    time.tzset()
    try:
        by = LockHolder(4121, "elsewhere", "b", "2024-02-29T10:04:00Z", "porch run")
        text = str(lock.run_busy_error("0073", by))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "(porch run, pid 4121 on elsewhere, since 2024-02-29 15:04)" in text


def test_a_time_that_is_none_is_told_as_it_is() -> None:
    by = LockHolder(4121, lock.host_name(), "b", "yesterday", "porch run")
    assert "since yesterday" in str(lock.run_busy_error("0073", by))
    assert "by an unknown process" in str(lock.run_busy_error("0073", None))


@pytest.mark.parametrize("said", ["echo 5E55-10N", "exit 1", None])
def test_a_boot_has_an_id_on_other_systems_too(
    said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On macOS sysctl knows it; elsewhere the time of the start has to do."""
    monkeypatch.setattr(lock, "_BOOT_ID", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(tmp_path))
    if said:
        (tmp_path / "sysctl").write_text(f"#!/bin/sh\n{said}\n")
        (tmp_path / "sysctl").chmod(0o755)
    found = {lock.read_boot_id.__wrapped__() for _ in range(2)}
    assert found == {"5E55-10N" if said == "echo 5E55-10N" else f"{psutil.boot_time():.0f}"}


def test_a_boot_has_an_id_that_stays() -> None:
    assert lock.read_boot_id()
    again = "from porch.store import lock; print(lock.read_boot_id())"
    assert subprocess.check_output([sys.executable, "-c", again], text=True).strip() == (
        lock.read_boot_id()
    )


MANY = """
import os, sys
from porch.store.journal import Journal
from porch.store.lock import RunLock
directory, processes, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def work(me):
    for turn in range(rounds):
        with RunLock(directory + "/lock") as lock:
            assert lock.acquire("test", 60)
            opened, found = Journal.open(directory + "/journal.jsonl")
            opened.append(found.seq + 1, {"fact": [me, turn]})
            opened.close()
children = []
for me in range(processes):
    child = os.fork()
    if child == 0:
        try:
            work(me)
            os._exit(0)
        finally:
            os._exit(1)
    children.append(child)
sys.exit(sum(os.waitpid(child, 0)[1] != 0 for child in children))
"""


@pytest.mark.req("P-200")
def test_32_processes_append_through_the_lock_and_nothing_is_lost(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MANY, str(tmp_path), "32", "3"]
    assert subprocess.run(command, env=unmeasured(), check=False).returncode == 0
    facts: list[Any] = [
        record["fact"] for record in journal.scan_journal(str(tmp_path / "journal.jsonl")).records
    ]
    assert sorted(facts) == [[me, turn] for me in range(32) for turn in range(3)]
