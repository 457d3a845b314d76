"""A room for the agents' command lines: started, heard and ended in it, nobody left behind."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# Where this file lies beside the commands, gemini starts itself twice.
RELAUNCH = "relaunch"


@dataclass(frozen=True, slots=True)
class Told:
    """How a command line ended, and what it said."""

    code: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of its standard output that are JSON objects."""
        lines = [line for line in self.stdout.splitlines() if line.startswith("{")]
        return [json.loads(line) for line in lines]


@dataclass(frozen=True, slots=True)
class Running:
    """A command line at work in a session of its own, its output in files."""

    process: "subprocess.Popen[bytes]"
    stdout: Path
    stderr: Path

    def end(self, timeout_s: float) -> Told:
        """What it said once it ended by itself; a test that waits in vain fails, and kills it."""
        try:
            code = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            told = self.kill()
            pytest.fail(f"still running after {timeout_s} s\n{told.stdout}\n{told.stderr}")
        return self._told(code)

    def kill(self) -> Told:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return self._told(self.process.wait(90))

    def _told(self, code: int) -> Told:
        return Told(code, self.stdout.read_text(), self.stderr.read_text())


@dataclass(frozen=True, slots=True)
class Room:
    """A place to run the agents in: `environ` is all they see, its PATH has their names."""

    place: Path
    environ: Mapping[str, str]
    sealed: bool

    def let_gemini_relaunch(self) -> None:
        """As people have it: a process of gemini's own stands between porch and its work."""
        (self.place / "bin" / RELAUNCH).touch()

    def start(self, *words: str | Path, cwd: Path, stdin: str = "", **environ: str) -> Running:
        """Standard input is a file: a pipe that stays open makes codex wait for ever."""
        turn = Path(tempfile.mkdtemp(prefix="turn-", dir=self.place))
        (turn / "stdin").write_text(stdin)
        out, err = turn / "stdout", turn / "stderr"
        with (turn / "stdin").open("rb") as said, out.open("wb") as told, err.open("wb") as errors:
            process = subprocess.Popen(
                [self._found(str(words[0])), *(str(word) for word in words[1:])],
                cwd=cwd,
                env={**self.environ, **environ},
                stdin=said,
                stdout=told,
                stderr=errors,
                start_new_session=True,
            )
        return Running(process, out, err)

    def run(
        self, *words: str | Path, cwd: Path, stdin: str = "", timeout_s: float = 60, **environ: str
    ) -> Told:
        return self.start(*words, cwd=cwd, stdin=stdin, **environ).end(timeout_s)

    def left(self) -> list[int]:
        """The living processes that began in this room, whatever session they went to."""
        others = (pid for pid in _processes() if pid != os.getpid())
        return [pid for pid in others if self._home in _environment(pid)]

    def is_empty(self, within_s: float = 10) -> bool:
        """Whether everybody is gone; whoever was killed needs a moment to be."""
        deadline = time.monotonic() + within_s
        while self.left() and time.monotonic() < deadline:
            time.sleep(0.05)
        return not self.left()

    def clear(self) -> None:
        """Nobody survives the test; they may fork meanwhile, so we look until nobody is there."""
        while left := self.left():
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    @property
    def _home(self) -> bytes:
        return f"HOME={self.environ['HOME']}".encode()

    def _found(self, name: str) -> str:
        return shutil.which(name, path=self.environ["PATH"]) or name


def _processes() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def _environment(pid: int) -> list[bytes]:
    """Of a process that is gone, or that is dead and only waits to be noticed: nothing."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
