"""A migration that is killed anywhere and started again comes to what an undisturbed one does."""

import json
import os
import random
import re
import shutil
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from porch.run.verbs.read_run import read_run
from porch.store.known_runs import list_known_runs
from porch.store.where import ProjectPaths, find_project
from porch.system.crash_points import POINTS
from tests import commands
from tests.fleet.migration.old_projects import AHEAD, OUTCOMES, SHAPES, make_old_project
from tests.killed_git import KillingGit, remove_named_locks
from tests.repositories import at_home, make_repository, sh
from tests.torture import FULL, choose_some

KILLS = 200
KILLED = ("builder", "status-implement", "status-and-list-differ", "twin", "reviewed", "no-status")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.?\d*Z")
_SEAL = re.compile(r"(?<=sha256=)[0-9a-f]{64}")


class KilledProject:
    """A project of the old layout that can be put back to where it was."""

    def __init__(self, base: Path, shapes: Sequence[str]):
        self.root, self._kept = base / "project", base / "kept"
        make_repository(self.root, {"a.txt": "a\n"})
        self.runs = make_old_project(self.root, shapes)
        inside = self.root / ".builders" / "0001"
        status = inside / "codev" / "projects" / next(iter(self.runs)) / "status.yaml"
        status.parent.mkdir(parents=True)
        status.write_text(AHEAD)
        sh(inside, "add", "-A")
        sh(inside, "commit", "-qm", "a status")
        shutil.copytree(self.root, self._kept, symlinks=True)

    def put_back(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root, symlinks=True)

    def migrate(self, **variables: str) -> int:
        words = ("migrate", "--adopt")
        done = commands.run("codev", words, self.root, {**os.environ, **variables})
        assert "Traceback" not in done.stderr
        return done.returncode

    def list_moves(self) -> list[tuple[str, str]]:
        """The old and the new place of each document that is moved."""
        words = ("migrate", "--dry-run", "--json")
        told = commands.run("codev", words, self.root, os.environ).stdout
        moved = [each for each in json.loads(told)["projects"] if each["outcome"] != "left"]
        return [pair for each in moved for pair in each["files"].items()]

    def has(self, path: str) -> bool:
        return (self.root / path).exists()

    @property
    def where(self) -> ProjectPaths:
        return find_project(str(self.root))

    def outcome(self) -> dict[str, Any]:
        """Everything that people and porch have in the end; only times are no part of it."""
        where = self.where
        known = {
            "files": {name: text for name, text in self._files() if not name.startswith(".git")},
            "leftovers": [name for name, _ in self._files() if name.endswith(".tmp")],
            "decisions": os.listdir(os.path.join(where.state_dir, "migration")),  # and the lock
            "runs": {name: _describe_run(where, name) for name in where.runs()},
            "known": sorted(list_known_runs(where.state_dir)),
            "refs": sh(self.root, "for-each-ref", "--format=%(refname) %(objectname)"),
            "worktrees": sh(self.root, "worktree", "list", "--porcelain"),
            "status": sh(self.root, "status", "--porcelain", "-uall"),
            "directories": sorted(
                str(path.relative_to(self.root))
                for path in self.root.rglob("*")
                if path.is_dir() and ".git" not in path.relative_to(self.root).parts
            ),
        }
        text = json.dumps(known)
        # A commit that the migration makes has a time, too.
        pairs = sh(self.root, "for-each-ref", "--format=%(objectname) %(tree)").splitlines()
        for commit, _, tree in (pair.partition(" ") for pair in pairs):
            text = text.replace(commit, tree)
        found: dict[str, Any] = json.loads(text)
        return found

    def _files(self) -> list[tuple[str, str]]:
        files = [path for path in self.root.rglob("*") if path.is_file()]
        return [(str(path.relative_to(self.root)), _without_times(path)) for path in files]


def _without_times(path: Path) -> str:
    text = path.read_bytes().decode("utf-8", "backslashreplace")
    return _SEAL.sub("SUM", _TIME.sub("TIME", text)) if path.name == "status.yaml" else text


