"""A project on which the real agents work: a git repository, porch in it, a scripted vendor."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import commands
from tests.real_agents import MODELS, Room
from tests.standin.request import Request
from tests.standin.steps import Step, edit_file, read_file, run_command, say
from tests.standin.vendors import Vendors

SPEC = "# Specification\n\nGreets.\n\n## Amendments\n\n### x\nIt says what it greets.\n"
AMENDMENT = """# Amendment

## Change
The greeting names whom it greets.

## Why
Nobody felt greeted.

## Affected
The specification and the plan.

## Done when
- The test passes.
"""
CODE = "def greet(name):\n    return f'Hello, {name}'\n"
TEST = "from greet import greet\n\nassert greet('Ada') == 'Hello, Ada'\n"
APPROVAL = "VERDICT: APPROVE\nSUMMARY: It does what the amendment says.\nFINDINGS:\n- none"


@dataclass
class Shop:
    """Where it all happens, and a look at what was left."""

    root: Path
    room: Room
    vendor: Vendors

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def porch(self, *words: str, code: int | None = 0, timeout_s: float = 120) -> str:
        done = commands.run("porch", words, self.root, self.environ, timeout_s)
        told = done.stdout + done.stderr
        assert code in (None, done.returncode), f"exit {done.returncode}\n{told}"
        return told

    @property
    def environ(self) -> dict[str, str]:
        more = {"XDG_CONFIG_HOME": str(self.root.parent / "config"), "PYTHONPATH": ""}
        return {**self.room.environ, **more}

    def records(self) -> list[dict[str, Any]]:
        (path,) = (self.root / ".git" / "porch" / "runs").glob("*/journal.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()]

    def facts(self, kind: str) -> list[dict[str, Any]]:
        return [r["fact"] for r in self.records() if r["fact"]["is"] == kind]

    def entered(self) -> list[str]:
        moves = [move for record in self.records() for move in record["moves"]]
        went = [m.get("position") or m.get("outcome") for m in moves if m["is"] in _ARRIVALS]
        return [str(place).rpartition("#")[0] or str(place) for place in went]


_ARRIVALS = ("Entered", "Ended")


def opened(place: Path, room: Room, vendor: Vendors) -> Shop:
    shop = Shop(place / "project", room, vendor)
    shop.root.mkdir()
    shop.git("init", "-q", "-b", "main")
    for key in ("name", "email"):
        shop.git("config", f"user.{key}", "ada@localhost")
    shop.write("codev/projects/0007-greeting/spec.md", "# Specification\n\nGreets.\n")
    shop.write("codev/config.toml", settings())
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "start")
    return shop


def settings(more: str = "") -> str:
    models = "".join(f'[agents.{name}]\nmodel = "{model}"\n' for name, model in MODELS.items())
    # Before the work there is no test, and nobody has to be asked about that.
    suite = f"test ! -e test_greet.py || {sys.executable} test_greet.py"
    return f'[commands]\ntest = "{suite}"\n{models}{more}'


class Tick:
    """What a diligent model answers in each phase of TICK, whoever's model it is."""

    def __init__(self, root: Path):
        self.root = root
        self.reviews: list[str] = []

    def __call__(self, request: Request) -> Step:
        prompt, done = request.prompt, len(request.results)
        if "## How to reply" in prompt:
            self.reviews.append(request.vendor)
            return say(APPROVAL)
        if "AMENDMENT_WRITTEN" in prompt:
            return self._understand(request)
        if "PHASE_IMPLEMENTED" in prompt:
            return self._implement(done)
        return say("The tests pass.\n\n<signal>VERIFICATION_COMPLETE</signal>")

    def _understand(self, request: Request) -> Step:
        path = re.search(r"codev/\S*?amendment\.md", request.prompt)
        assert path is not None
        spec, amendment = self.root / "codev/projects/0007-greeting/spec.md", self.root / path[0]
        # Both lie there already, and not every agent may write over what it has not read.
        steps = [
            read_file(spec),
            edit_file(spec, SPEC),
            read_file(amendment),
            edit_file(amendment, AMENDMENT),
        ]
        said = say("It is written.\n\n<signal>AMENDMENT_WRITTEN</signal>")
        return [*steps, said][min(len(request.results), len(steps))]

    def _implement(self, done: int) -> Step:
        steps = [
            edit_file(self.root / "greet.py", CODE),
            edit_file(self.root / "test_greet.py", TEST),
            run_command(f"{sys.executable} test_greet.py"),
        ]
        said = say("The test passes.\n\n<signal>PHASE_IMPLEMENTED</signal>")
        return [*steps, said][min(done, 3)]


def living(room: Room) -> list[int]:
    return [pid for pid in room.left() if pid != os.getpid()]
