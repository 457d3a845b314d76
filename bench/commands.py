"""Every kind of command of the built wheel, by the CPU it costs, against the bare interpreter.

What a command starts (git) is not counted where the bound is for the command alone; each row says
with which exit code it must end and what it must have printed.
"""

import os
import statistics
import subprocess
from pathlib import Path
from typing import NamedTuple

from bench.cold import _environment, _installed, _repository
from bench.measure import Result
from bench.scenes import Scenes
from porch.run.definitions import library

ROUNDS = 15
LINT = os.path.join(library.PACKAGED, "spider", "protocol.json")
GRAPH = os.path.join(library.PACKAGED, "v3", "v3.graph.yaml")
# `next` must not grow with the history of a run: against the same with the shortest one.
HISTORIES = (100, 10_000, 100_000)
# The command as its script runs it; at its end it tells what the processes it started have used.
ALONE = """
import os, sys
program, tell, leave = sys.argv.pop(1), int(sys.argv.pop(1)), os._exit
def report():
    import resource
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.write(tell, str(used.ru_utime + used.ru_stime).encode())
def report_and_leave(code):
    report()
    leave(code)
os._exit = report_and_leave
from porch.cli import scripts
code = getattr(scripts, program)()
report()
sys.exit(code)
"""


class Row(NamedTuple):
    """A command, its bound in bare Pythons, where it is typed, and what it must print."""

    words: str
    limit: float
    scene: str
    said: str
    changes: bool = False
    codes: tuple[int, ...] = (0,)


ROWS = (
    Row("porch --version", 2, "long", "porch 0"),
    Row("porch --help", 2, "long", "approve"),
    Row("envoy --help", 2, "long", "start-prompt"),
    Row("porch approve --help", 4, "long", "--override"),
    Row("porch run --help", 4, "long", "--title"),
    Row("envoy plan next --help", 4, "long", "-n"),
    Row("porch next 0073", 10, "long", "# "),
    Row("porch next 1", 10, "agents", "agent one at one#"),
    Row("porch explain 0073", 8, "long", "It is at"),
    Row("porch explain 1", 8, "waiting", "go"),
    Row("porch protocols list", 10, "long", "spider"),
    Row(f"porch protocols lint {LINT}", 10, "long", "no problems found"),
    Row(f"porch protocols lint {GRAPH}", 10, "long", "no problems found"),
    # A chosen bound: after a change, jinja2 compiles each of its eight templates.
    Row("porch protocols lint v3/v3.graph.yaml", 35, "graph", "no problems found", True),
    # Whether an agent is installed here changes how it ends, and hardly what it costs.
    Row("codev doctor", 14, "long", "git", codes=(0, 6)),
    Row("porch approve 1 go --as-person", 8, "waiting", "go: approved", True),
    Row("porch stop 1", 8, "waiting", "is stopped", True),
    Row("porch retry 1 --as-person", 8, "failed", "retry", True),
    Row("porch done 1", 8, "agents", "is complete", True),
    Row("porch done 1", 8, "agents-gate", "waiting for your decision: go", True, (3,)),
    # It has to drive: an event loop alone costs six, and a check starts and ends a process.
    Row("porch done 1", 18, "agents-check", "is complete", True),
    Row("envoy plan status", 8, "plan", "feature/x"),
    Row("envoy plan next", 8, "plan", '"prompt_num": 1'),
    Row("envoy plan check", 8, "plan", '"stage"'),
    Row("envoy plan read-prompt 1", 8, "plan", '"content"'),
    Row("envoy plan start-prompt 1 --specialist web --force", 10, "plan", '"1"', True),
    Row(
        "envoy plan record-implementation 1 --walkthrough w --iteration 1 --force",
        10,
        "started-prompt",
        '"implemented"',
        True,
    ),
    Row("envoy plan complete-prompt 1 --force", 10, "recorded-prompt", '"merged"', True),
    Row("envoy plan write-prompt 4 --context c", 10, "plan", '"created": true', True),
    Row("envoy plan write-plan --title U --objective o --context c", 10, "plan", '"success"', True),
    Row("envoy plan write-notes web --notes n", 10, "plan", '"success"', True),
    Row(
        "envoy plan write-approach web 1 --description d --context c", 10, "plan", '"success"', True
    ),
)


def results(place: Path, rows: tuple[Row, ...] = ROWS) -> list[Result]:
    python, porch = _installed(place)
    scenes = Scenes(place / "scenes", porch.parent)
    found = [_row(python, scenes, row, place) for row in rows]
    return [*found, *(_histories(place, python) if rows is ROWS else ())]


def _row(python: Path, scenes: Scenes, row: Row, place: Path) -> Result:
    times = []
    if not row.changes:
        _alone(python, row, scenes.at(row.scene))  # the first call may fill a cache
    for number in range(ROUNDS):
        root = scenes.copy(row.scene, number) if row.changes else scenes.at(row.scene)
        bare = _cpu([str(python), "-I", "-c", "pass"], place)
        times.append((_alone(python, row, root), bare))
    words = row.words.replace(library.PACKAGED + os.sep, "")
    return _result(f"{words} ({row.scene}) / python -I -c pass", row.limit, times)


def _histories(place: Path, python: Path) -> list[Result]:
    row = Row("porch next 0073", 0, "", "# ")
    short, *longer = [(n, _repository(place / f"history-{n}", n)) for n in HISTORIES]
    found = []
    for number, root in longer:
        times = [(_alone(python, row, root), _alone(python, row, short[1])) for _ in range(7)]
        name = f"porch next, {number:,} records / {short[0]}"
        found.append(_result(name, 2.0, times))
    return found


def _alone(python: Path, row: Row, directory: Path) -> float:
    """CPU of a command without what it started; it must have done what it should."""
    program, *words = row.words.split()
    tell, told = os.pipe()
    command = [str(python), "-c", ALONE, program, str(told), *words]
    process = subprocess.Popen(
        command,
        cwd=directory,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(told,),
    )
    os.close(told)
    with process.stdout or open(os.devnull, "rb") as pipe:
        said = pipe.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    started = os.read(tell, 64)
    os.close(tell)
    if process.returncode not in row.codes or row.said not in said:
        raise RuntimeError(f"{row.words} ended with {process.returncode} and said {said}")
    return used.ru_utime + used.ru_stime - float(started)


def _cpu(command: list[str], directory: Path) -> float:
    process = subprocess.Popen(command, cwd=directory, env=_environment())
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def _result(name: str, limit: float, times: list[tuple[float, float]]) -> Result:
    mine, other = (statistics.median(column) for column in zip(*times, strict=True))
    value = round(mine / other, 2)
    told = (f"{mine * 1000:.1f} ms of CPU", f"{other * 1000:.1f} ms of CPU")
    return Result(name, value, limit, "times", *told, len(times))