def _describe_run(where: ProjectPaths, name: str) -> tuple[Any, ...]:
    run = read_run(where, name)
    with open(os.path.join(where.run_dir(name), "journal.jsonl"), encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    facts = [{k: v for k, v in each.items() if k not in ("at", "sum")} for each in records]
    assert [each["fact"]["is"] for each in records] == ["RunAdopted"]
    views = ("picture.json", "row.json")
    there = [view for view in views if os.path.exists(os.path.join(where.run_dir(name), view))]
    return (facts, run.state.paused, tuple(run.state.positions), tuple(there))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Any:
    base = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        at_home(base / "home", patch)
        yield KilledProject(base, KILLED)


@pytest.fixture(scope="module")
def undisturbed(project: KilledProject) -> tuple[dict[str, Any], list[str]]:
    """What it comes to, and all points at which it can be killed on the way."""
    log = project.root.parent / "points"
    assert project.migrate(PORCH_CRASH_LOG=str(log)) == 1
    hits = Counter(log.read_text().split())
    points = [f"{name}:{nth}" for name in sorted(hits) for nth in range(1, hits[name] + 1)]
    return project.outcome(), points


@pytest.mark.torture
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("part", range(4))
def test_a_migration_killed_anywhere_and_started_again_ends_as_if_it_was_not(
    project: KilledProject, undisturbed: tuple[dict[str, Any], list[str]], part: int
) -> None:
    """Q4, R8: a killed migration left documents in two places, and `status.adopted-2.yaml`."""
    expected, points = undisturbed
    dice = random.Random(20261119)
    chosen = dice.sample(points, KILLS) if len(points) > KILLS else dice.choices(points, k=KILLS)
    for point in choose_some(chosen, 10)[part::4]:
        project.put_back()
        assert project.migrate(PORCH_CRASH_AT=point) == -signal.SIGKILL, point
        assert project.migrate() == 1
        assert project.outcome() == expected, point


@pytest.mark.torture
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("nap_s", choose_some([None, 0.002, 0.005], 3))
def test_a_migration_killed_with_its_git_goes_on_once_the_lock_that_it_names_is_gone(
    project: KilledProject, undisturbed: tuple[dict[str, Any], list[str]], nap_s: float | None
) -> None:
    """Q4, R3: at each call of git, which has locked what it is about to write, or is at work."""
    expected, _ = undisturbed
    git = KillingGit(project.root.parent / "bin")
    for call in choose_some(range(1, 100), 3):
        project.put_back()
        git.arm(call, nap_s)
        if project.migrate(PATH=git.path) != -signal.SIGKILL:
            break
        told = ""
        while not told or remove_named_locks(project.root, told):
            words = ("migrate", "--adopt")
            done = commands.run("codev", words, project.root, os.environ)
            told = done.stdout + done.stderr
        assert project.outcome() == expected, f"call {call}: {told}"
    else:
        pytest.fail("git was called more often than that")


def test_what_the_kills_are_compared_with_is_what_was_wanted(
    undisturbed: tuple[dict[str, Any], list[str]], project: KilledProject
) -> None:
    expected, points = undisturbed
    paused = {run for run, shape in project.runs.items() if OUTCOMES[shape] == "paused"}
    assert set(expected["runs"]) == paused
    assert (expected["leftovers"], expected["decisions"]) == ([], ["lock"])
    assert [name for name in expected["files"] if "adopted-2" in name] == []
    assert {point.partition(":")[0] for point in points} >= {
        "migrate.after-decision",
        "migrate.branch-renamed",
        "migrate.worktree-moved",
        "migrate.after-document",
        "migrate.before-end",
        "journal.after-write",
        "atomic.before-rename",
    }
    assert json.dumps(sorted(expected["files"])).count("spec.md") >= len(paused)


@pytest.mark.torture
@pytest.mark.timeout(1200)
def test_a_hundred_projects_of_every_shape_are_moved_in_as_many_calls_as_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q4: each call is killed on its way, and each document lies in one place all the time."""
    at_home(tmp_path / "home", monkeypatch)
    count, kills = (100, 60) if FULL else (len(SHAPES), 6)
    plain = [shape for shape in SHAPES if shape != "builder"]
    project = KilledProject(
        tmp_path, ["builder", *(plain[number % len(plain)] for number in range(count - 1))]
    )
    moves = project.list_moves()
    assert len(moves) > count // 2
    assert project.migrate() == 1
    expected = project.outcome()
    project.put_back()
    dice, points = random.Random(20261119), [p for p in POINTS if p.startswith("migrate.")]
    while kills:
        point = f"{dice.choice(points)}:{dice.randint(1, 6)}"
        code = project.migrate(PORCH_CRASH_AT=point)
        assert [old for old, new in moves if project.has(old) == project.has(new)] == [], point
        if code == -signal.SIGKILL:
            kills -= 1
        else:
            assert (code, project.outcome()) == (1, expected), point
            project.put_back()
    assert project.migrate() == 1
    assert project.outcome() == expected
