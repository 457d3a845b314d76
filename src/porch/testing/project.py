"""A repository in which real commands run a scripted protocol."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from porch.git.command import run_git
from porch.machine.records import JournalRecord, decode_records
from porch.run.engine.run_places import mark_of
from porch.store import where
from porch.store.journal import scan_journal

Form = Mapping[str, Any]
PATIENCE_S = 100
COMMAND = "from porch.cli.dispatch import porch; raise SystemExit(porch())"
# Nothing of the caller may reach the command: an agent that runs the tests is not the agent meant.
FOREIGN = ("COVERAGE_", "PORCH_", "CLAUDE", "GEMINI_", "CODEX_", "GIT_")


class Project(Struct, frozen=True):
    """A git repository with one protocol and one script; the real command runs in it."""

    base: str
    protocol: str
    id: str = "0001"
    title: str = "t"

    @classmethod
    def make(cls, base: str, protocol: Form, script: Form) -> "Project":
        """Lay it out and commit it; `templates` of the protocol are files beside it."""
        made = cls(base, str(protocol["name"]))
        own = {key: value for key, value in protocol.items() if key != "templates"}
        made.write(f"codev/protocols/{made.protocol}/protocol.json", json.dumps(own))
        for name, text in protocol.get("templates", {}).items():
            made.write(f"codev/protocols/{made.protocol}/templates/{name}", text)
        made.write("codev/config.toml", "[agent]\nback_off = 0.01\n")
        made.write("../script.yaml", json.dumps({**script, "witness": f"{base}/witness.txt"}))
        made.git("init", "-q")
        made.git("add", "-A")
        made.git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "begin")
        return made

    @property
    def root(self) -> str:
        return os.path.join(self.base, "repository")

    @property
    def workplace(self) -> str:
        """The worktree in which the run works."""
        return os.path.join(self.root, "worktrees", f"{self.protocol}_{self.id}_{self.title}")

    @property
    def directory(self) -> str:
        """Where the journal and everything beside it lies."""
        return os.path.join(self.root, ".git", "porch", "runs", f"{self.id}-{self.title}")

    @property
    def journal(self) -> str:
        return os.path.join(self.directory, "journal.jsonl")

    @property
    def mark(self) -> str:
        """What every process of this run carries."""
        return mark_of(where.find_project(self.root), f"{self.id}-{self.title}")

    def write(self, name: str, text: str) -> None:
        path = os.path.normpath(os.path.join(self.root, name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def git(self, *words: str) -> str:
        return run_git(self.root, *words)

    def start(self, *words: str, **environ: str) -> "subprocess.Popen[str]":
        """Start a command here; it answers through pipes."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        return subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-P", "-c", COMMAND, *words],
            cwd=self.root,
            env={**kept, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def porch(self, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        """A command to its end."""
        with self.start(*words, **environ) as running:
            try:
                out, err = running.communicate(timeout=PATIENCE_S)
            except BaseException:
                running.kill()
                raise
        return subprocess.CompletedProcess(words, running.returncode, out, err)

    @property
    def run_words(self) -> tuple[str, ...]:
        """The command that starts this run, or goes on with it."""
        script = os.path.join(self.base, "script.yaml")
        subject = (self.protocol, self.id, "--title", self.title)
        return ("run", *subject, "--script", script)

    def run(self, **environ: str) -> "subprocess.CompletedProcess[str]":
        return self.porch(*self.run_words, **environ)

    def records(self) -> list[JournalRecord]:
        return list(decode_records(scan_journal(self.journal).records))

    def starts(self) -> "Counter[str]":
        """How often each effect really started, by the word of the agents themselves."""
        try:
            with open(f"{self.base}/witness.txt", encoding="utf-8") as file:
                return Counter(file.read().splitlines())
        except FileNotFoundError:
            return Counter()
