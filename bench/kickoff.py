"""Kicking a run off, until its worktree is ready and its driver runs, against bare git.

Allowed is twice `git worktree add`, one start of Python and the set-up hook. The project has as
many files as a middling one, because that is what a worktree costs. CPU of all processes that take
part, so that a busy machine changes nothing.
"""

import contextlib
import json
import os
import signal
import statistics
import subprocess
from itertools import count
from pathlib import Path

from bench.cold import _environment, _installed
from bench.lists import Spent
from bench.measure import Result
from porch.fleet.drivers.leaving import wait_until_gone

FILES = 10_000
ROUNDS = 5
HOOK = "cat src/0/*.txt > made.txt"
PROTOCOL = {"name": "p", "phases": [{"id": "one"}]}
_WHO = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
_TICKS = os.sysconf("SC_CLK_TCK")


def results(place: Path) -> list[Result]:
    python, porch = _installed(place)
    yard = _Yard(_make_repository(place / "repository"), python, porch.with_name("af"))
    try:
        pairs = [(yard.kick_off(), yard.do_by_hand()) for _ in range(ROUNDS)]
    finally:
        yard.clear()
    mine, bare = (statistics.median(each) for each in zip(*pairs, strict=True))
    name = f"af kickoff, {FILES:,} files / git worktree add twice, Python, hook"
    told = f"{mine * 1000:.0f} ms", f"{bare * 1000:.0f} ms"
    return [Result(name, round(mine / bare, 2), 1.0, "times", *told, ROUNDS)]


class _Yard:
    """One repository in which kickoffs and bare worktrees take turns."""

    def __init__(self, root: Path, python: Path, af: Path):
        self._root = root
        self._python = python
        self._af = af
        self._number = count(1)
        self._pids: list[int] = []

    def kick_off(self) -> float:
        """CPU seconds of `af` and of the driver until it said that it drives."""
        words = ["kickoff", f"{next(self._number):04}", "--title", "x", "--protocol", "p"]
        words += ["--no-claude", "--script", "script.json", "--json"]
        with subprocess.Popen(
            [str(self._af), *words], cwd=self._root, env=_environment(), stdout=subprocess.PIPE
        ) as process:
            told = process.stdout.read() if process.stdout else b""
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"af kickoff ended with {process.returncode}: {told.decode()}")
        pid = int(json.loads(told)["pid"])
        self._pids.append(pid)
        return used.ru_utime + used.ru_stime + _cpu_so_far(pid)

    def do_by_hand(self) -> float:
        name = f"bare-{next(self._number)}"
        add = ["git", "worktree", "add", "-q", "-b"]
        twice = [[*add, each, f"worktrees/{each}"] for each in (name, f"{name}-again")]
        spent = [Spent(words, self._root) for words in twice]
        spent.append(Spent([str(self._python), "-I", "-c", "pass"], self._root))
        spent.append(Spent(["sh", "-c", HOOK], self._root / "worktrees" / name))
        return sum(each.cpu_s for each in spent)

    def clear(self) -> None:
        """The drivers stay with their agents, which wait; nobody may outlive the measurement."""
        for pid in self._pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in self._pids:
            wait_until_gone(pid, 30)


def _cpu_so_far(pid: int) -> float:
    """Of a process that goes on, with those of its children that have ended."""
    told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, told[11:15])) / _TICKS


def _make_repository(root: Path) -> Path:
    for number in range(FILES):
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
