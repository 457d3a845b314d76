"""Trees of growing size with five members at a time: a state costs the same in all of them."""

import json
import resource
import shutil
import subprocess
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import porch
from bench import tree
from bench.measure import Result
from porch import agents
from porch.cli.products import PRODUCTS
from porch.machine.state import RunState
from porch.run.engine.drive_options import DriveWatch, RunRequest
from porch.run.engine.driver import DriveManner
from porch.run.handlers.products import Products
from porch.run.verbs import launch
from porch.store import where

# From the smallest of these trees to the largest; all of them have five members at a time.
SIZES = (5, 25, 101, 201)
GROWTH = 1.2
# A bare worktree, a commit and a merge against everything that an instance takes, and against
# removing the same worktrees with git.
ALL_CPU = 2.5
CLEANUP = 1.5
BATCH = 4


@dataclass
class Grown:
    """What a tree of some size took, from its first record to its last."""

    instances: int
    states: int
    cpu_s: float
    cleanup_s: float
    bare_cpu_s: float
    bare_cleanup_s: float

    @property
    def per_state(self) -> float:
        return self.cpu_s / self.states

    def describe(self) -> str:
        return f"{1000 * self.per_state:.1f} ms of CPU per state, {self.instances} instances"


def results(place: Path) -> list[Result]:
    """Processor time, not the clock: a tree of 200 takes minutes, and others work meanwhile."""
    found = [_grow(place / f"size-{size}", size) for size in SIZES]
    first, last = found[0], found[-1]
    growth = max(each.per_state for each in found) / first.per_state
    rows = [
        Result(
            f"time per state in a tree of {last.instances} / in one of {first.instances}",
            round(growth, 2),
            GROWTH,
            "times",
            last.describe(),
            first.describe(),
            1,
        )
    ]
    for each in found:
        bare, mine = each.bare_cpu_s, each.cpu_s / each.instances
        rows.append(
            Result(
                f"all CPU of an instance, in a tree of {each.instances} / worktree, commit, merge",
                round(mine / bare, 2),
                ALL_CPU,
                "times",
                f"{1000 * mine:.1f} ms",
                f"{1000 * bare:.1f} ms",
                1,
            )
        )
    cleanup = last.cleanup_s / last.bare_cleanup_s
    told = f"{1000 * last.cleanup_s:.1f} ms", f"{1000 * last.bare_cleanup_s:.1f} ms"
    name = f"removing the worktrees of {last.instances} instances / git doing so"
    return [*rows, Result(name, round(cleanup, 2), CLEANUP, "times", *told, 1)]


def _grow(repo: Path, size: int) -> Grown:
    clock = CpuClock()
    products = PRODUCTS._replace(remove_finished_worktrees=clock.time_removal)
    state = drive_tree(repo, size, DriveWatch(record=clock.hear), products)
    bare, cleanup = _bare_members(tree.make_repository(repo.with_name(f"{repo.name}-bare")), size)
    states = tree.count_states(state)
    return Grown(size, states, clock.last - clock.first, clock.removal, bare, cleanup)


def drive_tree(repo: Path, size: int, watch: DriveWatch, products: Products = PRODUCTS) -> RunState:
    """The root plans four children, and when they have settled four others, to the end."""
    tree.make_repository(repo)
    _raise_limits(repo, size)
    children = [f"n{number}" for number in range(size - 1)]
    criteria = [{"id": name, "text": "is there"} for name in ("root", *children)]
    about = {"id": "root", "description": "all", **tree.make_paths("root")}
    (repo / "spec.yaml").write_text(json.dumps({**about, "acceptanceCriteria": criteria}))
    agents.AGENTS._rows["growing"] = tree.make_agent(GrowingTree(children).answer)  # noqa: SLF001
    wanted = RunRequest("v3", str(repo / "spec.yaml"), agent="growing", into="main")
    project = where.find_project(str(repo))
    state = launch.start_run(project, wanted, DriveManner(), watch, products).state
    if state.outcome != "complete" or len(state.instances) != size:
        raise RuntimeError(f"the tree did not come out: {state.outcome}")
    return state


