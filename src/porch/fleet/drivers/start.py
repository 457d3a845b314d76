"""Starting a driver: the ordinary `porch` command as a process and a session of its own.

Nothing is kept about it. Who drives a run is read from the run's lock; what a driver says goes into
a file beside the run.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import IO, BinaryIO
from typing import Protocol as Port

from msgspec import Struct

from porch.fleet.drivers.forked import OF_TERMINALS, DriverCall, ForkedDriver, fork_driver, may_fork
from porch.fleet.drivers.kickoff_logs import LOG, open_kickoff_log, remove_kickoff_log
from porch.run.engine.run_places import require_known_place
from porch.store.where import ProjectPaths
from porch.system.growing_file import read_tail
from porch.system.regular_file import open_regular

_START = "from porch.cli.dispatch import porch; raise SystemExit(porch())"
_SAID = 20_000


class DriverStart(Struct, frozen=True):
    """What came of it: the run that is driven now, or how the driver ended and what it said."""

    run: str
    pid: int
    worktree: str = ""
    code: int = 0
    said: str = ""
    notes: tuple[str, ...] = ()  # what people should know before agents begin


class DriverProcess(Port):
    """The process of a driver, until it has ended."""

    pid: int

    def wait(self) -> int: ...


class StartingDriver:
    """A driver that has not yet said that its run is there.

    `before` is how much others had said in its log when it was started.
    """

    def __init__(self, process: DriverProcess, pipe: int, output: BinaryIO, before: int):
        self._process = process
        self._pipe = pipe
        self._output = output
        self._log = output.name
        self._before = before

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self) -> DriverStart:
        """Until the run is there and driven, or the driver has ended."""
        # Open until then: a log that nobody holds would be taken for that of a dead kickoff.
        with open(self._pipe, "rb") as pipe, self._output:
            return self._hear(pipe.read().decode("utf-8", "surrogateescape").split("\n"))

    def _hear(self, told: Sequence[str]) -> DriverStart:
        if len(told) > 1:
            self._take_note_of_end()
            notes = tuple(filter(None, told[2:]))
            return DriverStart(told[0], self._process.pid, told[1], notes=notes)
        code = self._process.wait()
        new = os.path.getsize(self._log) - self._before
        said = read_tail(self._log, min(new, _SAID)).strip() if new else ""
        if os.path.basename(self._log) != LOG:
            remove_kickoff_log(self._log)
        return DriverStart("", self._process.pid, code=code, said=said)

    def _take_note_of_end(self) -> None:
        """Who lives longer than the driver, such as a dashboard, must; who forks ends before."""
        if not isinstance(self._process, ForkedDriver):
            import threading

            threading.Thread(target=self._process.wait, daemon=True).start()


def start_driver(
    where: ProjectPaths,
    words: Sequence[str],
    directory: str,
    *,
    run: str = "",
    said: bytes = b"",
    main: Callable[[], int] | None = None,
) -> StartingDriver:
    """Start `porch WORDS`, which drives a run in the background from then on.

    `said` is what it reads from its standard input. `main` is the command itself: a caller that has
    its process to itself gives it, so that it can be forked.
    """
    require_known_place(where)
    output = _open_log(where, run)
    # Now: the driver writes at the same place of the same file, and may be quicker than we are.
    before = output.tell()
    listen, tell = os.pipe()
    words = (*words, "--wait", "--plain")
    try:
        with _open_input(said) as given:
            call = DriverCall(
                words=words, directory=directory, given=given, output=output, tell=tell
            )
            process: DriverProcess = (
                fork_driver(main, call) if main is not None and may_fork() else _spawn_driver(call)
            )
    except BaseException:
        os.close(listen)
        output.close()
        raise
    finally:
        os.close(tell)
    return StartingDriver(process, listen, output, before)


def _spawn_driver(call: DriverCall) -> DriverProcess:
    import subprocess

    return subprocess.Popen(
        # Without the directory it starts in on the path: agents write files there.
        [sys.executable, "-P", "-c", _START, *call.words],
        cwd=call.directory,
        env={**_environment(os.environ), "PORCH_KICKED_OFF": f"{call.tell}:{call.output.name}"},
        stdin=call.given,
        stdout=call.output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=(call.tell,),
    )


def _open_input(said: bytes) -> IO[bytes]:
    """What the driver reads; a file without a name, unlike a pipe, holds any number of bytes."""
    if not said:
        return open(os.devnull, "rb")
    import tempfile

    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(said)
    file.seek(0)
    return file


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """A width that some terminal has says nothing about a file."""
    return {key: value for key, value in environ.items() if key not in OF_TERMINALS}


def _open_log(where: ProjectPaths, run: str) -> BinaryIO:
    """Beside the run; of one that is not there yet nobody knows the name."""
    if not run:
        return open_kickoff_log(where)
    return open(os.path.join(where.run_dir(run), LOG), "ab", opener=open_regular)
