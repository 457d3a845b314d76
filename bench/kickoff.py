"""Kicking a run off, until its worktree is ready and its driver runs, against bare git.

Allowed is twice `git worktree add`, one start of Python and the set-up hook. What a worktree costs
is its files; the rest of a kickoff costs the same in a small project and in a large one.

Each size has two rows. One is the CPU of all processes that take part, so that a busy machine
changes nothing, and of the driver until it has said that it drives: from then on it works for the
run. The other is the clock, which is what a person waits for: from the start of `af` to its end,
against the same words by hand, one after the other. That one needs a machine with nothing else to
do, and each begins when the one before has left the disk and the processor alone.
"""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from bench.cold import _environment, _installed
from bench.lists import Spent
from bench.measure import Result, of_times
from porch.fleet.drivers.leaving import wait_until_gone
from porch.run.settings import load_settings

SIZES = (10_000, 20_000, 40_000)
ROUNDS = 7
# The command as its script runs it; the driver, a fork of it, tells what it has used when it tells
# `af` that its run is there.
TOLD = """
import os, sys
file, parent, write = sys.argv.pop(1), os.getpid(), os.write
def write_and_report(number, data):
    done = write(number, data)
    if os.getpid() != parent and b"worktrees/" in data:
        import resource
        both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        used = [resource.getrusage(each) for each in both]
        with open(file, "w") as report:
            report.write(str(sum(each.ru_utime + each.ru_stime for each in used)))
    return done
os.write = write_and_report
from porch.cli import scripts
sys.exit(scripts.af())
"""
HOOK = "cat src/0/*.txt > made.txt"
PROTOCOL = {"name": "p", "phases": [{"id": "one"}]}
_WHO = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")


@dataclass(frozen=True, slots=True)
class _Cost:
    cpu_s: float
    clock_s: float


def results(place: Path) -> list[Result]:
    python, _ = _installed(place)
    return [row for size in SIZES for row in _measure_size(place, python, size)]


def _measure_size(place: Path, python: Path, size: int) -> list[Result]:
    yard = _Yard(_make_repository(place / f"repository-{size}", size), python)
    try:
        pairs = [yard.take_turns(number) for number in range(ROUNDS)]
    finally:
        yard.clear()
    mine, bare = (
        statistics.median(each.cpu_s for each in side) for side in zip(*pairs, strict=True)
    )
    name = f"af kickoff, {size:,} files / git worktree add twice, Python, hook"
    told = f"{mine * 1000:.0f} ms", f"{bare * 1000:.0f} ms"
    by_clock = [(one.clock_s, other.clock_s) for one, other in pairs]
    return [
        Result(name, round(mine / bare, 2), 1.0, "times", *told, ROUNDS),
        of_times(f"{name}, by the clock", 1.0, by_clock),
    ]


class _Yard:
    """One repository in which kickoffs and bare worktrees take turns."""

    def __init__(self, root: Path, python: Path):
        self._root = root
        self._python = python
        self._report = root.with_name(f"{root.name}-told")
        self._number = count(1)
        (asking,) = load_settings(str(root)).requests
        self._trust = ["--trust", asking.digest]
        self._pids: list[int] = []

    def take_turns(self, number: int) -> tuple[_Cost, _Cost]:
        """A kickoff and the same by hand; which goes first changes."""
        if number % 2:
            bare = self.do_by_hand()
            return self.kick_off(), bare
        return self.kick_off(), self.do_by_hand()

    def kick_off(self) -> _Cost:
        """What `af` took, and of the CPU what its driver took until it said that it drives."""
        words = ["kickoff", f"{next(self._number):04}", "--title", "x", "--protocol", "p"]
        words += ["--no-claude", "--script", "script.json", "--json", *self._trust]
        command = [str(self._python), "-c", TOLD, str(self._report), *words]
        self._wait_for_quiet()
        began = time.perf_counter()
        with subprocess.Popen(
            command, cwd=self._root, env=_environment(), stdout=subprocess.PIPE
        ) as process:
            told = process.stdout.read() if process.stdout else b""
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        clock_s = time.perf_counter() - began
        if process.returncode:
            raise RuntimeError(f"af kickoff ended with {process.returncode}: {told.decode()}")
        self._pids.append(int(json.loads(told)["pid"]))
        return _Cost(used.ru_utime + used.ru_stime + self._read_report(), clock_s)

    def _read_report(self) -> float:
        """What the driver had used when it said that it drives; each report is read once."""
        _wait_for(self._report)
        used = float(self._report.read_text())
        self._report.unlink()
        return used

    def do_by_hand(self) -> _Cost:
        name = f"bare-{next(self._number)}"
        add = ["git", "worktree", "add", "-q", "-b"]
        twice = [[*add, each, f"worktrees/{each}"] for each in (name, f"{name}-again")]
        self._wait_for_quiet()
        began = time.perf_counter()
        spent = [Spent(words, self._root) for words in twice]
        spent.append(Spent([str(self._python), "-I", "-c", "pass"], self._root))
        spent.append(Spent(["sh", "-c", HOOK], self._root / "worktrees" / name))
        clock_s = time.perf_counter() - began
        return _Cost(sum(each.cpu_s for each in spent), clock_s)

    def _wait_for_quiet(self) -> None:
        """Until nothing is left to be written, and the last driver has no more to do than to wait.

        A driver begins its work when it has told, and whoever comes next would wait for it.
        """
        os.sync()
        for pid in self._pids[-1:]:
            before, now = -1.0, _cpu_of(pid)
            while now > before:
                time.sleep(0.2)
                before, now = now, _cpu_of(pid)

    def clear(self) -> None:
        """The drivers stay with their agents, which wait; nobody may outlive the measurement."""
        for pid in self._pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in self._pids:
            wait_until_gone(pid, 30)


def _cpu_of(pid: int) -> float:
    """In ticks; a driver waits for its agent, and takes a few of them in a second."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return float(user) + float(system)


def _wait_for(path: Path) -> None:
    """The driver writes it just after `af` was told."""
    deadline = time.monotonic() + 30
    while not (path.exists() and path.read_text()):
        if time.monotonic() > deadline:
            raise RuntimeError("the driver did not tell what it has used")
        time.sleep(0.01)


def _make_repository(root: Path, size: int) -> Path:
    for number in range(size):
        path = root / "src" / str(number // 100) / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n" * 20)
    (root / "codev/protocols/p").mkdir(parents=True)
    (root / "codev/protocols/p/protocol.json").write_text(json.dumps(PROTOCOL))
    settings = f"[af]\nmax_runs = 1\n\n[worktree]\nsetup = [{json.dumps(HOOK)}]\n"
    (root / "codev/config.toml").write_text(settings)
    (root / "script.json").write_text(json.dumps({"agents": {"one": [{"hang": True}]}}))
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*_WHO, "commit", "-qm", "begin")):
        subprocess.run(["git", *words], cwd=root, env=_environment(), check=True)
    return root
