"""One run of v3 without a driver: the test says which effect is performed, and how it is answered.

Tests are shell files, one case each: they cost next to nothing; git, agents and suites are real.
"""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Awaitable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.machine.effects import AskAgent, MoveBranch, Request
from porch.model.definition import Definition
from porch.run.agents.roster import Roster
from porch.run.agents.world import World
from porch.run.definitions import library
from porch.run.settings import Settings
from porch.system import process_marks
from porch.system.clock import Clock
from porch.testing import Rig
from porch.tree import branch_moves, questions
from tests.repositories import make_repository

SUITE = """
code=0
{
  echo '<testsuites><testsuite>'
  for file in $(find tests -name '*.sh' | sort); do
    echo "<testcase classname='tests' name='$(basename "$file" .sh)' file='$file'>"
    sh "$file" >/dev/null 2>&1 || { code=1; echo "<failure message='no'/>"; }
    echo '</testcase>'
  done
  echo '</testsuite></testsuites>'
} > "$PORCH_REPORT"
exit $code
"""
SPEC: dict[str, Any] = {
    "id": "sum",
    "description": "A sum",
    "acceptanceCriteria": [{"id": "c1", "text": "it is there"}],
    "targetPath": "src",
    "testPath": "tests/sum",
    "complexityConstraints": None,
    "alsoWrites": ["src/shared.txt"],
}
# What only the spec of a whole run has.
ROOT_ONLY = ("complexityConstraints", "alsoWrites")
SCAFFOLD: dict[str, Any] = {
    "write": {"api.txt": "sum\n", "tests/sum/contract.sh": "test -f api.txt\n"},
    "exit": "InitWork",
    "payload": {
        "interfaceFile": "api.txt",
        "contractSuite": "tests/sum/contract.sh",
        "testPlan": [{"criterionId": "c1", "plannedTestName": "there", "approach": "look"}],
    },
}
TESTS: dict[str, Any] = {
    "write": {"tests/sum/there.sh": "test -f src/sum.txt\n"},
    "exit": "TestsReady",
    "payload": {"testFiles": ["tests/sum/there.sh"], "pendingCriteria": ["c1"]},
}
IMPL: dict[str, Any] = {
    "write": {"src/sum.txt": "one\ntwo\nthree\n"},
    "exit": "TestsPassed",
    "payload": {"iterations": 1, "passedTests": ["there"]},
}
REVIEW: dict[str, Any] = {
    "exit": "Approved",
    "payload": {
        "signOff": "good",
        "coverageReport": {"criteriaWithTests": [["c1", "there"]], "criteriaMissing": []},
    },
}
GOOD: Mapping[str, Mapping[str, Any]] = {
    "scaffold": SCAFFOLD,
    "write_tests": TESTS,
    "impl": IMPL,
    "review": REVIEW,
    "merger": {"exit": "MergeComplete", "payload": {"impactLevel": "Trivial", "changes": []}},
    "judge": {"exit": "Accepted", "payload": {"reason": "good"}},
}


