"""A repository that an agent attacks from inside a turn, and a person who looks at it afterwards.

What the agent does is a text for the shell. It runs in a real turn of the scripted agent, with the
mark and the environment that every agent gets.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from porch.run.engine.run_places import mark_of
from porch.store import where as places
from porch.system import process_marks
from porch.testing.project import COMMAND
from tests import commands
from tests.cli.conftest import Said
from tests.repositories import make_repository

SETTINGS = '[agent]\nback_off = 0.01\n\n[commands]\nbuild = "true"\ntest = "sh check.sh"\n'
FILES = {
    "codev/config.toml": SETTINGS,
    "work.txt": "right\n",
    "check.sh": "grep -q right work.txt\n",
    ".gitignore": "*.log\n__pycache__/\n",
}
RUN = "0001-x"
Phase = Mapping[str, Any]


class Site:
    """The files of one attempt: `base` is outside of the repository, and no agent's business."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "project"

    @classmethod
    def make(cls, base: Path) -> "Site":
        base.mkdir(parents=True, exist_ok=True)
        made = cls(base)
        make_repository(made.root, FILES)
        made._put_command("porch")
        made._put_command("envoy")
        return made

    def _put_command(self, name: str) -> None:
        """The commands as a person or an agent finds them on PATH."""
        text = COMMAND.replace("porch())", f"{name}())").replace("import porch", f"import {name}")
        path = self.base / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\nexec {sys.executable} -P -c "{text}" "$@"\n')
        path.chmod(0o755)

    def copy(self, base: Path) -> "Site":
        """The same once more; a prepared run is cheaper to copy than to drive."""
        shutil.copytree(self.base, base, symlinks=True)
        made = Site(base)
        made.git("update-index", "-q", "--refresh")
        return made

    def clear(self) -> None:
        """Nothing that an attempt started outlives its test."""
        for pid in self.pids():
            if self.is_alive(pid):
                os.kill(pid, 9)
        where = places.find_project(str(self.root))
        for name in where.runs():
            process_marks.reap_processes(f"{mark_of(where, name)}:")

    # What a person does

    def porch(self, *words: str, **variables: str) -> Said:
        path = f"{self.base / 'bin'}:{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, **variables}
        done = commands.run("porch", words, self.root, env)
        return Said(done.returncode, done.stdout, done.stderr)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str) -> str:
        path = self.root / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def begin(self, *phases: Phase, agents: Mapping[str, Any], **more: Any) -> Said:
        """Start the run of these phases; `more` are parts of the script and `top` of the file."""
        variables = more.pop("variables", {})
        self.prepare(*phases, agents=agents, **more)
        return self.start("--here", **variables)

    def prepare(self, *phases: Phase, agents: Mapping[str, Any], **more: Any) -> None:
        """Write the files of such a run."""
        text = json.dumps({"name": "p", "phases": list(phases), **more.pop("top", {})})
        self.write("codev/protocols/p/protocol.json", text)
        self._script("script.yaml", agents=agents, **more)

    def start(self, *options: str, **variables: str) -> Said:
        words = ("run", "p", "0001", "--title", "x", "--script", str(self.base / "script.yaml"))
        return self.porch(*words, *options, **variables)

    def _script(self, name: str, **parts: Any) -> str:
        path = self.base / name
        path.write_text(json.dumps(parts))
        return str(path)

    def resume(self, **parts: Any) -> Said:
        """Go on with the run; `parts` of the script replace those that it began with."""
        path = self.base / "script.yaml"
        known = json.loads(path.read_text())
        known["agents"] = {**known["agents"], **parts.pop("agents", {})}
        script = self._script(path.name, **{**known, **parts})
        if (self.root / "codev/protocols/other").exists():
            # The other run has the checkout until a person has said what becomes of its files.
            self.porch("finish", "0009", "--keep")
        return self.porch("resume", "1", "--script", script)

    # What an agent does

    def turn(self, shell: str) -> dict[str, Any]:
        """An answer of the script: the agent runs this, and what it printed is kept outside."""
        noted = f"({shell}\n) >> {self.base}/said.txt 2>&1; echo over >> {self.base}/over.txt"
        return {"run": [["sh", "-c", noted]]}

    def inside(self, shell: str, check: str = "", **variables: str) -> Said:
        """An agent of another run in the same repository does this in its turn.

        With a check, what the agent wrote is run by porch: the test is the attacker then.
        """
        known = {"command": check, "max_retries": 0, "retry_delay": 0}
        phase = {"id": "turn", **({"checks": {"own": known}} if check else {})}
        text = json.dumps({"name": "other", "phases": [phase]})
        self.write("codev/protocols/other/protocol.json", text)
        script = self._script("other.yaml", agents={"turn": [self.turn(shell)]})
        words = ("run", "other", "0009", "--title", "o", "--here", "--script", script)
        return self.porch(*words, **variables)

    def alone(self, shell: str) -> None:
        """An agent that no run has started does this, as one that a person works with."""
        ((_, _, noted),) = self.turn(shell)["run"]
        path = f"{self.base / 'bin'}:{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "CLAUDECODE": "1"}
        subprocess.run(["sh", "-c", noted], cwd=self.root, env=env, check=True, timeout=300)

    def by_test(self, shell: str) -> Said:
        """The same, done by a test that the agent wrote, while porch measures it."""
        noted = f"({shell}\n) >> {self.base}/said.txt 2>&1"
        self.write("own.sh", f"{noted}\n")
        return self.inside("true", check="sh own.sh")

    def python(self, name: str, text: str) -> str:
        """The shell text that runs a program of the agent's own, with porch's code at hand."""
        path = self.base / name
        path.write_text(text)
        return f"{sys.executable} {path}"

    @property
    def said(self) -> str:
        """What the commands of the agent printed."""
        path = self.base / "said.txt"
        return path.read_text() if path.exists() else ""

    @property
    def was_tried(self) -> bool:
        """Whether the agent came to the end of its attempt."""
        return (self.base / "over.txt").exists()

    def pids(self) -> list[int]:
        """Processes that the agent left, by its own notes."""
        path = self.base / "pids.txt"
        return [int(word) for word in path.read_text().split()] if path.exists() else []

    def is_alive(self, pid: int) -> bool:
        return pid in process_marks.read_process_table(marks=False)

    # What a person sees

    @property
    def directory(self) -> Path:
        return self.root / ".git" / "porch" / "runs" / RUN

    def records(self) -> list[dict[str, Any]]:
        text = (self.directory / "journal.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def facts(self, kind: str) -> list[dict[str, Any]]:
        return [r["fact"] for r in self.records() if r["fact"]["is"] == kind]

    def entered(self) -> list[str]:
        """All places in the order in which the run came to them, without visits."""
        moves = [move for record in self.records() for move in record["moves"]]
        went = [
            m.get("position", m.get("outcome")) for m in moves if m["is"] in ("Entered", "Ended")
        ]
        return [str(place).rpartition("#")[0] or str(place) for place in went]

    def pending(self) -> str:
        return " ".join(self.porch("pending").all.split())

    def log(self) -> str:
        return " ".join(self.porch("log", "1", "--all").all.split())

    def wait_for(self, happened: Callable[[], object], seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end, "it never happened"
            time.sleep(0.02)
