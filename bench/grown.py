"""Trees of growing size with five members at a time: a state costs the same in all of them.

What the size of a tree costs is asked here, not what the size of a project costs. Members add files
and tests, and for more of them git checks out more, and a suite runs longer, whoever calls them. So
a small tree begins in a project that has the work of other members already. On average over the
life of a tree, its project has the same number of files and tests in all of them. How much bare git
grew in the same run is told beside it: that is what the machine did. The smallest tree is done
several times between the others, since it takes seconds and they take minutes.
"""

import json
import os
import resource
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import porch
from bench import tree
from bench.bare_members import BareGit, BareMembers
from bench.measure import Result
from porch import agents
from porch.cli.products import PRODUCTS
from porch.machine.state import RunState
from porch.run.engine.drive_options import DriveWatch, RunRequest
from porch.run.engine.driver import DriveManner
from porch.run.handlers.products import Products
from porch.run.verbs import launch
from porch.store import where
from porch.system import short_process

# From the smallest of these trees to the largest; all of them have five members at a time.
SIZES = (5, 25, 100, 200)
# What a project has before anybody adds anything. In an empty one the files that members add are
# all there is to check out, and git takes in proportion to them, whoever calls it.
FILES = 2_000
GROWTH = 1.2
# Everything that an instance takes against bare worktrees, commits and a merge; and removing its
# worktrees against git doing so.
ALL_CPU = 2.5
CLEANUP = 1.5
BATCH = 4


@dataclass
class Grown:
    """What a tree of some size took, from its first record to its last; CPU in seconds."""

    instances: int
    states: int
    cpu_s: float
    porch_s: float  # of porch alone
    gits: int
    cleanup_s: float
    bare: BareGit


def results(place: Path) -> list[Result]:
    """Processor time, not the clock: a tree of 200 takes minutes, and others work meanwhile."""
    # The first tree loads modules and templates, which none of the others pays for.
    drive_tree(place / "warm", 2, DriveWatch())
    found = _grow_all(place)
    last = found[-1]
    return [
        *_compare_sizes(found),
        _tell_growth_of_git(found),
        *(row for each in found for row in _compare_with_git(each)),
        _compare_removal(last),
    ]


def _grow_all(place: Path) -> list[Grown]:
    """The smallest before each of the others and behind the last: a disk changes within minutes."""
    small, *larger = SIZES
    smallest, others = [_grow(place / f"size-{small}", small)], []
    for size in larger:
        others.append(_grow(place / f"size-{size}", size))
        smallest.append(_grow(place / f"size-{small}-behind-{size}", small))
    return [_find_mean(smallest), *others]


def _find_mean(found: list[Grown]) -> Grown:
    """Trees of one size as one; states and calls of git are the same in all of them."""
    names = ("cpu_s", "porch_s", "cleanup_s")
    means: dict[str, Any] = {name: fmean(getattr(each, name) for each in found) for name in names}
    work = ("least_s", "work_s", "removal_s")
    bare = BareGit(*(fmean(getattr(each.bare, name) for each in found) for name in work))
    return replace(found[0], bare=bare, **means)


def _compare_sizes(found: list[Grown]) -> list[Result]:
    """The worst of the larger against the smallest: everything, and what is porch's part of it."""
    rows = (
        ("all CPU per state", lambda each: each.cpu_s, lambda value: f"{1000 * value:.1f} ms"),
        ("CPU of porch alone per state", lambda each: each.porch_s, lambda v: f"{1000 * v:.1f} ms"),
        ("git processes per state", lambda each: each.gits, lambda value: f"{value:.2f}"),
    )
    return [_compare_growth(found, *row) for row in rows]


def _compare_growth(
    found: list[Grown], what: str, take: Callable[[Grown], float], show: Callable[[float], str]
) -> Result:
    first, last = found[0].instances, found[-1].instances
    values = [take(each) / each.states for each in found]
    name = f"{what}, {FILES:,} files, in trees of up to {last} / in one of {first}"
    worst = max(values[1:])
    told = show(worst), show(values[0])
    return Result(name, round(worst / values[0], 2), GROWTH, "times", *told, 1)


def _tell_growth_of_git(found: list[Grown]) -> Result:
    """The same work by git alone, beside each of the trees; it knows of no tree."""
    first, last = found[0].instances, found[-1].instances
    values = [each.bare.work_s + each.bare.removal_s for each in found]
    name = f"CPU of bare git for a member, beside trees of up to {last} / beside one of {first}"
    worst = max(values[1:])
    return Result(name, round(worst / values[0], 2), None, "times", _ms(worst), _ms(values[0]), 1)


_ALL = "all CPU of an instance, agents and suites too"
_WORK_SAID = "bare git making the same worktrees, commits and merge"
_LEAST_SAID = "one bare worktree, commit and merge"


def _compare_with_git(grown: Grown) -> list[Result]:
    """Everything that runs, against git doing what an instance asks of it, and against the least.

    Decision 58 says why the second cannot hold for a protocol with three worktrees.
    """
    size, mine, bare = grown.instances, grown.cpu_s / grown.instances, grown.bare
    rows = ((_WORK_SAID, bare.work_s), (_LEAST_SAID, bare.least_s))
    return [
        Result(
            f"{_ALL}, tree of {size} / {said}",
            round(mine / theirs, 2),
            ALL_CPU,
            "times",
            _ms(mine),
            _ms(theirs),
            1,
        )
        for said, theirs in rows
    ]