class Bench:
    """A repository and a run over it, moved one effect at a time."""

    def __init__(
        self,
        base: Path,
        definition: Definition,
        into: str = "main",
        spec: Mapping[str, Any] = SPEC,
    ):
        self.base, self.root, self.told = base, base / "project", list[str]()
        (base / "run").mkdir(parents=True)
        make_repository(self.root, {"README.md": "Sums.\n"}, message="start")
        runner = base / "suite.sh"
        runner.write_text(SUITE)
        self._start, self._protocol = (into, spec), add_engine_states(definition.protocol)
        self.rig = Rig(self._protocol)
        self.world = World(
            workspace=str(self.root),
            directory=str(base / "run"),
            mark=f"porch-bench-{os.getpid()}-{base.parent.name}-{base.name}",
            settings=Settings(commands={"test": f"sh {runner}"}),
            roster=Roster(Settings(), "scripted"),
            clock=Clock(),
            state=lambda: self.rig.state,
            definition=lambda: definition,
            progress=lambda _effect, text: self.told.append(text),
            script=str(base / "script.yaml"),
            in_git=True,
        )
        self.restart(self.git("rev-parse", "HEAD"))

    def restart(self, base: str) -> None:
        """The run begins on this commit; nothing of one before is left."""
        into, spec = self._start
        self.rig = Rig(self._protocol)
        self.rig.tell(
            f.RunStarted(
                run="v3_sum",
                id="sum",
                title="sum",
                protocol="v3",
                digest="d0",
                spec=spec,
                branch="porch/v3_sum",
                into=into,
                base_commit=base,
            )
        )

    @staticmethod
    def changed(request: Any, **fields: Any) -> Any:
        return replace(request, **fields)

    def git(self, *words: str, at: str = "") -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.root / at,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def save(self, name: str, text: str, at: str = "") -> str:
        """A commit of one file, in the person's checkout or in a worktree."""
        self.write(f"{at}/{name}" if at else name, text)
        self.git("add", "-A", at=at)
        self.git("commit", "-q", "-m", f"say {name}", at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def setting(self, **changed: Any) -> None:
        self.world = replace(self.world, settings=replace(self.world.settings, **changed))

    def wanted(self, where: str) -> Any:
        """The request that is wanted at a state such as `impl` or `add/impl`."""
        found = [r for r in self.rig.wanted() if r.position.rpartition("#")[0] == where]
        assert found, f"{where} is not wanted, but {[r.position for r in self.rig.wanted()]}"
        return found[0]

    def script(self, where: str, entry: Mapping[str, Any]) -> None:
        name = where if "/" in where else f"./{where}"
        Path(self.world.script).write_text(json.dumps({"agents": {name: [entry]}}))

    def perform(self, request: Request) -> Any:
        """What comes of an effect; nobody is told."""
        if isinstance(request, AskAgent):
            return asyncio.run(questions.run_question(self.world, request))
        assert isinstance(request, MoveBranch)
        return asyncio.run(branch_moves.run_branch_move(self.world, request))

    def attempt(self, where: str, entry: Mapping[str, Any] | None = None) -> Any:
        """Perform what is wanted at a state, answered as said or well."""
        request = self.wanted(where)
        if isinstance(request, AskAgent):
            self.script(where, entry if entry is not None else GOOD[request.state])
        return self.perform(request)

    def do(self, where: str, entry: Mapping[str, Any] | None = None) -> Any:
        """The same, and the machine is told."""
        fact = self.attempt(where, entry)
        self.rig.tell(fact)
        return fact

    def until(self, *states: str) -> "Bench":
        """Everything well up to and with the last of these states."""
        for state in states:
            self.do(state)
        return self

    async def stopped(self, work: Awaitable[Any], sign: Path) -> Any:
        """What comes of work that is stopped once a file is there."""
        task = asyncio.ensure_future(work)
        await asyncio.to_thread(_wait_for, sign)
        task.cancel()
        return await task

    def turn(self, request: AskAgent, number: int = 1) -> Path:
        return Path(self.world.turn_directory(request.id)) / f"turn-{number}"

    def prompt(self, request: AskAgent, number: int = 1) -> str:
        return (self.turn(request, number) / "prompt.md").read_text()

    @property
    def main(self) -> str:
        """The root's own worktree, from the repository."""
        return os.path.join("worktrees", "v3_sum")


def decide(bench: Bench, exit_: str) -> None:
    """What a person says to the one question that is open."""
    [request] = [each for each in bench.rig.wanted() if each.kind == "ask"]
    bench.rig.tell(f.DecisionAsked(effect=request.id, digest=""))
    [decision] = bench.rig.state.decisions.values()
    wish = f.Wish(id=decision.position, kind="decide", position=decision.position, exit=exit_)
    bench.rig.tell(f.WishTaken(wish=wish))


def _wait_for(sign: Path) -> None:
    end = time.monotonic() + 30
    while not sign.exists():
        assert time.monotonic() < end, f"{sign} never came"
        time.sleep(0.02)


TO_TESTS = ("scaffold", "contract", "write_tests", "integrate")
TO_REVIEW = (*TO_TESTS, "impl", "review")


@pytest.fixture(scope="session")
def v3() -> Definition:
    return library.load_protocol(os.path.join(library.PACKAGED, "v3", "v3.graph.yaml")).demand()


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("GIT_", "PORCH_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[user]\nname = Ann\nemail = ann@example.org\n")


@pytest.fixture
def bench(tmp_path: Path, person: None, v3: Definition) -> Iterator[Bench]:
    made = Bench(tmp_path / "bench", v3)
    yield made
    process_marks.reap_processes(f"{made.world.mark}:")
