"""A real repository with a plan, a reviewer who answers by round, and people at its gates."""

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from porch.cli.dispatch import run_words as run_command
from porch.store import where as places
from porch.store.where import ProjectPaths
from porch.testing import unmeasured
from tests import commands
from tests.commands import Forked
from tests.trust import trust_settings
from tests.whole.envoy import follower

HERE = Path(__file__).resolve().parents[3]
FOLLOW = "from tests.whole.envoy.follower import main; raise SystemExit(main())"
PASSED = {"verdict": "passed", "thoughts": "It does what the prompt says."}
MINE = "notes of mine.txt"
UNTOUCHED = "No agent has to know this.\n"
_AGENTS = ("CLAUDECODE", "CLAUDE_", "GEMINI_CLI", "CODEX_", "PORCH_", "GIT_")
# Answers for the branch it finds itself on, the last one for ever; keeps what it was shown.
_REVIEWER = """\
import json, subprocess, sys
from pathlib import Path
home = Path(sys.argv[1])
branch = subprocess.run(["git", "branch", "--show-current"], capture_output=True, text=True).stdout
name = branch.strip().replace("/", "~")
seen = sorted(home.glob(f"{name}.*.md"))
(home / f"{name}.{len(seen)}.md").write_text(sys.stdin.read())
answers = json.loads((home / "answers.json").read_text()).get(branch.strip(), [])
answers = answers or [json.loads(sys.argv[2])]
print(json.dumps(answers[min(len(seen), len(answers) - 1)]))
"""
# What a person does at a gate: fields of the file, or the words of a command.
Does = Mapping[str, Any] | Sequence[str] | Callable[[], Mapping[str, Any]]


