"""A repository and somebody who types commands in it."""

import fcntl
import json
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from porch.cli.dispatch import run_words as run_command
from porch.cli.porch import fast
from porch.run.engine.run_places import mark_of
from porch.run.settings import PROJECT_FILE
from porch.store import where as places
from porch.system import process_marks
from tests import commands
from tests.repositories import at_home, make_repository
from tests.trust import trust_settings

PORCH = (sys.executable, "-c", "from porch.cli.dispatch import porch; exit(porch())")
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]")
PLACE = "worktrees/p_0001_x"
# What an agent leaves behind, so that git refuses each commit on the branch of the run.
LOCK = ["sh", "-c", "touch $(git rev-parse --git-common-dir)/refs/heads/p_0001_x.lock"]
SETTINGS = '[agent]\nback_off = 0.01\n\n[commands]\nbuild = "true"\ntest = "true"\n'


@dataclass(frozen=True, slots=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def all(self) -> str:
        return self.out + self.err


class Desk:
    """Where a person sits: a git repository, commands in it, and a look at what they left."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]):
        self.root = root
        self._capsys = capsys
        self._started: list[subprocess.Popen[str]] = []

    def porch(self, *words: str, code: int | None = 0) -> Said:
        """Type a command here, in this process; its exit code is part of the expectation."""
        self._capsys.readouterr()
        argv = list(words)
        answered = fast.answer_from_pictures(argv)
        left = run_command("porch", argv) if answered is None else answered
        out, err = self._capsys.readouterr()
        assert code in (None, left), f"exit {left}, not {code}\n{out}{err}"
        return Said(left, out, err)

    def call(self, *words: str, code: int | None = 0, **variables: str) -> Said:
        """The same as a process of its own."""
        done = commands.run("porch", words, self.root, {**os.environ, **variables})
        assert code in (None, done.returncode), (
            f"exit {done.returncode}\n{done.stdout}{done.stderr}"
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        """A command that goes on while the test does something else."""
        process = commands.start(
            "porch",
            words,
            self.root,
            {**os.environ, **variables},
            errors=subprocess.STDOUT,
        )
        self._started.append(process)
        return process

    def wait_for(self, happened: Callable[[], object], seconds: float = 90) -> None:
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end, "it never happened"
            time.sleep(0.03)

    def wait_for_turn(self, effect: str, run: str) -> None:
        """Until the process of a turn has said something."""
        file = self.turn(effect, run) / "transcript.jsonl"
        self.wait_for(lambda: file.exists() and file.stat().st_size)

    def clear(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=90)
        where = places.find_project(str(self.root))
        for name in where.runs():
            process_marks.reap_processes(f"{mark_of(where, name)}:")

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if name == PROJECT_FILE:
            trust_settings(self.root)
            self.commit_settings()
        return path

    def commit_settings(self) -> None:
        """A run in a worktree uses them as they are committed."""
        self.git("add", PROJECT_FILE)
        who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        self.git(*who, "commit", "-q", "--allow-empty", "-m", "settings", "--", PROJECT_FILE)

    def protocol(self, name: str, *phases: Mapping[str, Any], **top: Any) -> Path:
        """A protocol of the project; prompts that it names are written beside it."""
        text = json.dumps({"name": name, "phases": list(phases), **top}, indent=2)
        for phase in phases:
            if "prompt" in phase:
                self.write(f"codev/protocols/{name}/prompts/{phase['prompt']}", "Do the work.\n")
        return self.write(f"codev/protocols/{name}/protocol.json", text)

    def script(self, **parts: Any) -> str:
        return str(self.write("script.yaml", json.dumps(parts, indent=1)))  # JSON is YAML

    def begin(self, *phases: Mapping[str, Any], code: int | None = None, **parts: Any) -> Said:
        """Run a protocol of these phases as 0001-x; `parts` are those of the script.

        In the checkout, where porch commits nothing.
        """
        return self.porch(*self._words(phases, parts), "--here", code=code)

    def begin_in_worktree(
        self, *phases: Mapping[str, Any], code: int | None = None, **parts: Any
    ) -> Said:
        """The same in the worktree `PLACE`, where porch commits."""
        return self.porch(*self._words(phases, parts), code=code)

    def _words(self, phases: Sequence[Mapping[str, Any]], parts: dict[str, Any]) -> tuple[str, ...]:
        self.protocol("p", *phases, **parts.pop("top", {}))
        return ("run", "p", "0001", "--title", "x", "--script", self.script(**parts))

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def run_dir(self, run: str = "0001-x") -> Path:
        return self.root / ".git" / "porch" / "runs" / run

    def records(self, run: str = "0001-x") -> list[dict[str, Any]]:
        text = (self.run_dir(run) / "journal.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def facts(self, kind: str, run: str = "0001-x") -> list[dict[str, Any]]:
        return [r["fact"] for r in self.records(run) if r["fact"]["is"] == kind]

    def entered(self, run: str = "0001-x") -> list[str]:
        """All places in the order in which the run came to them, without visits."""
        moves = [move for record in self.records(run) for move in record["moves"]]
        went = [
            m.get("position", m.get("outcome")) for m in moves if m["is"] in ("Entered", "Ended")
        ]
        return [str(place).rpartition("#")[0] or str(place) for place in went]

    def started(self, kind: str = "agent", run: str = "0001-x") -> list[str]:
        """The effects of a kind that were begun."""
        begun = [hand for record in self.records(run) for hand in record.get("begun", ())]
        return [hand["effect"] for hand in begun if hand["kind"] == kind]

    def status(self, directory: str = "codev/projects/0001-x") -> dict[str, Any]:
        document = yaml.safe_load((self.root / directory / "status.yaml").read_text())
        assert isinstance(document, dict)
        return document

    def prompt(self, effect: str, run: str = "0001-x") -> str:
        """The prompt that was given with an effect, such as `specify:draft#1/agent/specify/0`."""
        return (self.turn(effect, run) / "prompt.md").read_text()

    def turn(self, effect: str, run: str = "0001-x") -> Path:
        safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in effect)
        return self.run_dir(run) / "turns" / safe

    def prompts(self, run: str = "0001-x") -> list[str]:
        """The prompts of all agent turns, in order."""
        return [self.prompt(effect, run) for effect in self.started("agent", run)]

    def bytes(
        self, run: str = "0001-x", project: str = "codev/projects/0001-x"
    ) -> tuple[bytes, ...]:
        """Everything of a run that a notice must not change."""
        files = (
            self.run_dir(run) / "journal.jsonl",
            self.run_dir(run) / "picture.json",
            self.root / project / "status.yaml",
        )
        return tuple(file.read_bytes() for file in files)


def _unsized() -> dict[str, str]:
    """A test runner may say how wide its own terminal is; this one has a width of its own."""
    return {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}


class Terminal:
    """A process on a terminal of its own, with somebody in front of it."""

    def __init__(self, command: tuple[str, ...], cwd: Path, rows: int = 24, columns: int = 80):
        self._master, slave = os.openpty()
        self._slave = slave
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**_unsized(), "TERM": "xterm-256color", "TMPDIR": str(cwd.parent)},
            # Only a terminal of its own sends the process Ctrl-C.
            preexec_fn=lambda: os.login_tty(os.dup(slave)),  # noqa: PLW1509 - we have no threads
        )
        self.raw = b""
        self._read = 0

    @property
    def text(self) -> str:
        return ESCAPES.sub("", self.raw.decode("utf-8", "replace")).replace("\r", "")

    @property
    def after(self) -> list[Any]:
        return termios.tcgetattr(self._slave)

    def until(self, text: str, seconds: float = 90) -> None:
        """Read on until this has been shown behind what was waited for before."""
        end = time.monotonic() + seconds
        start = self._read
        while text not in self.text[start:]:
            assert time.monotonic() < end, f"never saw {text!r} in:\n{self.text[start:][-2000:]}"
            self._more(0.2)
        self._read = self.text.index(text, start) + len(text)

    def _more(self, seconds: float) -> None:
        if select.select([self._master], [], [], seconds)[0]:
            self.raw += os.read(self._master, 65536)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def leave(self, seconds: float = 90) -> int:
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, f"still there after:\n{self.text[-2000:]}"
            self._more(0.1)
        self._more(0.1)
        return self.process.returncode

    def resize(self, rows: int, columns: int) -> None:
        """The window gets another size; whoever runs in it is told."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def hang_up(self) -> None:
        """The window is closed: there is no other end, and whoever runs in it is told."""
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for each in {self._master, self._slave} - {-1}:
            os.close(each)


Open = Callable[..., Terminal]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with a name and nothing else; no agent is around."""
    return at_home(tmp_path / "home", monkeypatch)


@pytest.fixture
def desk(
    tmp_path: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Desk]:
    root = make_repository(tmp_path / "project", {"codev/config.toml": SETTINGS})
    monkeypatch.chdir(root)
    made = Desk(root, capsys)
    yield made
    made.clear()


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts a command of the test's own in front of all others on PATH."""

    def put(name: str, text: str) -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return put


@pytest.fixture
def open_(desk: Desk) -> Iterator[Open]:
    opened: list[Terminal] = []

    def run(*words: str, **size: int) -> Terminal:
        opened.append(Terminal((*PORCH, *words), desk.root, **size))
        return opened[-1]

    yield run
    for terminal in opened:
        terminal.close()
