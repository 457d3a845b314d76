"""A project whose agents are small programs that misbehave, and whoever drives it."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import commands
from tests.repositories import sh
from tests.trust import trust_settings

PHASE: dict[str, Any] = {"id": "work", "signals": {"DONE": "complete"}}
RUN = "0001-x"
# What every program of these begins with: it notes how it was called, and can speak like an agent.
_PRELUDE = """\
import json, os, signal, subprocess, sys, time
if sys.argv[-1] == "status" or "auth" in sys.argv[1:3]:  # as claude and codex say it
    is_claude = "auth" in sys.argv
    place = ".claude/.credentials.json" if is_claude else ".codex/auth.json"
    is_in = os.path.exists(os.path.join(os.environ["HOME"], place))
    print(json.dumps({"loggedIn": is_in}) if is_claude else is_in or "Not logged in")
    sys.exit(not is_in)
HOME, ME = os.environ["HOME"], os.path.basename(sys.argv[0])
NOTES = os.path.join(HOME, ME + ".jsonl")
TURN = sum(1 for _ in open(NOTES)) + 1 if os.path.exists(NOTES) else 1
PROMPT = "" if os.isatty(0) else sys.stdin.read()
with open(NOTES, "a") as notes:
    at = time.time()
    told = {"argv": sys.argv, "env": dict(os.environ), "prompt": PROMPT, "pid": os.getpid()}
    notes.write(json.dumps({**told, "at": at}) + "\\n")
def tell(**said):
    print(json.dumps(said), flush=True)
def claude(text="<signal>DONE</signal>", session="s-1", usd=0.25, **more):
    tell(type="system", subtype="init", session_id=session)
    used = {"m": {"inputTokens": 90, "outputTokens": 10}}
    told = {"subtype": "success", "is_error": False, "result": text, "stop_reason": "end_turn"}
    tell(**{"type": "result", "total_cost_usd": usd, "modelUsage": used, **told, **more})