@dataclass
class Town:
    """One directory with everything in it."""

    home: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    more: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.home / "repo"

    @property
    def plan(self) -> Path:
        return self.root / ".claude" / "plans" / "feat~x"

    @property
    def where(self) -> ProjectPaths:
        return places.find_project(str(self.root))

    def await_question(self, name: str) -> None:
        """Until somebody waits for an answer in this feedback file."""
        until = time.monotonic() + 30
        while not (self.plan / "user_feedback" / f"{name}.yaml").exists():
            assert time.monotonic() < until, f"nobody asks {name}"
            time.sleep(0.02)

    @property
    def environ(self) -> dict[str, str]:
        kept = {k: v for k, v in unmeasured().items() if not k.startswith(_AGENTS)}
        return {
            **kept,
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "PYTHONPATH": os.pathsep.join([str(HERE / "src"), str(HERE)]),
            # So short that a gate is asked several times before a person has answered.
            "BLOCKING_GATE_TIMEOUT_MS": "400",
            **self.more,
        }

    def found(self, files: Mapping[str, str], reviews: Mapping[str, Any]) -> "Town":
        for name in ("repo", "trees", "reviews", "config"):
            (self.home / name).mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ann")
        self.git("config", "user.email", "ann@example.org")
        self.git("config", "gc.auto", "0")
        for name, text in files.items():
            self.write(name, text)
        self._hire(reviews)
        self.git("add", "-A")
        self.git("commit", "-qm", "The beginning")
        self.git("switch", "-qc", "feat/x")
        self.write(MINE, UNTOUCHED)
        return self

    def is_whole(self) -> None:
        """What holds however it went: git is sound, and what is the user's is untouched."""
        assert self.git("fsck", "--strict", "--no-dangling") == ""
        assert self.git("status", "--porcelain") == f'?? "{MINE}"'
        assert (self.root / MINE).read_text() == UNTOUCHED

    def _hire(self, reviews: Mapping[str, Any]) -> None:
        (self.home / "reviewer.py").write_text(_REVIEWER)
        (self.home / "reviews" / "answers.json").write_text(json.dumps(reviews))
        words = [sys.executable, "-I", "-S", str(self.home / "reviewer.py")]
        words += [str(self.home / "reviews"), json.dumps(PASSED)]
        self.write("codev/config.toml", f"[agents.gemini]\ncommand = {json.dumps(words)}\n")
        # What an agent calls knows no XDG_CONFIG_HOME.
        for environ in (self.environ, {"HOME": str(self.home)}):
            trust_settings(self.root, environ)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words: str, place: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=place or self.root, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def type(self, *words: str, code: int = 0) -> str:
        """A person or an agent types a command in the main checkout."""
        done = commands.run(words[0], words[1:], self.root, self.environ)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def envoy(self, *words: str) -> dict[str, Any]:
        """A command of the agent that leads the others, without a process of its own."""
        out = io.StringIO()
        with contextlib.chdir(self.root), contextlib.redirect_stdout(out):
            code = run_command("envoy", list(words))
        assert code == 0, f"{words}: {code}\n{out.getvalue()}"
        return dict(json.loads(out.getvalue())["data"])

    def prompt(self, name: str) -> dict[str, Any]:
        """The front matter, as it stands in the file."""
        text = (self.plan / "prompts" / f"{name}.md").read_text()
        return dict(yaml.safe_load(text.split("---\n")[1]))

    def tree(self, branch: str) -> Path:
        return self.home / "trees" / branch.replace("/", "~")

    def seen_by_reviewer(self, branch: str) -> list[str]:
        found = sorted((self.home / "reviews").glob(f"{branch.replace('/', '~')}.*.md"))
        return [path.read_text() for path in found]

    def brief(self, protocol: str, hands: Mapping[str, Any], **inputs: Any) -> list[str]:
        """The words that start an agent which follows a protocol; the last names its brief."""
        path = self.home / f"agent-{len(list(self.home.glob('agent-*.json')))}.json"
        spec = {
            "root": str(self.root),
            "inputs": {k: v if isinstance(v, str) else json.dumps(v) for k, v in inputs.items()},
            "hands": {"trees": str(self.home / "trees"), **hands},
        }
        path.write_text(json.dumps(spec))
        return [sys.executable, "-c", FOLLOW, protocol, str(path)]

    def send(self, protocol: str, hands: Mapping[str, Any], **inputs: Any) -> "Sent":
        """An agent that follows a protocol, in a process and a session of its own."""
        words = self.brief(protocol, hands, **inputs)
        started = Forked(
            follower.main,
            words[-2:],
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.started.append(started)
        return Sent(started, Path(f"{words[-1]}.result"))

    def follow(self, protocol: str, hands: Mapping[str, Any], **inputs: Any) -> dict[str, Any]:
        return self.send(protocol, hands, **inputs).came()

    def close(self) -> None:
        for each in self.started:
            if each.poll() is None:
                os.killpg(each.pid, 9)
            each.wait()


@dataclass
class Sent:
    """An agent that is at work."""

    process: subprocess.Popen[bytes]
    result: Path

    def came(self) -> dict[str, Any]:
        """What came of it, once it is done; an agent that is lost says where."""
        self.process.wait(timeout=180)
        told = json.loads(self.result.read_text())
        assert not told["lost"], told["lost"]
        return dict(told)

    def died(self) -> None:
        assert self.process.wait(timeout=180) == -9
        assert not self.result.exists()


def _text_of(path: Path) -> str:
    """What stands in it now; it may be taken away at any moment."""
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


class People(threading.Thread):
    """They look at the feedback files, and answer each time what they have made up their minds to.

    By file name without its end, the answers in their order; what is not mentioned stays open.
    """

    def __init__(self, town: Town, answers: Mapping[str, Sequence[Does]]):
        super().__init__(daemon=True)
        self.town = town
        self.left = {name: list(does) for name, does in answers.items()}
        self.error: BaseException | None = None
        self._is_over = threading.Event()

    def __enter__(self) -> "People":
        self.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._is_over.set()
        self.join(10)
        if self.error is not None:
            raise self.error
        if kind is None:
            assert not any(self.left.values()), f"nobody asked for {self.left}"

    def run(self) -> None:
        try:
            while not self._is_over.wait(0.03):
                for path in (self.town.plan / "user_feedback").glob("*.yaml"):
                    self._look_at(path)
        except BaseException as error:  # noqa: BLE001 - told by whoever waits for us
            self.error = error

    def _look_at(self, path: Path) -> None:
        does = self.left.get(path.stem)
        if not does or "done: false" not in _text_of(path):
            return
        first, text = does.pop(0), _text_of(path)
        given = first() if callable(first) else first
        if isinstance(given, Mapping):
            text = self._fill(path, dict(given))
        else:
            self.town.type(*given)
        self._await(path, text)

    def _fill(self, path: Path, given: dict[str, Any]) -> str:
        """As editors save: beside it, then under its name."""
        if "logs" in given:
            path.with_name(f"{path.stem}_logs.md").write_text(given.pop("logs"))
        form = merged(yaml.safe_load(path.read_text()), {**given, "done": True})
        draft = path.with_name(f".{path.name}.swp")
        text = yaml.safe_dump(form, sort_keys=False)
        draft.write_text(text)
        draft.rename(path)
        return text

    def _await(self, path: Path, text: str) -> None:
        """Until it was taken; an answer that is not taken is a finding, written into the file.

        While porch brings a form up to date, the one that it drew stands there for an instant.
        """
        gone_since, until = time.monotonic(), time.monotonic() + 90
        while path.exists() and time.monotonic() - gone_since < 1:
            if _text_of(path) == text:
                gone_since = time.monotonic()
            assert time.monotonic() < until, f"nobody took {path.name}:\n{text}"
            time.sleep(0.02)


def merged(form: Any, given: Any) -> Any:
    """What is given over what is there, entry by entry; prompts are named by words."""
    if isinstance(form, dict) and isinstance(given, dict):
        asked = {str(key): value for key, value in form.items()}
        assert set(given) <= set(asked), f"the form asks for {list(asked)}, not for {list(given)}"
        return {k: merged(asked[k], given[k]) if k in given else asked[k] for k in asked}
    return given
