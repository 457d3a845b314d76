"""Commands that read what grows: lists of very many runs, logs of very long ones.

CPU of the process and of nothing else, in turn with the reference: what a list costs is seen
against `cat` of the files it reads, what a long log costs against a short one.
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from bench import story
from bench.cold import _environment, _installed
from bench.measure import Result
from porch.store import coming_row, run_rows

ROUNDS = 11
RECORDS = 60
STALE = 20
RUNS = (1_000, 10_000)
LOGS = (10_000, 100_000)
MOST_MB = 150.0


class Spent:
    """CPU seconds of one process that has ended."""

    def __init__(self, command: list[str], directory: Path):
        process = subprocess.Popen(
            command, cwd=directory, env=_environment(), stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command} ended with {process.returncode}")
        self.cpu_s = used.ru_utime + used.ru_stime


Call = Callable[[], "Spent | Together"]
# A process counts as at least as large as the one that started it, so a small one has to do that.
SMALL = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(used.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def _size_mb(command: list[str], directory: Path) -> float:
    words = [sys.executable, "-I", "-c", SMALL, *command]
    told = subprocess.check_output(words, cwd=directory, env=_environment(), text=True)
    return float(told)


def results(place: Path) -> list[Result]:
    _, porch = _installed(place)
    found: list[Result] = []
    for number in RUNS:
        found += _lists(place / f"runs-{number}", str(porch), number)
    return found + _logs(place / "logs", str(porch))


def _lists(root: Path, porch: str, number: int) -> list[Result]:
    runs = _many_runs(root, number)
    found = []
    for words in (["status"], ["status", "--json"], ["pending"], ["pending", "--hook"]):
        found += _against_cat(root, [porch, *words], runs, number)
    found.append(_fleet(root, [str(Path(porch).with_name("af")), "status"], runs, number))
    if number == RUNS[0]:
        found += _stale(root, [porch, "status"], number)
    return found


def _stale(root: Path, call: list[str], number: int) -> list[Result]:
    """Who should have drawn those runs was killed; and the same after a power cut.

    What was announced before the record is there after a kill. After a power cut it may be gone;
    then whoever looks first folds those runs and keeps what it found, and the next have it.
    """
    runs = root / ".git/porch/runs"
    for name in sorted(os.listdir(runs))[:STALE]:
        # The others are copies, whose snapshots are of the run that they were copied from.
        shutil.rmtree(runs / name)
        story.make_run(root, name, RECORDS, story.asks_a_person)
    fresh = _copy(root, root.with_name(f"{root.name}-fresh"))
    names = _make_stale(runs)
    old = {name: (runs / name / run_rows.FILE).read_bytes() for name in names}
    killed = _copy(root, root.with_name(f"{root.name}-killed"))
    for name in names:
        (runs / name / "picture.json").unlink()
        (runs / name / coming_row.FILE).unlink()

    def first_look(count: int) -> Spent:
        for name, data in list(old.items())[:count]:
            (runs / name / run_rows.FILE).write_bytes(data)
        return Spent(call, root)

    def with_none() -> Spent:
        return Spent(call, fresh)

    stale = f"porch status, {STALE} of {number:,} rows stale"
    lost = f"porch status, {STALE} of {number:,} rows lost"
    one, all_lost = (lambda: first_look(1)), (lambda: first_look(STALE))
    # One that is lost is enough to load what folds a run, which costs as much as the list; then
    # each costs its own run only. Nobody asked for the bounds of 2 and 2.5.
    return [
        _ratio(f"{stale} / none", 1.3, lambda: Spent(call, killed), with_none),
        _ratio(f"{lost}, first look / none", 2.5, all_lost, with_none),
        _ratio(f"{lost}, next look / none", 1.3, lambda: Spent(call, root), with_none),
        _ratio(f"{lost}, first look / one", 1.3, all_lost, one),
        _ratio("porch status, one row lost, first look / none", 2.0, one, with_none),
    ]


def _against_cat(root: Path, call: list[str], runs: Path, number: int) -> list[Result]:
    cat = ["cat", *(f"{name}/{run_rows.FILE}" for name in sorted(os.listdir(runs)))]
    name = f"{Path(call[0]).name} {' '.join(call[1:])}, {number:,} runs"
    mine, reference = (lambda: Spent(call, root)), (lambda: Spent(cat, runs))
    times = _ratio(f"{name} / cat of the rows", 5.0, mine, reference)
    size = _size_mb(call, root)
    return [
        times,
        Result(f"{name}, memory", round(size, 1), MOST_MB, "MB", f"{size:.1f} MB", "", 1),
    ]


class Together:
    """CPU seconds of several processes, one after the other."""

    def __init__(self, *parts: Spent):
        self.cpu_s = sum(part.cpu_s for part in parts)


def _fleet(root: Path, call: list[str], runs: Path, number: int) -> Result:
    """The table of all runs, against reading the same bytes and starting Python."""
    cat = ["cat", *(f"{name}/{run_rows.FILE}" for name in sorted(os.listdir(runs)))]
    bare = [sys.executable, "-I", "-c", "pass"]
    name = f"af status, {number:,} runs / cat of the rows and a bare Python"
    reference = lambda: Together(Spent(cat, runs), Spent(bare, root))  # noqa: E731
    return _ratio(name, 5.0, lambda: Spent(call, root), reference)


def _ratio(name: str, limit: float, mine: Call, reference: Call) -> Result:
    mine(), reference()
    pairs = [(mine().cpu_s, reference().cpu_s) for _ in range(ROUNDS)]
    one, other = (statistics.median(each) for each in zip(*pairs, strict=True))
    return Result(name, round(one / other, 2), limit, "times", _ms(one), _ms(other), ROUNDS)


def _ms(cpu_s: float) -> str:
    return f"{cpu_s * 1000:.1f} ms"


def _logs(place: Path, porch: str) -> list[Result]:
    short = _one_run(place / "short", 100)
    found = []
    for records in LOGS:
        long, call = _one_run(place / f"long-{records}", records), [porch, "log", "0073"]
        name = f"porch log, {records:,} records / 100"
        pair = lambda: Spent(call, long), lambda: Spent(call, short)  # noqa: B023 - used at once
        found.append(_ratio(name, 2.0, *pair))
        size = _size_mb([*call, "--all"], long)
        name = f"porch log --all, {records:,} records, memory"
        found.append(Result(name, round(size, 1), MOST_MB, "MB", f"{size:.1f} MB", "", 1))
    return found


def _many_runs(root: Path, number: int) -> Path:
    """So many runs that wait for a person; of all but one only what lists read is there."""
    _one_run(root, RECORDS)
    runs = root / ".git/porch/runs"
    first = runs / story.RUN
    (first / "lock").touch()  # whoever drove it left that
    row = (first / run_rows.FILE).read_bytes()
    for n in range(1, number):
        run = runs / f"{n + 1000:05}-a-parser-for-dates"
        run.mkdir()
        (run / run_rows.FILE).write_bytes(row)
        for name in ("journal.jsonl", "lock"):
            os.link(first / name, run / name)
    return runs


def _copy(source: Path, to: Path) -> Path:
    shutil.copytree(source, to, copy_function=_copy_file)
    return to


def _copy_file(source: str, to: str) -> None:
    if source.endswith((run_rows.FILE, coming_row.FILE, "journal.jsonl", "picture.json")):
        shutil.copyfile(source, to)
    else:
        os.link(source, to)


def _one_run(root: Path, records: int) -> Path:
    return story.repository(root, records, story.asks_a_person)


def _make_stale(runs: Path) -> list[str]:
    """A person answers in each, and the process is killed before it draws that."""
    names = sorted(os.listdir(runs))[:STALE]
    for name in names:
        pid = os.fork()
        if not pid:
            _answer_and_die(runs, name)
        _, status = os.waitpid(pid, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            raise RuntimeError(f"{name}: nobody was killed")
    return names


def _answer_and_die(runs: Path, name: str) -> NoReturn:
    try:
        told = story.reopened(str(runs), str(runs / name))
        told.book.pictures.put_off()  # type: ignore[attr-defined]  # as short commands do
        told.book.pictures.draw = _die  # type: ignore[assignment]
        told.step()
    finally:
        os._exit(1)


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
