"""Commands killed anywhere, with locks of git left behind, end as if nobody had killed them."""

import json
import os
import random
import re
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from porch.git import index_lock
from porch.plan.prompts import plan_document, plan_merge
from porch.store.where import find_project
from tests import commands
from tests.killed_git import KillingGit, remove_named_locks
from tests.plan.yards import carried_out, ids, tree
from tests.repositories import sh
from tests.torture import FULL

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

pytestmark = [pytest.mark.torture, pytest.mark.timeout(3600)]
Typed = tuple[str, ...]  # the program and its words
MANY = 10_000
LONGEST_NAP_S = 0.01
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.?\d*Z")
# How often somebody began again is told there, too.
_STARTS = re.compile(r"^(?:iteration:.*|log:(?:\n  .*)*|# porch seq=.*)$", re.MULTILINE)
# What people and agents did, and that the work is finished: each of it happens once.
_ONCE = ("WishTaken", "ExitAccepted", "WorkFinished")
SETTINGS = '[agent]\nback_off = 0.01\n\n[commands]\ntest = "test -f new.py"\n'
WORK = {"id": "work", "checks": {"tests": {"setting": "test"}}}
SPEC = {"id": "spec", "artifact": "spec.md", "gate": "spec-ok", "on_complete": {"commit": True}}


class Scene(NamedTuple):
    """What is there before, and what a person types then."""

    kills: int
    prepare: Callable[["Desk"], object]
    typed: Sequence[Typed]