def _compare_removal(grown: Grown) -> Result:
    mine, theirs = grown.cleanup_s, grown.bare.removal_s * grown.instances
    name = f"removing the worktrees of {grown.instances} instances / git doing so"
    return Result(name, round(mine / theirs, 2), CLEANUP, "times", _ms(mine), _ms(theirs), 1)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


def _grow(repo: Path, size: int) -> Grown:
    before = count_members_before(size)
    place = repo.with_name(f"{repo.name}-bare")
    beside = BareMembers(place, FILES, before=before, on_average=SIZES[-1] // 2)
    with count_git_cpu() as of_git:
        clock = CpuClock(of_git, beside)
        products = PRODUCTS._replace(remove_finished_worktrees=clock.time_removal)
        make = partial(tree.make_repository, files=FILES, members=before)
        state = drive_tree(repo, size, DriveWatch(record=clock.hear), products, make)
    bare = beside.find_means(size)
    return Grown(
        instances=size,
        states=tree.count_states(state),
        cpu_s=clock.all,
        porch_s=clock.porch,
        gits=of_git.calls,
        cleanup_s=clock.removal,
        bare=bare,
    )


def count_members_before(size: int) -> int:
    """Of so many members a project has the work when a tree begins in it.

    From the first member to the last a tree adds half of its members' work on average.
    """
    return (SIZES[-1] - size) // 2


class GitCpu:
    """The CPU of each git that porch starts, and of which thread it was."""

    def __init__(self) -> None:
        self.calls = 0
        self._seconds: dict[int, float] = {}

    def add(self, seconds: float) -> None:
        self.calls += 1
        thread = threading.get_ident()
        self._seconds[thread] = self._seconds.get(thread, 0.0) + seconds

    @property
    def of_this_thread_s(self) -> float:
        return self._seconds.get(threading.get_ident(), 0.0)


@contextmanager
def count_git_cpu() -> Iterator[GitCpu]:
    """Each git that porch starts is counted; agents and suites come another way."""
    used = GitCpu()
    wait = short_process._wait  # noqa: SLF001 - where porch waits for git, and only for git

    def wait_and_count(pid: int, deadline: float | None) -> int:
        del deadline
        _, status, usage = os.wait4(pid, 0)
        used.add(usage.ru_utime + usage.ru_stime)
        return os.waitstatus_to_exitcode(status)

    short_process._wait = wait_and_count  # noqa: SLF001
    try:
        yield used
    finally:
        short_process._wait = wait  # noqa: SLF001


def drive_tree(
    repo: Path,
    size: int,
    watch: DriveWatch,
    products: Products = PRODUCTS,
    make_repository: Callable[[Path], Path] = tree.make_repository,
) -> RunState:
    """The root plans four children, and when they have settled four others, to the end."""
    make_repository(repo)
    _raise_limits(repo, size)
    children = [f"n{number}" for number in range(size - 1)]
    criteria = [{"id": name, "text": "is there"} for name in ("root", *children)]
    about = {"id": "root", "description": "all", **tree.make_paths("root")}
    (repo / "spec.yaml").write_text(json.dumps({**about, "acceptanceCriteria": criteria}))
    agents.AGENTS._rows["growing"] = tree.make_agent(GrowingTree(children).answer)  # noqa: SLF001
    wanted = RunRequest("v3", str(repo / "spec.yaml"), agent="growing", into="main")
    project = where.find_project(str(repo))
    state = launch.start_run(project, wanted, DriveManner(), watch=watch, products=products).state
    if state.outcome != "complete" or len(state.instances) != size:
        raise RuntimeError(f"the tree did not come out: {state.outcome}")
    return state


class CpuClock:
    """Processor time between the first record and the last: all of it, and that of porch alone.

    Whenever a member has settled, bare git does what one takes, on the same disk in the same state:
    what making files costs there changes tenfold within minutes.
    """

    def __init__(self, of_git: GitCpu, beside: BareMembers) -> None:
        self.all = self.porch = self.removal = 0.0
        self._of_git, self._beside = of_git, beside
        self._first: tuple[float, float] | None = None

    def hear(self, _record: Any, state: RunState) -> None:
        now = self._read()
        first = self._first = self._first or now
        self.all, self.porch = (n - f for n, f in zip(now, first, strict=True))
        settled = sum(bool(each.outcome) for each in state.instances.values())
        while self._beside.count < settled:
            self._beside.do_member()

    def _read(self) -> tuple[float, float]:
        everything = _read_cpu() - self._beside.spent_s
        return everything, _read_cpu(resource.RUSAGE_SELF)

    def time_removal(self, world: Any, names: Collection[str] = ()) -> list[str]:
        began = time.thread_time() + self._of_git.of_this_thread_s
        gone = PRODUCTS.remove_finished_worktrees(world, names)
        self.removal += time.thread_time() + self._of_git.of_this_thread_s - began
        return gone


def _read_cpu(*who: int) -> float:
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(each) for each in who or both]
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
