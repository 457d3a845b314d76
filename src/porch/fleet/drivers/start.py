"""Starting a driver: the ordinary `porch` command as a process and a session of its own.

Nothing is kept about it. Who drives a run is read from the run's lock; what a driver says goes into
a file beside the run.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence

from msgspec import Struct

from porch.fleet.drivers.detached import LOG
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.growing_file import read_tail

_START = "from porch.cli.dispatch import porch; raise SystemExit(porch())"
_SAID = 20_000


class DriverStart(Struct, frozen=True):
    """What came of it: the run that is driven now, or how the driver ended and what it said."""

    run: str
    pid: int
    worktree: str = ""
    code: int = 0
    said: str = ""


class StartingDriver:
    """A driver that has not yet said that its run is there."""

    def __init__(self, process: "subprocess.Popen[bytes]", pipe: int, log: str, before: int):
        self._process = process
        self._pipe = pipe
        self._log = log
        self._before = before  # how much an earlier driver has said there

    def wait(self) -> DriverStart:
        """Until the run is there and driven, or the driver has ended."""
        with open(self._pipe, "rb") as pipe:
            told = pipe.read().decode().split("\n")
        if len(told) > 1:
            # Who lives longer than the driver, such as a dashboard, must take note of its end.
            threading.Thread(target=self._process.wait, daemon=True).start()
            return DriverStart(told[0], self._process.pid, told[1])
        code = self._process.wait()
        new = os.path.getsize(self._log) - self._before
        said = read_tail(self._log, min(new, _SAID)).strip() if new else ""
        if os.path.basename(self._log) != LOG:
            os.unlink(self._log)
        return DriverStart("", self._process.pid, code=code, said=said)


def start_driver(
    where: ProjectPaths, words: Sequence[str], directory: str, run: str = ""
) -> StartingDriver:
    """Start `porch WORDS`, which drives a run in the background from then on."""
    log = _make_log(where, run)
    listen, tell = os.pipe()
    environ = {**_environment(os.environ), "PORCH_KICKED_OFF": f"{tell}:{log}"}
    try:
        with open(log, "ab") as output:
            before = output.tell()
            process = subprocess.Popen(
                # Without the directory it starts in on the path: agents write files there.
                [sys.executable, "-P", "-c", _START, *words, "--wait", "--plain"],
                cwd=directory,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(tell,),
            )
    except BaseException:
        os.close(listen)
        raise
    finally:
        os.close(tell)
    return StartingDriver(process, listen, log, before)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """A width that some terminal has says nothing about a file."""
    return {key: value for key, value in environ.items() if key not in ("COLUMNS", "LINES")}


def _make_log(where: ProjectPaths, run: str) -> str:
    """Beside the run; of one that is not there yet nobody knows the name."""
    if run:
        return os.path.join(where.run_dir(run), LOG)
    directory = os.path.join(where.state_dir, "kickoffs")
    atomic.ensure_directory(directory)
    return os.path.join(directory, f"{os.getpid()}.log")