"""


@dataclass(frozen=True, slots=True)
class Running:
    """A command at work; what it says goes to a file, so that nobody has to listen."""

    process: "subprocess.Popen[bytes]"
    output: Path

    @property
    def code(self) -> int | None:
        return self.process.returncode

    def end(self, timeout_s: float = 60) -> str:
        """All that it said until it ended by itself."""
        self.process.wait(timeout_s)
        return self.output.read_text(errors="replace")

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(90)


@dataclass
class Yard:
    """A repository, programs on PATH, and a look at what a run left."""

    root: Path
    home: Path
    names: Path
    environ: dict[str, str]
    started: list["Running"] = field(default_factory=list)

    def agent(self, name: str, body: str) -> None:
        """A program on PATH; what it is called with is noted in the home directory."""
        path = self.names / name
        path.write_text(f"#!{sys.executable} -IS\n{_PRELUDE}{body}")
        path.chmod(0o755)

    def calls(self, name: str) -> list[dict[str, Any]]:
        path = self.home / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def only_git(self) -> None:
        """A PATH on which nobody else's agents are."""
        git = shutil.which("git")
        assert git is not None
        (self.names / "git").symlink_to(git)
        self.environ["PATH"] = str(self.names)

    def settings(self, text: str) -> None:
        (self.root / "codev" / "config.toml").write_text(text)
        trust_settings(self.root, self.environ)
        sh(self.root, "add", "codev/config.toml")
        sh(self.root, "commit", "-q", "--allow-empty", "-m", "settings")

    def protocol(self, *phases: Mapping[str, Any], **top: Any) -> None:
        path = self.root / "codev" / "protocols" / "p" / "protocol.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"name": "p", "phases": list(phases), **top}))

    def porch(self, *words: str, code: int | None = 0, timeout_s: float = 60) -> str:
        """All that a person sees of a command."""
        running = self.start(*words)
        told = running.end(timeout_s)
        assert code in (None, running.code), f"exit {running.code}\n{told}"
        return told

    def run(self, agent: str = "claude", code: int | None = 0, timeout_s: float = 60) -> str:
        return self.porch(*self.words(agent), code=code, timeout_s=timeout_s)

    def words(self, agent: str) -> Sequence[str]:
        return ("run", "p", "0001", "--title", "x", "--agent", agent)

    def start(self, *words: str) -> "Running":
        """A command that goes on while the test does something else."""
        output = self.home.parent / f"told-{len(self.started)}.txt"
        with output.open("wb") as file:
            process = commands.start(
                "porch", words, self.root, self.environ, file, subprocess.STDOUT, is_text=False
            )
        self.started.append(Running(process, output))
        return self.started[-1]

    def begin(self, agent: str = "claude") -> "Running":
        return self.start(*self.words(agent))

    def begin_cold(self, agent: str) -> "Running":
        """By a fresh interpreter: a fork has the memory of the test runner, too."""
        output = self.home.parent / f"told-{len(self.started)}.txt"
        script = "from porch.cli.dispatch import porch; exit(porch())"
        command = [sys.executable, "-c", script, *self.words(agent)]
        with output.open("wb") as file:
            process = subprocess.Popen(
                command,
                cwd=self.root,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        self.started.append(Running(process, output))
        return self.started[-1]

    def records(self) -> list[dict[str, Any]]:
        path = self.root / ".git" / "porch" / "runs" / RUN / "journal.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def facts(self, *kinds: str) -> list[dict[str, Any]]:
        return [r["fact"] for r in self.records() if r["fact"]["is"] in kinds]

    def moves(self, kind: str) -> list[dict[str, Any]]:
        return [m for r in self.records() for m in r["moves"] if m["is"] == kind]

    @property
    def workplace(self) -> Path:
        """Where the agents of the run work."""
        return self.root / "worktrees" / "p_0001_x"

    @property
    def outcome(self) -> str:
        return "".join(move["outcome"] for move in self.moves("Ended"))

    def status(self) -> str:
        return (self.root / "codev" / "projects" / RUN / "status.yaml").read_text()

    def turns(self) -> list[Path]:
        return sorted((self.root / ".git" / "porch" / "runs" / RUN / "turns").iterdir())

    def transcript(self) -> bytes:
        """What the agents have printed so far."""
        return b"".join(path.read_bytes() for path in self.home.parent.rglob("transcript.jsonl"))

    def living(self) -> list[int]:
        """Everybody who began in this yard and is not one of our own commands."""
        home = f"HOME={self.home}".encode()
        ours = {os.getpid(), *(running.process.pid for running in self.started)}
        return [pid for pid in _processes() if pid not in ours and home in _environment(pid)]

    def clear(self) -> None:
        for running in self.started:
            running.kill()
        while left := self.living():
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)


def wait_for(happened: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.03)


def _processes() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def _environment(pid: int) -> list[bytes]:
    """Of a process that is gone, or that is dead and only waits to be noticed: nothing."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


@contextlib.contextmanager
def fenced(place: Path, environ: Mapping[str, str] | None = None) -> Iterator[Yard]:
    """A yard of one's own; `environ` is that of a room with the real agents, if they play too."""
    root, names = place / "project", place / "programs"
    known = dict(environ or {"HOME": str(place / "home"), "PATH": os.environ["PATH"]})
    home = Path(known["HOME"])
    for directory in (root / "codev", names, home):
        directory.mkdir(parents=True, exist_ok=True)
    if environ is None:
        _log_in(home)
    path = os.pathsep.join((str(names), known["PATH"]))
    more = {"PATH": path, "LANG": "C.UTF-8", "XDG_CONFIG_HOME": str(place / "config")}
    yard = Yard(root, home, names, {**known, **more})
    for words in (("init", "-q", "-b", "main"), *_WHO):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    yard.settings("[agent]\nback_off = 0.01\n")
    yard.protocol(PHASE)
    try:
        yield yard
    finally:
        yard.clear()


def _log_in(home: Path) -> None:
    """Signs of a login, as the real command lines leave them: without any no run begins."""
    for name in (".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("{}")


_WHO = (
    ("config", "user.name", "Ada"),
    ("config", "user.email", "ada@localhost"),
    ("commit", "-q", "--allow-empty", "-m", "start"),
)
