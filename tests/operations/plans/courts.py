"""A plan whose prompt 1 was carried out, and reviewers who say what a test lets them say."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porch.adapters import marks
from porch.adapters import where as places
from porch.dialects import front_matter
from porch.model.prompt_ids import PromptId
from porch.operations.plans import planning, prompting, reviewing, working
from porch.operations.plans.gates import Came
from porch.operations.plans.prompting import Written
from porch.operations.plans.reviewing import Wanted
from porch.operations.session import mark_of

RUN = "plan_feat~x"
BRANCH = "feat/x--implementation-1"
ONE = PromptId(1)
PASS = '{"verdict": "passed", "thoughts": "I read all of it"}'
# What a reviewer of a test's own does with a step: a text, or what goes wrong first.
_REVIEWER = """\
import json, os, pathlib, sys, time
home = pathlib.Path(sys.argv[1])
number = len(list(home.glob("prompt-*")))
(home / f"prompt-{number}").write_text(sys.stdin.read())
steps = json.loads((home / "steps.json").read_text())
step = steps[min(number, len(steps) - 1)]
step = {"say": step} if isinstance(step, str) else step
(home / f"begun-{number}").write_text(str(os.getpid()))
for event in step.get("events", ()):
    print(json.dumps(event), flush=True)
time.sleep(step.get("sleep", 0))
for path in step.get("after", ()):
    while not os.path.exists(path):
        time.sleep(0.01)
print(step.get("say", ""))
sys.exit(step.get("exit", 0))
"""
_SETTINGS = "[agent]\nback_off = 0.01\n\n[timeouts]\nconsultation_timeout = 30\n"


def answer(verdict: str = "passed", **more: Any) -> str:
    return json.dumps({"verdict": verdict, "thoughts": "I read it", **more})


def failing(changes: str = "test it") -> str:
    return answer("failed", suggested_changes=changes)


def asking(*questions: str) -> str:
    return answer("failed", clarifying_questions=list(questions))


def used(usd: float, tokens: int = 10) -> dict[str, Any]:
    return {"type": "usage", "usd": usd, "tokens": tokens}


class Court:
    """The project, its reviewers, and a look at what they were shown and what was kept."""

    def __init__(self, root: Path):
        self.root = root
        self.work = root.parent / "work-1"
        self.bench = root.parent / "reviewers"
        self._agents: dict[str, str] = {}
        self.more = ""
        self.bench.mkdir()
        (self.bench / "reviewer.py").write_text(_REVIEWER)
        self.reviewer("ann", PASS)

    @property
    def where(self) -> places.Where:
        return places.find(str(self.root))

    @property
    def home(self) -> Path:
        return self.root / ".claude" / "plans" / "feat~x"

    @property
    def run_dir(self) -> Path:
        return self.root / ".git" / "porch" / "runs" / RUN

    def git(self, *words: str, at: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=at or self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def begin(self) -> None:
        """Prompt 1 is carried out in a worktree of its own, with work committed and not."""
        planning.init(self.where)
        given = Written(
            files=["src/list.py"],
            criteria="two logins, two lists",
            context="# Approach\n\nDrop the cache.",
            description="the list forgets its cache",
        )
        prompting.write_prompt(self.where, ONE, given)
        self.git("worktree", "add", "-q", "-b", BRANCH, str(self.work))
        (self.work / "list.py").write_text("cache = None\n")
        self.git("add", "-A", at=self.work)
        self.git("commit", "-qm", "drop the cache", at=self.work)
        working.start_prompt(self.where, ONE, "backend", BRANCH)
        working.record_implementation(self.where, ONE, "I dropped the cache.", 1)

    def configure(self, more: str = "") -> None:
        """More settings; the reviewers of the test stay in them."""
        self.more = more
        text = "\n".join([_SETTINGS, *self._agents.values(), more])
        path = self.root / "codev" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def reviewer(self, name: str, *steps: Any, more: str = "") -> Path:
        """A command of the test's own that does these steps, the last of them for ever."""
        home = self.bench / name
        home.mkdir(exist_ok=True)
        (home / "steps.json").write_text(json.dumps(steps))
        words = [sys.executable, "-I", "-S", str(self.bench / "reviewer.py"), str(home)]
        self._agents[name] = f"[agents.{name}]\ncommand = {json.dumps(words)}\n{more}\n"
        self.configure(self.more)
        return home

    def script(self, *answers: dict[str, Any], **top: Any) -> str:
        path = self.bench / "script.yaml"
        reviews = {"review": {"scripted": list(answers)}}
        path.write_text(json.dumps({"reviews": reviews, **top}))  # JSON is YAML
        return str(path)

    def review(self, id_: PromptId | None = ONE, by: str = "ann", **wanted: Any) -> Came:
        return reviewing.review(self.where, Wanted(id_, reviewing.named(by), **wanted))

    def shown(self, name: str = "ann") -> list[str]:
        """The prompts that a reviewer got, in order."""
        found = sorted((self.bench / name).glob("prompt-*"), key=lambda p: int(p.name[7:]))
        return [path.read_text() for path in found]

    def fields(self, name: str = "prompts/1.md") -> dict[str, Any]:
        path = self.home / name
        return dict(front_matter.read(path.read_text(), str(path)).fields)

    def records(self) -> list[dict[str, Any]]:
        text = (self.run_dir / "journal.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def facts(self, kind: str) -> list[dict[str, Any]]:
        return [r["fact"] for r in self.records() if r["fact"]["is"] == kind]

    def processes(self) -> list[int]:
        """Whatever lives of this plan's reviewers."""
        return [each.pid for each in marks.marked(f"{mark_of(self.where, RUN)}:")]

    def clear(self) -> None:
        marks.reap(f"{mark_of(self.where, RUN)}:")


def wait_for(happened: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person with a name and nothing else; no agent is around."""
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    for name in ("HOME", "USER", "LOGNAME"):
        monkeypatch.setenv(name, str(home) if name == "HOME" else "ann")
    strange = ("CLAUDECODE", "GEMINI_CLI", "PORCH_MARK", "XDG_CONFIG_HOME", "BASE_BRANCH")
    for name in list(os.environ):
        if name in strange or name.startswith(("CODEX_", "GIT_")):
            monkeypatch.delenv(name)


def repository(root: Path) -> Path:
    """On `feat/x`, from a `main` with one commit."""
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    for words in ("init -q", "add -A", "commit -qm first", "switch -qc feat/x"):
        subprocess.run(["git", *words.split()], cwd=root, check=True, capture_output=True)
    return root
