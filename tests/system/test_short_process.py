"""A short process is heard to its end, whatever it prints, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from porch.system import short_process
from porch.system.short_process import SlowProcessError, run_program

LARGE = 3_000_000


def sh(script: str, stdin: bytes = b"", timeout_s: float | None = 60) -> tuple[int, bytes, bytes]:
    done = run_program(("sh", "-c", script), os.environ, stdin, timeout_s)
    return done.returncode, done.out, done.err


@contextmanager
def same_descriptors() -> Iterator[None]:
    before = sorted(os.listdir("/proc/self/fd"))
    yield
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_what_it_prints_and_how_it_ends_is_told() -> None:
    with same_descriptors():
        assert sh("printf out; printf err >&2; exit 3") == (3, b"out", b"err")
        assert sh("kill -TERM $$")[0] == -signal.SIGTERM
        assert sh("printf '\\377\\n\\0'") == (0, b"\xff\n\0", b"")


def test_much_on_both_outputs_while_much_is_fed_stops_nobody() -> None:
    script = f"head -c {LARGE} /dev/zero >&2; cat; head -c {LARGE} /dev/zero >&2"
    fed = os.urandom(LARGE)
    with same_descriptors():
        assert sh(script, fed) == (0, fed, bytes(2 * LARGE))


def test_input_that_nobody_reads_is_dropped() -> None:
    with same_descriptors():
        assert sh("exec 0<&-; printf done", bytes(LARGE)) == (0, b"done", b"")
        assert sh("exit 1", bytes(LARGE)) == (1, b"", b"")


def test_input_is_fed_also_to_a_program_that_says_nothing_any_more(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    assert sh(f"exec >&- 2>&-; cat > '{path}'", bytes(LARGE)) == (0, b"", b"")
    assert path.stat().st_size == LARGE


def test_it_has_no_input_where_none_is_given() -> None:
    assert sh("cat; printf end") == (0, b"end", b"")


@pytest.mark.parametrize(
    "script",
    ["exec sleep 600", "exec >&- 2>&-; exec sleep 600", "cat >/dev/null; exec sleep 600"],
)
def test_one_that_takes_too_long_is_killed_and_gone(tmp_path: Path, script: str) -> None:
    began, number = time.monotonic(), tmp_path / "number"
    with same_descriptors(), pytest.raises(SlowProcessError):
        sh(f"echo $$ > '{number}'; {script}", b"x", 1)
    assert time.monotonic() - began < 60
    assert not os.path.exists(f"/proc/{int(number.read_text())}")


def test_a_signal_that_is_handled_interrupts_nothing() -> None:
    """Neither reading nor waiting gives up when somebody sends a signal meanwhile."""
    calls: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: calls.append(1))
    try:
        script = f"for n in 1 2 3 4 5; do kill -USR1 {os.getpid()}; sleep 0.01; done; printf end"
        assert sh(script) == (0, b"end", b"")
        assert calls
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_an_interrupt_ends_the_program_as_well(tmp_path: Path) -> None:
    number = tmp_path / "number"

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with same_descriptors(), pytest.raises(KeyboardInterrupt):
            # It begins with what it is fed, so by then it is waited for.
            sh(f"read x; echo $$ > '{number}'; kill -USR1 {os.getpid()}; exec sleep 600", b"x\n")
        assert not os.path.exists(f"/proc/{int(number.read_text())}")
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_program_that_is_missing_is_an_error_of_the_system() -> None:
    with same_descriptors(), pytest.raises(FileNotFoundError):
        run_program(("no-such-program-at-all",), os.environ)


@pytest.mark.parametrize("listed", [short_process._DESCRIPTORS, "/there-is-no-list"])
def test_it_inherits_nothing_but_its_three_pipes(
    listed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_process, "_DESCRIPTORS", listed)
    given, other = os.pipe()
    os.set_inheritable(other, True)
    try:
        assert sh(f"[ -e /proc/self/fd/{other} ] && echo there")[1] == b""
        assert sh("[ -e /proc/self/fd/2 ] && echo there")[1] == b"there\n"
    finally:
        os.close(given)
        os.close(other)


def test_signals_that_python_ignores_count_for_it() -> None:
    """`yes` into a pipe that nobody reads must die, not complain."""
    assert sh("yes | head -n 1") == (0, b"y\n", b"")
    ignored = int(sh("sed -n 's/^SigIgn:\\s*//p' /proc/self/status")[1], 16)
    assert not ignored & (1 << signal.SIGPIPE - 1)
    assert not ignored & (1 << signal.SIGXFSZ - 1)


def test_whoever_has_no_standard_descriptors_can_start_one() -> None:
    """The ends of the pipes then have the numbers that the program needs."""
    script = (
        "import os, sys\n"
        "tell = int(sys.argv[1])\n"
        "os.closerange(0, 3)\n"
        "from porch.system.short_process import run_program\n"
        "done = run_program(('sh', '-c', 'cat; printf err >&2'), os.environ, b'fed')\n"
        "os.write(tell, repr((done.returncode, done.out, done.err)).encode())\n"
    )
    told, tell = os.pipe()
    subprocess.run([sys.executable, "-c", script, str(tell)], pass_fds=(tell,), check=True)
    os.close(tell)
    with open(told, "rb") as file:
        assert file.read() == b"(0, b'fed', b'err')"


def test_several_threads_can_start_them_at_once() -> None:
    found: list[tuple[int, bytes, bytes]] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(sh("cat", b"%d" % n))) for n in range(8)
    ]
    with same_descriptors():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == [(0, b"%d" % n, b"") for n in range(8)]


def test_an_end_that_the_system_forgot_is_not_taken_for_a_good_one() -> None:
    """R0: commands reset this signal; where it is ignored all the same, nothing is claimed."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with pytest.raises((ChildProcessError, ProcessLookupError)):
            sh("exit 1")
    finally:
        signal.signal(signal.SIGCHLD, before)


WAITS = "n=0; until [ -e {0} ] || [ $n -gt 1200 ]; do sleep 0.05; n=$((n+1)); done; [ -e {0} ]"


def test_something_else_is_done_while_it_runs(tmp_path: Path) -> None:
    note, calls = tmp_path / "note", []

    def leave_note() -> None:
        calls.append("")
        note.touch()

    script = f"head -c {LARGE} /dev/zero; {WAITS.format(note)} && printf seen"
    with same_descriptors():
        done = run_program(("sh", "-c", script), os.environ, meanwhile=leave_note)
    assert (done.returncode, len(done.out), len(calls)) == (0, LARGE + 4, 1)


def test_it_does_not_outlive_what_went_wrong_meanwhile(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def fail() -> None:
        while not (note.exists() and note.read_text()):
            time.sleep(0.01)
        raise KeyboardInterrupt

    words = ("sh", "-c", f"echo $$ > {note}.new; mv {note}.new {note}; exec sleep 600")
    with same_descriptors(), pytest.raises(KeyboardInterrupt):
        run_program(words, os.environ, meanwhile=fail)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)
