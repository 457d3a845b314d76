"""Trees of instances with agents that answer at once: what the engine takes per state."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.measure import Result
from porch import agents
from porch.agents.port import PreparedTurn, Turn
from porch.agents.scripted import adapter as scripted
from porch.cli.products import PRODUCTS
from porch.machine.state import RunState
from porch.run.engine.drive_options import DriveWatch, RunRequest
from porch.run.engine.driver import DriveManner
from porch.run.verbs import launch
from porch.store import where

LIMIT = 1.8
# Nobody asked for a number. An instance starts some 56 processes (45 of git, 11 suites and agents),
# the reference starts four; the bound is what these would cost at the price of those, and nothing
# for the engine itself. How many there are is a row of its own, which no busy machine changes.
PROCESSES = 57
PER_INSTANCE = 18.0
INSTANCES = 25
# A suite in a few milliseconds, without a process for each test: a test names the file it needs.
SUITE = r"""
echo '<testsuite>' > "$PORCH_REPORT"
code=0
for need in tests/*/need; do
    [ -e "$need" ] || continue
    name=${need%/need}; name=${name#tests/}
    path=; read -r path < "$need" || :
    if [ -e "$path" ]; then
        echo "<testcase name=\"$name\" file=\"$need\"/>" >> "$PORCH_REPORT"
    else
        code=1
        echo "<testcase name=\"$name\" file=\"$need\"><failure message=\"missing\"/></testcase>" \
            >> "$PORCH_REPORT"
    fi
done
echo '</testsuite>' >> "$PORCH_REPORT"
exit $code
"""
# What each planner names: five children, of whom four have four and one has three.
PLAN = {"": list("abcde"), **{k: list("wxyz") for k in "abcd"}, "e": list("wxy")}


def results(place: Path) -> list[Result]:
    # Before and after, so that a machine that grows busy meanwhile slows both.
    before = _bare(make_repository(place / "before"), INSTANCES)
    repository, counter = make_repository(place / "repo"), ProcessCounter()
    seconds, states = _run(repository)
    started = counter.stop() / INSTANCES
    bare = (before + _bare(make_repository(place / "after"), INSTANCES)) / 2
    value = seconds / states / bare
    told = f"{1000 * seconds / states:.1f} ms over {states} states"
    name = "engine's time per state of a tree / worktree add + commit"
    floor = f"{1000 * bare:.1f} ms"
    each = seconds / INSTANCES
    of_each = f"{1000 * each:.1f} ms over {INSTANCES} instances"
    per_instance = "engine's time per instance of a tree / worktree add + commit"
    return [
        Result(name, round(value, 2), LIMIT, "times", told, floor, 1),
        # The floor is that of an instance, so this is the honest one of the two.
        Result(per_instance, round(each / bare, 2), PER_INSTANCE, "times", of_each, floor, 1),
        Result("processes of an instance", round(started, 1), PROCESSES, "", "of all kinds", "", 1),
    ]


class ProcessCounter:
    """Counts the processes that are started from now on; hooks of the interpreter stay for good."""

    def __init__(self) -> None:
        self._count = 0
        self._is_counting = True
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _: tuple[Any, ...]) -> None:
        self._count += self._is_counting and event in ("subprocess.Popen", "os.posix_spawn")

    def stop(self) -> int:
        self._is_counting = False
        return self._count


def make_repository(repo: Path, files: int = 0, members: int = 0) -> Path:
    """A project with a suite; `files` is how many others it has.

    `members` is of how many it has the work already, with their tests, as if they had merged.
    """
    (repo / "codev").mkdir(parents=True)
    for number in range(files):
        _write_file(repo, f"lib/{number // 100}/{number}.txt", f"{number}\n" * 20)
    for number in range(members):
        for name, text in _list_member_files(f"before{number}").items():
            _write_file(repo, name, text)
    (repo / "suite.sh").write_text(SUITE)
    (repo / "codev" / "config.toml").write_text(
        "[commands]\ntest = 'sh ./suite.sh'\n[agent]\nmax_running = 1\n"
    )
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "start")):
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        subprocess.run(["git", "-C", str(repo), *identity, *words], check=True)
    return repo


def _write_file(place: Path, name: str, text: str) -> None:
    path = place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _list_member_files(name: str) -> dict[str, str]:
    """All that a member without children adds to its project."""
    states = ("scaffold", "write_tests", "impl")
    return {path: text for state in states for path, text in give_answer(state, name)[0].items()}


def _bare(repo: Path, count: int) -> float:
    """The least that an instance can cost: a worktree and one commit in it, by a shell script."""
    script = f"""
set -e
for n in $(seq {count}); do
    git worktree add -q -b b$n w$n
    echo $n > w$n/file
    git -C w$n add file
    git -C w$n -c user.name=bench -c user.email=bench@localhost commit -qm $n
done
"""
    began = time.perf_counter()
    subprocess.run(["sh", "-c", script], cwd=repo, check=True)
    return (time.perf_counter() - began) / count


def _run(repo: Path) -> tuple[float, int]:
    spec = {"id": "root", "description": "all", **make_paths("root")}
    (repo / "spec.yaml").write_text(json.dumps({**spec, "acceptanceCriteria": _criteria("")}))
    agents.AGENTS._rows["instant"] = make_agent(give_answer)  # noqa: SLF001 - a row of this measurement alone
    wanted = RunRequest("v3", str(repo / "spec.yaml"), agent="instant", into="main")
    began = time.perf_counter()
    driven = launch.start_run(
        where.find_project(str(repo)), wanted, DriveManner(), watch=DriveWatch(), products=PRODUCTS
    )
    seconds = time.perf_counter() - began
    if driven.state.outcome != "complete" or len(driven.state.instances) != INSTANCES:
        raise RuntimeError(f"the tree did not come out: {driven.state.outcome}")
    return seconds, count_states(driven.state)


def count_states(state: RunState) -> int:
    """Entries into states in which something had to be done."""
    idle = ("children", "ready")
    return sum(count for (_, name, _), count in state.visits.items() if name not in idle)


def make_agent(answer: "AnswerQuestion") -> Any:
    def load() -> Any:
        instant = ModuleType("instant")
        prepare = partial(_prepare, answer)
        vars(instant).update({**vars(scripted), "prepare": prepare})
        return instant

    return load


def _prepare(answer: "AnswerQuestion", turn: Turn) -> PreparedTurn:
    files, exit_, payload = answer(str(turn.request["state"]), str(turn.request["instance"]))
    for name, text in files.items():
        _write_file(Path(turn.workspace), name, text)
    events: list[dict[str, Any]] = [
        {"type": "session", "id": "s"},
        {"type": "answer", "exit": exit_, "payload": payload},
        {"type": "final", "text": "done"},
    ]
    said = os.path.join(turn.directory, "said.jsonl")
    Path(said).write_text("".join(json.dumps(event) + "\n" for event in events))
    output = os.path.join(turn.directory, "transcript.jsonl")
    return PreparedTurn(
        ("/bin/cat", said), {}, None, output, os.path.join(turn.directory, "errors")
    )


Answer = tuple[Mapping[str, str], str, Mapping[str, Any]]
AnswerQuestion = Callable[[str, str], Answer]


def _name(instance: str) -> str:
    return instance.replace(".", "_") or "root"


def make_paths(name: str) -> dict[str, str]:
    return {"targetPath": f"src/{name}", "testPath": f"tests/{name}"}


def _criteria(instance: str) -> list[dict[str, str]]:
    """An instance's own, and all of those below it."""
    below = [c for child in PLAN.get(instance, ()) for c in _criteria(_child(instance, child))]
    return [{"id": _name(instance), "text": "is there"}, *below]


def _child(instance: str, key: str) -> str:
    return f"{instance}.{key}" if instance else key


def give_answer(state: str, instance: str) -> Answer:
    name = _name(instance)
    match state:
        case "scaffold":
            return _scaffold(instance, name)
        case "write_tests":
            test = f"tests/{name}/need"
            return {test: f"src/{name}/code"}, "TestsReady", _ready(test, name)
        case "impl":
            passed = {"iterations": 1, "passedTests": [name]}
            return {f"src/{name}/code": "code\n"}, "TestsPassed", passed
        case "review":
            covered = {"criteriaWithTests": [[name, name]], "criteriaMissing": []}
            return {}, "Approved", {"signOff": "good", "coverageReport": covered}
        case "merger":
            return {}, "MergeComplete", {"impactLevel": "Additive", "changes": []}
        case _:
            return {}, "Accepted", {"reason": "good"}


def _ready(test: str, name: str) -> dict[str, Any]:
    return {"testFiles": [test], "pendingCriteria": [name]}


def _scaffold(instance: str, name: str) -> Answer:
    return make_plan(name, [make_child_spec(instance, key) for key in PLAN.get(instance, ())])


def make_child_spec(instance: str, key: str) -> dict[str, Any]:
    return {
        "id": key,
        "description": key,
        "acceptanceCriteria": _criteria(_child(instance, key)),
        **make_paths(_name(_child(instance, key))),
    }


def make_plan(name: str, children: list[dict[str, Any]], own: Collection[str] = ()) -> Answer:
    """`own` are criteria of others for which this one has tests itself."""
    files = {f"src/{name}/api": "api\n", f"tests/{name}/contract": "contract\n"}
    plan = [
        {"criterionId": each, "plannedTestName": each, "approach": "look"} for each in (name, *own)
    ]
    payload = {
        "interfaceFile": f"src/{name}/api",
        "contractSuite": f"tests/{name}/contract",
        "testPlan": plan,
        "childSpecs": children or None,
        "interfaces": None,
    }
    return files, "InitWork", payload
