"""A repository, a spec and scripted agents that write real files, for whole runs of v3."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from porch.cli.dispatch import run_words as run_command
from porch.cli.porch import fast
from porch.run.engine.run_places import mark_of
from porch.store import where as places
from porch.system import process_marks
from tests.trust import trust_settings

Entry = Mapping[str, Any]
SUITE = '{python} -m pytest -q -p no:cacheprovider --junitxml="$PORCH_REPORT"'
# A twentieth of what a start of pytest costs.
QUICK_SUITE = f"{{python}} -S -B {Path(__file__).with_name('quick_suite.py')}"
# What makes a start of pytest cheap has to reach the suites: a check gets no other variables.
CHEAP = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
SETTINGS = (
    f"[agent]\nback_off = 0.01\n\n[commands]\ntest = '{{suite}}'\n\n[checks]\nenv = {list(CHEAP)}\n"
)


@dataclass(frozen=True, slots=True)
class Part:
    """One small function, and what good agents answer who build it."""

    name: str
    parameters: str
    body: str
    check: str

    @property
    def criterion(self) -> str:
        return f"c-{self.name}"

    @property
    def target(self) -> str:
        return f"calc/{self.name}.py"

    @property
    def interface(self) -> str:
        return f"calc/{self.name}_api.py"

    @property
    def contract(self) -> str:
        return f"tests/{self.name}/test_{self.name}_contract.py"

    @property
    def tests(self) -> str:
        return f"tests/{self.name}/test_{self.name}.py"

    @property
    def code(self) -> str:
        return f"def {self.name}({self.parameters}):\n    return {self.body}\n"

    def spec(self, **changed: Any) -> dict[str, Any]:
        return {
            "id": self.name,
            "description": f"The function {self.name}",
            "acceptanceCriteria": [{"id": self.criterion, "text": f"{self.check} holds"}],
            "targetPath": self.target,
            "testPath": f"tests/{self.name}",
            **changed,
        }

    def scaffold(self, **changed: Any) -> dict[str, Any]:
        planned = {"plannedTestName": f"test_{self.name}", "approach": "call it"}
        payload = {
            "interfaceFile": self.interface,
            "contractSuite": self.contract,
            "testPlan": [{"criterionId": self.criterion, **planned}],
            **changed,
        }
        there = f"def test_{self.name}_has_an_interface():\n    import calc.{self.name}_api\n"
        written = {self.interface: f"NAME = '{self.name}'\n", self.contract: there}
        return {"write": written, "exit": "InitWork", "payload": payload}

    def write_tests(self, **changed: Any) -> dict[str, Any]:
        called = f"    from calc.{self.name} import {self.name}\n    assert {self.check}\n"
        payload = {"testFiles": [self.tests], "pendingCriteria": [self.criterion], **changed}
        written = {self.tests: f"def test_{self.name}():\n{called}"}
        return {"write": written, "exit": "TestsReady", "payload": payload}

    def impl(self, code: str = "", **changed: Any) -> dict[str, Any]:
        payload = {"iterations": 1, "passedTests": [f"test_{self.name}"], **changed}
        return {
            "write": {self.target: code or self.code},
            "exit": "TestsPassed",
            "payload": payload,
        }

    def review(self, *tests: str) -> dict[str, Any]:
        named = [[self.criterion, name] for name in tests or (f"test_{self.name}",)]
        coverage = {"criteriaWithTests": named, "criteriaMissing": []}
        return {
            "exit": "Approved",
            "payload": {"signOff": f"{self.name} is good", "coverageReport": coverage},
        }


ADD = Part("add", "a, b", "a + b", "add(1, 2) == 3")
MUL = Part("mul", "a, b", "a * b", "mul(2, 3) == 6")
NEG = Part("neg", "a", "-a", "neg(1) == -1")
WHOLE = {"id": "c-whole", "text": "calc() does all of it"}


def merged(impact: str = "Additive", symbol: str = "it") -> dict[str, Any]:
    changes = [{"symbol": symbol, "changeType": "NewExport", "reason": f"{symbol} is new"}]
    payload = {"impactLevel": impact, "changes": changes}
    return {"exit": "MergeComplete", "payload": payload}


def accepted() -> dict[str, Any]:
    return {"exit": "Accepted", "payload": {"reason": "it does what it should"}}


def rejected(exit_: str, details: str) -> dict[str, Any]:
    payload = {"reason": "IntegrationFailure", "details": details, "failingTests": ["test_x"]}
    return {"exit": exit_, "payload": payload}


def after_merge(entry: Entry, name: str, branch: str = "porch/v3_calc") -> dict[str, Any]:
    """The same answer, given once a sibling has merged."""
    seen = f"git log --format=%s {branch} | grep -q 'feat({name})'"
    wait = ["sh", "-c", f"until {seen}; do sleep 0.05; done"]
    return {**entry, "run": wait}


class Script:
    """What every agent answers, by instance and state; the root is `.`."""

    def __init__(self) -> None:
        self.agents: dict[str, list[Entry]] = {"merger": [merged()], "judge": [accepted()]}
        self.decisions: dict[str, list[Entry]] = {}

    def say(self, key: str, *entries: Entry) -> "Script":
        self.agents[key] = list(entries)
        return self

    def good(self, part: Part, instance: str = "") -> "Script":
        """Everything that an instance has to answer to build its part."""
        front = instance or "."
        self.say(f"{front}/scaffold", part.scaffold())
        self.say(f"{front}/write_tests", part.write_tests())
        self.say(f"{front}/impl", part.impl())
        return self.say(f"{front}/review", part.review())

    def decide(self, name: str, *entries: Entry) -> "Script":
        self.decisions[name] = list(entries)
        return self

    def text(self) -> str:
        return json.dumps({"agents": self.agents, "decisions": self.decisions}, indent=1)


def family(*parts: Part, **changed: Any) -> Script:
    """A root that gives each part to a child, and then calls all of them."""
    script = Script()
    for part in parts:
        script.good(part, part.name)
    planned = {"criterionId": "c-whole", "plannedTestName": "test_whole", "approach": "call it"}
    payload = {
        "interfaceFile": "calc/api.py",
        "contractSuite": "tests/calc/test_calc_contract.py",
        "testPlan": [planned],
        "childSpecs": [part.spec() for part in parts],
        **changed,
    }
    names = [part.name for part in parts]
    there = "def test_calc_has_names():\n    from calc import api\n    assert api.NAMES\n"
    written = {"calc/api.py": f"NAMES = {names}\n", "tests/calc/test_calc_contract.py": there}
    script.say("./scaffold", {"write": written, "exit": "InitWork", "payload": payload})
    test = f"def test_whole():\n    from calc.whole import whole\n    assert whole() == {names}\n"
    ready = {"testFiles": ["tests/calc/test_whole.py"], "pendingCriteria": ["c-whole"]}
    script.say(
        "./write_tests",
        {"write": {"tests/calc/test_whole.py": test}, "exit": "TestsReady", "payload": ready},
    )
    imports = "".join(f"from calc.{name} import {name}\n" for name in names)
    listed = ", ".join(names)
    code = f"{imports}\n\ndef whole():\n    return [each.__name__ for each in ({listed},)]"
    passed = {"iterations": 1, "passedTests": ["test_whole"]}
    script.say(
        "./impl",
        {"write": {"calc/whole.py": f"{code}\n"}, "exit": "TestsPassed", "payload": passed},
    )
    coverage = {"criteriaWithTests": [["c-whole", "test_whole"]], "criteriaMissing": []}
    approved = {"signOff": "the whole is good", "coverageReport": coverage}
    return script.say("./review", {"exit": "Approved", "payload": approved})


def family_spec(*parts: Part) -> dict[str, Any]:
    criteria = [*(c for part in parts for c in part.spec()["acceptanceCriteria"]), WHOLE]
    return {
        "id": "calc",
        "description": "A calculator",
        "acceptanceCriteria": criteria,
        "targetPath": "calc",
        "testPath": "tests/calc",
    }


@dataclass(frozen=True, slots=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        return self.out + self.err


class Home:
    """A person's repository; commands are typed in it, in this process."""

    def __init__(self, base: Path, patch: pytest.MonkeyPatch, suite: str):
        self.root = base / "project"
        self.root.mkdir()
        self.run_name = ""
        self.seen: list[str] = []
        patch.chdir(self.root)
        self.git("init", "-q", "-b", "main")
        command = suite.format(python=sys.executable)
        self.write("codev/config.toml", SETTINGS.format(suite=command))
        trust_settings(self.root)
        self.write("calc/__init__.py", "")
        self.write("README.md", "A calculator.\n")
        self.save("start")

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def save(self, message: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def porch(self, *words: str, code: int | None = 0) -> Said:
        """Type a command; its exit code is part of the expectation."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            answered = fast.answer_from_pictures(list(words))
            left = run_command("porch", list(words)) if answered is None else answered
        said = Said(left, out.getvalue(), err.getvalue())
        assert code in (None, left), f"exit {left}, not {code}\n{said.all}"
        return said

    def run(
        self, spec: Mapping[str, Any], script: Script, *words: str, code: int | None = 0
    ) -> Said:
        """`porch run v3` with a spec and a script, both of which lie beside the repository."""
        self.run_name = f"v3_{spec['id']}"
        for name, text in (("spec.yaml", yaml.safe_dump(spec)), ("script.yaml", script.text())):
            (self.root.parent / name).write_text(text)
        given = ("run", "v3", "../spec.yaml", "--script", "../script.yaml", "--plain", *words)
        return self.porch(*given, code=code)

    @property
    def run_dir(self) -> Path:
        return self.root / ".git" / "porch" / "runs" / self.run_name

    def records(self) -> list[dict[str, Any]]:
        text = (self.run_dir / "journal.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def moves(self, kind: str) -> list[dict[str, Any]]:
        return [m for record in self.records() for m in record["moves"] if m["is"] == kind]

    def facts(self, kind: str) -> list[dict[str, Any]]:
        return [r["fact"] for r in self.records() if r["fact"]["is"] == kind]

    def entered(self, instance: str = "") -> list[str]:
        """The states that an instance came to, in order."""
        mine = [m for m in self.moves("Entered") if m.get("instance", "") == instance]
        return [move["state"] for move in mine]

    def exits(self, instance: str = "") -> list[str]:
        """The answers of its agents that were accepted, as `state.exit`."""
        found = [fact["envelope"] for fact in self.facts("ExitAccepted")]
        return [f"{e['state']}.{e['exit']}" for e in found if e["instance"] == instance]

    def outcomes(self) -> dict[str, str]:
        return {m.get("instance", ""): m["outcome"] for m in self.moves("Ended")}

    def turn(self, position: str, turn: int = 1, attempt: int = 0) -> Path:
        """The files of one turn of an agent, at a position such as `add/impl#2`."""
        safe = re.sub(r"[/:#]", "_", position)
        (directory,) = (self.run_dir / "turns").glob(f"{safe}_agent_*_{attempt}")
        return directory / f"turn-{turn}"

    def prompt(self, position: str, turn: int = 1, attempt: int = 0) -> str:
        """What an agent was told."""
        return (self.turn(position, turn, attempt) / "prompt.md").read_text()

    def request(self, position: str) -> dict[str, Any]:
        """What an agent was asked for, and in which conversation."""
        asked: dict[str, Any] = json.loads((self.turn(position) / "request.json").read_text())
        return asked

    def session(self, position: str) -> str:
        """The conversation in which an answer was accepted."""
        found = [f for f in self.facts("ExitAccepted") if f["effect"].startswith(f"{position}/")]
        return str(found[0]["session"])

    def uses(self, position: str) -> list[str]:
        """What the first effect of a position took for itself."""
        begun = [hand for record in self.records() for hand in record.get("begun", ())]
        return next(list(h["uses"]) for h in begun if h["effect"].startswith(f"{position}/"))

    def log(self, branch: str) -> list[str]:
        """The subjects of a branch, newest first."""
        return self.git("log", "--first-parent", "--format=%s", branch).splitlines()

    def file(self, branch: str, name: str) -> str:
        return self.git("show", f"{branch}:{name}")

    def refs(self, prefix: str) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname)", prefix).splitlines()

    def worktrees(self) -> list[str]:
        """The names of all worktrees but the person's own."""
        listed = self.git("worktree", "list", "--porcelain").splitlines()
        paths = [line.partition(" ")[2] for line in listed if line.startswith("worktree ")]
        return sorted(os.path.basename(path) for path in paths[1:])

    def clear(self) -> None:
        where = places.find_project(str(self.root))
        for name in where.runs():
            process_marks.reap_processes(f"{mark_of(where, name)}:")


@pytest.fixture(scope="session")
def quick_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Compiled modules of pytest, kept aside once; runs read them and write none."""
    cache = tmp_path_factory.mktemp("compiled")
    empty = tmp_path_factory.mktemp("empty")
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=x.xml"]
    subprocess.run(words, cwd=empty, env=env, capture_output=True, check=False)
    return str(cache)


@contextlib.contextmanager
def a_home(base: Path, pytest_cache: str = "") -> Iterator[Home]:
    """A person with a name, no agent around, and a repository; with a cache, pytest tests it."""
    with pytest.MonkeyPatch.context() as patch:
        (base / "home").mkdir()
        (base / "home" / ".gitconfig").write_text("[user]\nname = Ann\nemail = ann@example.org\n")
        for name in list(os.environ):
            if name in ("CLAUDECODE", "XDG_CONFIG_HOME") or name.startswith(
                ("CODEX_", "GEMINI_", "GIT_", "PORCH_", "PYTEST_ADDOPTS")
            ):
                patch.delenv(name)
        patch.setenv("HOME", str(base / "home"))
        patch.setenv("USER", "ann")
        # Sources of one size that change within a second would be mistaken for their cache.
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        patch.setenv("PYTHONPYCACHEPREFIX", pytest_cache)
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        made = Home(base, patch, SUITE if pytest_cache else QUICK_SUITE)
        yield made
        made.clear()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with a_home(tmp_path) as made:
        yield made