def _ended(desk: "Desk") -> None:
    desk.protocol("p", WORK)
    desk.write("codev/config.toml", SETTINGS)
    script = desk.script(agents={"work": [{"write": {"new.py": "x = 1\n"}}]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script)


def _left_something(desk: "Desk") -> None:
    _ended(desk)
    desk.write("worktrees/p_0001_x/later.txt", "not committed\n")


def _asked(desk: "Desk") -> None:
    written = {"spec": [{"write": {"{project_dir}/spec.md": "# Spec\n\nBuild it.\n"}}]}
    desk.begin_in_worktree(SPEC, {"id": "build"}, agents=written, code=3)


def _merged(desk: "Desk") -> None:
    desk.git("switch", "-qc", "feat/x")
    where = find_project(str(desk.root))
    plan_document.write_plan(where, "T", "o", "c")
    carried_out(where, "1")
    plan_merge.merge_worktree(where, ids("1")[0])


SCENES = {
    "finish --merge": Scene(100, _ended, [("porch", "finish", "0001", "--merge")]),
    "finish --squash": Scene(100, _ended, [("porch", "finish", "0001", "--squash")]),
    "cleanup": Scene(200, _left_something, [("af", "cleanup", "0001")]),
    "approve": Scene(
        200, _asked, [("porch", "approve", "0001", "spec-ok"), ("porch", "resume", "0001")]
    ),
    "complete-prompt": Scene(200, _merged, [("envoy", "plan", "complete-prompt", "1")]),
}
PARTS = 2


class Kill(NamedTuple):
    """At a point of porch, or at the n-th git of a command, which may have locked its files."""

    command: int
    point: str
    nth: int
    nap_s: float | None = None


class Stage:
    """A scene that can be played again and again from its beginning."""

    def __init__(self, desk: "Desk", scene: Scene) -> None:
        self._desk, self._scene = desk, scene
        self._base = desk.root.parent
        self._git = KillingGit(self._base / "bin")
        scene.prepare(desk)
        self._names = [p.name for p in self._base.iterdir() if p.name.startswith(("pro", "work"))]
        for name in self._names:
            shutil.copytree(self._base / name, self._base / "kept" / name, symlinks=True)

    def _put_back(self) -> None:
        self._desk.clear()
        for name in self._names:
            shutil.rmtree(self._base / name)
            shutil.copytree(self._base / "kept" / name, self._base / name, symlinks=True)

    def _type(self, typed: Typed, **variables: str) -> tuple[int, str]:
        done = commands.run(typed[0], typed[1:], self._desk.root, {**os.environ, **variables})
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    def play_calmly(self) -> tuple[dict[str, Any], list[Kill]]:
        """What it comes to, and everything at which its commands can be killed."""
        kills: list[Kill] = []
        log = self._base / "points"
        for number, typed in enumerate(self._scene.typed):
            log.write_text("")
            self._git.arm(MANY, None)
            code, text = self._type(typed, PORCH_CRASH_LOG=str(log), PATH=self._git.path)
            assert code == 0, text
            hits = Counter(log.read_text().split())
            hits[""] = self._git.count_calls(MANY)
            kills += [Kill(number, name, n + 1) for name in sorted(hits) for n in range(hits[name])]
        return self._outcome(), kills

    def play_killed(self, kill: Kill) -> tuple[dict[str, Any], str]:
        """What it comes to if it is killed there and typed again, and what was said meanwhile."""
        # How often files are written depends on the time; then the kill falls on an earlier one.
        while not self._kill(kill):
            kill = kill._replace(nth=kill.nth - 1)
        told = "".join(map(self._type_until_done, self._scene.typed[kill.command :]))
        return self._outcome(), told

    def _kill(self, kill: Kill) -> bool:
        """Whether it was killed there."""
        self._put_back()
        for typed in self._scene.typed[: kill.command]:
            assert self._type(typed)[0] == 0
        variables = {"PORCH_CRASH_AT": f"{kill.point}:{kill.nth}"}
        if not kill.point:
            self._git.arm(kill.nth, kill.nap_s)
            variables = {"PATH": self._git.path}
        code, text = self._type(self._scene.typed[kill.command], **variables)
        assert code in (0, -signal.SIGKILL), text
        return code != 0

    def _type_until_done(self, typed: Typed) -> str:
        """As a person does it: what is refused because of a lock is typed again without that."""
        told = ""
        while True:
            code, text = self._type(typed)
            if code == 0:
                return told
            told += text
            assert remove_named_locks(self._desk.root, text), text

    def _outcome(self) -> dict[str, Any]:
        """What people have in the end; times and names of commits are no part of it."""
        root = self._desk.root
        where = find_project(str(root))
        listed = sh(root, "worktree", "list", "--porcelain").splitlines()
        locks = [path.relative_to(root / ".git") for path in (root / ".git").rglob("*.lock*")]
        return {
            **{
                f"{each}/{name}": _STARTS.sub("", _TIME.sub("TIME", data.decode()))
                for each in self._names
                for name, data in tree(self._base / each).items()
                if ".git" not in name.split("/")
            },
            "refs": sh(root, "for-each-ref", "--format=%(refname) %(tree)"),
            "commits": sh(root, "log", "--first-parent", "--format=%s"),
            "status": sh(root, "status", "--porcelain", "-uall"),
            "worktrees": [line for line in listed if not line.startswith("HEAD")],
            "locks": [str(path) for path in locks if "porch" not in path.parts],
            "facts": {name: _list_facts(Path(where.run_dir(name))) for name in where.runs()},
        }


def _list_facts(run: Path) -> list[str]:
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    return [record["fact"]["is"] for record in records if record["fact"]["is"] in _ONCE]


def _choose(kills: Sequence[Kill], count: int, part: int) -> list[Kill]:
    """Always the same; of those at a git a half left locks behind, the other was at work."""
    luck = random.Random(20261119)
    points, calls = [k for k in kills if k.point], [k for k in kills if not k.point]
    chosen: list[Kill] = []
    for number in range(count):
        kill = luck.choice(calls if number % 2 else points)
        nap = luck.uniform(0, LONGEST_NAP_S) if number % 4 == 1 else None
        chosen.append(kill._replace(nap_s=nap))
    return chosen[: count if FULL else count // 10][part::PARTS]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", SCENES)
def test_a_command_killed_anywhere_ends_as_if_it_was_not(
    desk: "Desk", name: str, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1, R2, R3, R8: a lock that stays is named, and everything else is as it would have been."""
    monkeypatch.setattr(index_lock, "WAIT_S", 0.2)
    stage = Stage(desk, SCENES[name])
    expected, kills = stage.play_calmly()
    for kill in _choose(kills, SCENES[name].kills, part):
        outcome, told = stage.play_killed(kill)
        keys = {*outcome, *expected}
        unlike = {key: outcome.get(key) for key in keys if outcome.get(key) != expected.get(key)}
        assert unlike == {}, f"{kill}\n{told}"
