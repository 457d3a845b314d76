"""Processes are looked at in two ways, and both tell the same: in /proc, and through psutil."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from porch.system import processes

NOWHERE = "/there-is-no-such-directory"


def switch_off_proc(patch: pytest.MonkeyPatch) -> None:
    """As on a system that has none; psutil has ways of its own."""
    patch.setattr(processes, "_PROC", NOWHERE)


@pytest.fixture(params=["proc", "psutil"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "psutil":
        switch_off_proc(monkeypatch)
    return str(request.param)


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "60"], cwd="/", env={"ONE": "a=b", "TWO": ""}) as process:
        yield process
        process.kill()


def describe(stat: processes.ProcessStat | None) -> tuple[object, ...] | None:
    """All of it that does not depend on the way, nor on the moment."""
    if stat is None:
        return None
    return (stat.parent, stat.group, stat.is_dead, stat.is_halted, stat.has_terminal)


def test_both_ways_tell_the_same_of_a_process(
    child: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    pid, told = child.pid, []
    for _ in range(2):
        told.append(
            (
                pid in processes.list_pids(),
                0 in processes.list_pids(),
                describe(processes.read_stat(pid)),
                describe(processes.read_stat(os.getpid())),
                processes.read_environ(pid),
                processes.read_name(pid),
                processes.read_words(pid),
                processes.read_directory(pid),
            )
        )
        switch_off_proc(monkeypatch)
    assert told[0] == told[1]
    assert told[0][:3] == (True, False, (os.getpid(), os.getpgrp(), False, False, False))
    assert told[0][4:] == (b"ONE=a=b\0TWO=\0", "sleep", ["sleep", "60"], "/")


@pytest.mark.usefixtures("way")
def test_when_a_process_began_stays_and_is_another_for_another(
    child: "subprocess.Popen[bytes]",
) -> None:
    first, second, mine = map(processes.read_stat, (child.pid, child.pid, os.getppid()))
    assert first
    assert second
    assert mine
    assert first.began == second.began != mine.began


@pytest.mark.usefixtures("way")
def test_work_is_counted_with_that_of_children_that_ended() -> None:
    code = "import os, subprocess, sys; subprocess.run([sys.executable, '-c', "
    code += "'[i for i in range(3_000_000)]']); print(flush=True); input()"
    words = [sys.executable, "-S", "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe) as worker:
        assert worker.stdout
        worker.stdout.readline()
        seconds = processes.read_cpu_seconds(worker.pid)
        worker.communicate(b"\n")
    assert seconds > 0.05
    assert processes.read_cpu_seconds(worker.pid) == 0


@pytest.mark.usefixtures("way")
def test_a_halted_process_is_suspended_until_it_goes_on(child: "subprocess.Popen[bytes]") -> None:
    for number, is_halted in ((signal.SIGSTOP, True), (signal.SIGCONT, False)):
        child.send_signal(number)
        end = time.monotonic() + 60
        while processes.is_suspended(child.pid) is not is_halted:
            assert time.monotonic() < end
            time.sleep(0.002)
    assert not processes.is_suspended(0)


@pytest.mark.usefixtures("way")
def test_a_zombie_is_dead_and_whoever_is_gone_is_nobody(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    end = time.monotonic() + 60
    while not ((stat := processes.read_stat(child.pid)) and stat.is_dead):
        assert time.monotonic() < end
        time.sleep(0.002)
    child.wait()
    assert processes.read_stat(child.pid) is None
    assert processes.find_session(child.pid) == 0
    with pytest.raises(OSError, match=str(child.pid)):
        processes.read_environ(child.pid)
    assert not processes.read_name(child.pid)
    assert processes.read_words(child.pid) == []
    assert processes.read_directory(child.pid) == ""


def test_what_another_user_does_not_show_is_refused_as_by_the_system(
    child: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """macOS tells of a process of another user who its parent is, and not what it has used."""

    def refuse(*_: object) -> None:
        raise psutil.AccessDenied(child.pid)

    def refuse_group(_: int) -> int:
        raise PermissionError

    switch_off_proc(monkeypatch)
    for name in ("environ", "cpu_times", "cwd", "cmdline"):
        monkeypatch.setattr(f"psutil._psplatform.Process.{name}", refuse)
    monkeypatch.setattr(os, "getpgid", refuse_group)
    with pytest.raises(PermissionError, match="belongs to another user"):
        processes.read_environ(child.pid)
    stat = processes.read_stat(child.pid)
    assert stat
    assert (stat.parent, stat.group) == (os.getpid(), 0)
    assert processes.read_cpu_seconds(child.pid) == 0
    assert (processes.read_words(child.pid), processes.read_directory(child.pid)) == ([], "")


def test_psutil_is_not_loaded_where_there_is_a_proc() -> None:
    """It takes longer to load than Python itself."""
    code = "import sys, os; from porch.system import process_marks as m; m.has_marked_ancestor(); "
    code += "m.read_process_table(); m.processes.is_suspended(1); print('psutil' in sys.modules)"
    code = code.replace("m.processes.", "__import__('porch.system.processes').system.processes.")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
