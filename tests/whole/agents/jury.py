"""Models that review, and an author who answers them; and a witness of how each was started."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.real_agents import Room
from tests.standin.request import Request
from tests.standin.steps import Step, edit_file, read_file, run_command, say, status

SPEC = """# Specification

## Problem
Visitors are not greeted.

## Requirements
R1. A visitor is greeted by name.

## Success criteria
- `greet Ada` prints her name.

## Out of scope
Farewells.

## Open questions
None.
"""
REVISED = SPEC.replace("by name.", "by name, of at most 80 letters.")
NOTE = "The umbrella in the hall is green."
REBUTTAL = "I limited the name. The umbrella stays green: it is the colour of the house."
_NAME = re.compile(r"You are the reviewer `(\w+)`")
_ROUND = re.compile(r"round (\d+)\)")
_FORM = "VERDICT: {}\nSUMMARY: {}\nFINDINGS:\n- {}"
_PATIENCE = 40


def is_review(request: Request) -> bool:
    return "## How to reply" in request.prompt


def approving(summary: str = "It is settled.") -> Step:
    return say(_FORM.format("APPROVE", summary, "none"))


@dataclass
class Story:
    """Round one asks for changes, the author answers, round two approves.

    In round one each reviewer also reads a file that git does not know, and tries what it may not.
    """

    root: Path
    outside: Path
    prompts: dict[tuple[str, int], str] = field(default_factory=dict)
    quoted: dict[str, str] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    there: dict[str, set[str]] = field(default_factory=dict)

    def __call__(self, request: Request) -> Step:
        if is_review(request):
            return self._review(request)
        if "specify:revise" in request.prompt and "Findings of the reviewers" in request.prompt:
            return self._write(
                request, REVISED, f"{REBUTTAL}\n\n<signal>REVISION_COMPLETE</signal>"
            )
        if "PLAN_DRAFTED" in request.prompt:
            return say("<signal>BLOCKED: who pays for it?</signal>")
        return self._write(request, SPEC, "It is written.\n\n<signal>SPEC_DRAFTED</signal>")

    def _write(self, request: Request, text: str, said: str) -> Step:
        path = self.root / "codev/projects/0007-greeting/spec.md"
        steps = [read_file(path), edit_file(path, text), say(said)]
        return steps[min(len(request.results), 2)]

    def _review(self, request: Request) -> Step:
        name, round_ = reviewer(request)
        self.prompts[(name, round_)] = request.prompt
        if round_ > 1:
            return approving()
        done = len(request.results)
        attempts = self._attempts(name)
        if done < len(attempts):
            return attempts[done]
        came = {each for each, _ in self.prompts}
        if len(came) < 3 and done < _PATIENCE:
            # Whoever is early stays until all have come, so all of them were there at once.
            return read_file(self.root / f"nothing-{done}.txt").saying("wait " * 4).slowly(0.2)
        self.tried[name], self.there[name] = len(attempts), came
        self.quoted[name] = next((NOTE for told in request.results if NOTE in told), "nothing")
        finding = f"{name} read: {self.quoted[name]}"
        return say(_FORM.format("REQUEST_CHANGES", f"{name} is not content", finding))

    def _attempts(self, name: str) -> list[Step]:
        here, away = self.root / f"planted-{name}.txt", self.outside / f"planted-{name}.txt"
        return [
            read_file(self.root / "hall.txt"),
            edit_file(here, "planted\n"),
            edit_file(away, "planted\n"),
            run_command(f"echo planted > {here}; touch {away}; git commit --allow-empty -m x"),
        ]


@dataclass
class Troubled:
    """One reviewer is not logged in, one is told to come back in a second, one approves."""

    asked: dict[str, int] = field(default_factory=dict)

    def __call__(self, request: Request) -> Step:
        if not is_review(request):
            return say("<signal>DONE</signal>")
        name, _ = reviewer(request)
        self.asked[name] = self.asked.get(name, 0) + 1
        if name == "claude":
            return status(401, "who are you?")
        if name == "swift" and self.asked[name] == 1:
            return status(429, "slow down", retry_after="1")
        return approving()


def reviewer(request: Request) -> tuple[str, int]:
    name, round_ = _NAME.search(request.prompt), _ROUND.search(request.prompt)
    assert name is not None
    assert round_ is not None
    return name[1], int(round_[1])


@dataclass(frozen=True, slots=True)
class Start:
    """How an agent was started: who, with which words, in which environment."""

    name: str
    argv: list[str]
    environ: dict[str, str]


@dataclass(frozen=True, slots=True)
class Witness:
    """Stands at the door of each command line and writes down how it is called."""

    notes: Path

    def starts(self, name: str = "") -> list[Start]:
        found = []
        for path in self.notes.glob(f"{name or '*'}.*.argv"):
            pairs = path.with_suffix(".env").read_text().split("\0")
            environ = dict(pair.split("=", 1) for pair in pairs if pair)
            found.append(Start(path.name.split(".")[0], path.read_text().split("\0")[:-1], environ))
        return found


def witness(room: Room, notes: Path) -> Witness:
    notes.mkdir()
    for command in Path(room.environ["PATH"].split(":")[0]).iterdir():
        here = f"{notes}/{command.name}.$$"
        noted = f"env -0 > {here}.env\nprintf '%s\\0' \"$@\" > {here}.argv\n"
        first, rest = command.read_text().split("\n", 1)
        command.write_text(f"{first}\n{noted}{rest}")
    return Witness(notes)
