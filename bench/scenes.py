"""Repositories in which somebody stands who types a command, each made once by such commands."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from bench.cold import _environment, _repository, _run
from porch.run.definitions import library

RECORDS = 100
_WHO = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
_CRASH = json.dumps({"agents": {"one": [{"crash": 1}]}})


class Scenes:
    """Scenes by name; each is made when it is first asked for."""

    def __init__(self, place: Path, programs: Path):
        self._place = place
        self._programs = programs

    def at(self, name: str) -> Path:
        root = self._place / name
        if not root.exists():
            SCENES[name](self, root)
        return root

    def copy(self, name: str, number: int) -> Path:
        """For a command that changes what it finds."""
        to = self._place / "copies" / f"{name}-{number}"
        if to.exists():
            shutil.rmtree(to)
        shutil.copytree(self.at(name), to, symlinks=True)
        for tree in to.glob("worktrees/*"):
            _tie(tree, to / ".git" / "worktrees" / tree.name)
        return to

    def type(self, root: Path, words: str, code: int = 0) -> None:
        program, *rest = words.split()
        done = subprocess.run(
            [self._programs / program, *rest],
            cwd=root,
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != code:
            raise RuntimeError(f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}")


def _tie(tree: Path, kept: Path) -> None:
    """Both name each other by whole paths; in a copy, commits would go to the original."""
    (tree / ".git").write_text(f"gitdir: {kept}\n")
    (kept / "gitdir").write_text(f"{tree / '.git'}\n")


def _long(_scenes: Scenes, root: Path) -> None:
    _repository(root, RECORDS)
    _commit(root)


def _graph(_scenes: Scenes, root: Path) -> None:
    """A graph at which nobody has looked yet."""
    shutil.copytree(Path(library.PACKAGED) / "v3", root / "v3")
    _run("git", "init", "--quiet", root)
    _commit(root)


def _started(scenes: Scenes, root: Path, phase: dict[str, object], script: str = "{}") -> None:
    file = root / "codev" / "protocols" / "p" / "protocol.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"name": "p", "phases": [phase]}))
    (root / "script.yaml").write_text(script)
    _run("git", "init", "--quiet", root)
    _commit(root)
    # Two of three tries of an agent are made after a wait.
    (root / "codev" / "config.toml").write_text("[agent]\nback_off = 0.01\n")
    scenes.type(root, "porch run p 0001 --title x --no-claude --script script.yaml", 3)


def _waiting(scenes: Scenes, root: Path) -> None:
    """At a gate."""
    _started(scenes, root, {"id": "two", "gate": {"name": "go", "next": None}})


def _failed(scenes: Scenes, root: Path) -> None:
    """At a failure that a person has to decide on."""
    _started(scenes, root, {"id": "one"}, _CRASH)


def _agents(scenes: Scenes, root: Path) -> None:
    """Where an agent is to work, with nobody driving."""
    _given_back(scenes, root, {"id": "one"})


def _agents_gate(scenes: Scenes, root: Path) -> None:
    """The same, before a gate."""
    gate = {"name": "go", "next": None, "artifacts": ["spec.md"]}
    _given_back(scenes, root, {"id": "one", "artifact": "spec.md", "gate": gate})
    spec = root / "worktrees" / "p_0001_x" / "codev" / "projects" / "0001-x" / "spec.md"
    spec.parent.mkdir(parents=True, exist_ok=True)
    spec.write_text("# Specification\n\nSomebody is greeted.\n")


def _agents_check(scenes: Scenes, root: Path) -> None:
    """The same, before a check."""
    _given_back(scenes, root, {"id": "one", "checks": {"quick": {"command": "true"}}})


def _given_back(scenes: Scenes, root: Path, phase: dict[str, object]) -> None:
    _started(scenes, root, phase, _CRASH)
    scenes.type(root, "porch retry 1 --as-person")


def _plan(scenes: Scenes, root: Path) -> None:
    """A plan with three prompts."""
    root.mkdir(parents=True)
    _run("git", "init", "--quiet", "-b", "main", root)
    _run("git", "-C", root, "config", "user.name", "bench")
    _run("git", "-C", root, "config", "user.email", "bench@localhost")
    _commit(root)
    _run("git", "-C", root, "checkout", "--quiet", "-b", "feature/x")
    scenes.type(root, "envoy plan init")
    scenes.type(root, "envoy plan write-plan --title T --objective o --context c")
    for number in (1, 2, 3):
        scenes.type(root, f"envoy plan write-prompt {number} --context c --description d")


def _started_prompt(scenes: Scenes, root: Path) -> None:
    _grown(scenes, root, "plan", "envoy plan start-prompt 1 --specialist web --force")


def _recorded_prompt(scenes: Scenes, root: Path) -> None:
    words = "envoy plan record-implementation 1 --walkthrough w --iteration 1 --force"
    _grown(scenes, root, "started-prompt", words)


def _grown(scenes: Scenes, root: Path, name: str, words: str) -> None:
    shutil.copytree(scenes.at(name), root, symlinks=True)
    scenes.type(root, words)


def _commit(root: Path) -> None:
    _run("git", "-C", root, "add", "-A")
    _run("git", "-C", root, *_WHO, "commit", "-qm", "begin", "--allow-empty")


SCENES: dict[str, Callable[[Scenes, Path], None]] = {
    "long": _long,
    "graph": _graph,
    "waiting": _waiting,
    "failed": _failed,
    "agents": _agents,
    "agents-gate": _agents_gate,
    "agents-check": _agents_check,
    "plan": _plan,
    "started-prompt": _started_prompt,
    "recorded-prompt": _recorded_prompt,
}