class CpuClock:
    """Processor time at the first and the last record, and what removing took."""

    def __init__(self) -> None:
        self.first = self.last = self.removal = 0.0

    def hear(self, _record: Any, _state: RunState) -> None:
        self.last = _read_cpu()
        self.first = self.first or self.last

    def time_removal(self, world: Any, names: Collection[str] = ()) -> list[str]:
        began = time.thread_time() + _read_cpu(resource.RUSAGE_CHILDREN)
        gone = PRODUCTS.remove_finished_worktrees(world, names)
        self.removal += time.thread_time() + _read_cpu(resource.RUSAGE_CHILDREN) - began
        return gone


def _read_cpu(*who: int) -> float:
    used = [resource.getrusage(each) for each in who or (0, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _raise_limits(repo: Path, size: int) -> None:
    """The packaged protocol as a file of the project, with room for so many instances."""
    place = repo / "codev" / "protocols"
    shutil.copytree(Path(porch.__file__).parent / "protocols" / "v3", place)
    graph = (place / "v3.graph.yaml").read_text()
    for old, new in (
        ("instances: 25", f"instances: {size + BATCH}"),
        ("epochs: 3 ", f"epochs: {size} "),
    ):
        if old not in graph:
            raise RuntimeError(f"the graph does not say '{old}'")
        graph = graph.replace(old, new)
    (place / "v3.graph.yaml").write_text(graph)


def _bare_members(repo: Path, count: int) -> tuple[float, float]:
    """Worktree, commit and merge of each; then three worktrees of each, and removing those."""
    who = "-c user.name=bench -c user.email=bench@localhost"
    work = f"""
set -e
for n in $(seq {count}); do
    git worktree add -q -b b$n w$n
    echo $n > w$n/file$n
    git -C w$n add file$n
    git -C w$n {who} commit -qm $n
    git {who} merge -q --squash b$n >/dev/null
    git {who} commit -qm $n
done
"""
    more = f"""
set -e
for n in $(seq {count}); do
    git worktree add -q -b t$n t$n
    git worktree add -q --detach r$n
done
"""
    removal = f"""
set -e
for n in $(seq {count}); do
    git worktree remove --force w$n
    git worktree remove --force t$n
    git worktree remove --force r$n
    git branch -q -D b$n t$n
done
"""
    worked = _cpu_of_script(repo, work) / count
    _cpu_of_script(repo, more)
    return worked, _cpu_of_script(repo, removal)


def _cpu_of_script(repo: Path, script: str) -> float:
    began = _read_cpu(resource.RUSAGE_CHILDREN)
    subprocess.run(["sh", "-c", script], cwd=repo, check=True)
    return _read_cpu(resource.RUSAGE_CHILDREN) - began


class GrowingTree:
    """Answers for a root that plans anew whenever its children have settled."""

    def __init__(self, children: list[str]):
        self._children = children
        self._batch = 0

    def answer(self, state: str, instance: str) -> tree.Answer:
        if instance:
            return tree.give_answer(state, instance)
        first = BATCH * self._batch
        if state == "scaffold":
            names = self._children[first : first + BATCH]
            return tree.make_plan(
                "root", [tree.make_child_spec("", name) for name in names], self._others
            )
        if state == "impl" and first + BATCH < len(self._children):
            self._batch += 1
            blocked = {"missingSymbol": f"s{self._batch}", "expectedImportPath": "src/more"}
            return {}, "BlockedDependency", blocked
        if state == "review":
            named = [[name, name] for name in ("root", *self._children)]
            covered = {"criteriaWithTests": named, "criteriaMissing": []}
            return {}, "Approved", {"signOff": "good", "coverageReport": covered}
        return tree.give_answer(state, instance)

    @property
    def _others(self) -> list[str]:
        first = BATCH * self._batch
        return [*self._children[:first], *self._children[first + BATCH :]]
