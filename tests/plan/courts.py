"""A plan whose prompt 1 was carried out, and reviewers who say what a test lets them say."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins

from porch.errors import EXIT_WAITING
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.claims import prompt_claims
from porch.plan.files import front_matter
from porch.plan.prompts import plan_document, prompt_edits, prompt_work
from porch.plan.prompts.prompt_edits import PromptWords
from porch.plan.reviews import review as reviewing
from porch.plan.reviews.review import ReviewRequest
from porch.run.engine.run_places import mark_of
from porch.store import where as places
from porch.system import process_marks
from tests.repositories import make_repository
from tests.trust import trust_settings

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


class Came(NamedTuple):
    """What came of waiting, as whoever called reads it."""

    data: dict[str, Any]
    code: int

    @property
    def is_pending(self) -> bool:
        return bool(self.data["state"] == "pending")


def came_of(result: Struct) -> Came:
    data = to_builtins(result)
    return Came(data, EXIT_WAITING if data["state"] == "pending" else 0)


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
    def where(self) -> places.ProjectPaths:
        return places.find_project(str(self.root))

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
        plan_document.init_plan(self.where)
        given = PromptWords(
            files=["src/list.py"],
            criteria="two logins, two lists",
            context="# Approach\n\nDrop the cache.",
            description="the list forgets its cache",
        )
        prompt_edits.write_prompt(self.where, ONE, given)
        self.git("worktree", "add", "-q", "-b", BRANCH, str(self.work))
        (self.work / "list.py").write_text("cache = None\n")
        self.git("add", "-A", at=self.work)
        self.git("commit", "-qm", "drop the cache", at=self.work)
        prompt_claims.start_prompt(self.where, ONE, "backend", BRANCH)
        prompt_work.record_implementation(self.where, ONE, "I dropped the cache.", 1)

    def configure(self, more: str = "") -> None:
        """More settings; the reviewers of the test stay in them."""
        self.more = more
        text = "\n".join([_SETTINGS, *self._agents.values(), more])
        path = self.root / "codev" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        trust_settings(self.root)

    def reviewer(self, name: str, *steps: Any, more: str = "") -> Path:
        """A command of the test's own that does these steps, the last of them for ever."""
        home = self.bench / name
        home.mkdir(exist_ok=True)
        (home / "steps.json").write_text(json.dumps(steps))
        words = [sys.executable, "-I", "-S", str(self.bench / "reviewer.py"), str(home)]
        self._agents[name] = f"[agents.{name}]\ncommand = {json.dumps(words)}\n{more}\n"
        self.configure(self.more)
        return home

    def missing(self, name: str) -> None:
        """A reviewer that the settings know and nobody has installed."""
        command = json.dumps([str(self.bench / "nowhere" / name)])
        self._agents[name] = f"[agents.{name}]\ncommand = {command}\n"
        self.configure(self.more)

    def script(self, *answers: dict[str, Any], **top: Any) -> str:
        path = self.bench / "script.yaml"
        reviews = {"review": {"scripted": list(answers)}}
        path.write_text(json.dumps({"reviews": reviews, **top}))  # JSON is YAML
        return str(path)

    def review(self, id_: PromptId | None = ONE, by: str = "ann", **wanted: Any) -> Came:
        return came_of(
            reviewing.review_work(
                self.where, ReviewRequest(id_, reviewing.split_names(by), **wanted)
            )
        )

    def shown(self, name: str = "ann") -> list[str]:
        """The prompts that a reviewer got, in order."""
        found = sorted((self.bench / name).glob("prompt-*"), key=lambda p: int(p.name[7:]))
        return [path.read_text() for path in found]

    def fields(self, name: str = "prompts/1.md") -> dict[str, Any]:
        path = self.home / name
        return dict(front_matter.read_page(path.read_text(), str(path)).fields)

    def records(self) -> list[dict[str, Any]]:
        text = (self.run_dir / "journal.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def facts(self, kind: str) -> list[dict[str, Any]]:
        return [r["fact"] for r in self.records() if r["fact"]["is"] == kind]

    def processes(self) -> list[int]:
        """Whatever lives of this plan's reviewers."""
        return [
            each.pid for each in process_marks.list_marked_processes(f"{mark_of(self.where, RUN)}:")
        ]

    def clear(self) -> None:
        process_marks.reap_processes(f"{mark_of(self.where, RUN)}:")


def wait_for(happened: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def repository(root: Path) -> Path:
    """On `feat/x`, from a `main` with one commit."""
    return make_repository(root, {"a.txt": "one\n"}, "feat/x")
