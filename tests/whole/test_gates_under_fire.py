"""Gates with real waiters, people in a hurry, and kills: every answer arrives, no word is lost.

A waiter is a process of its own here, as an agent starts it.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from porch.plan.files import plan_location
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests import commands
from tests.plan.courts import repository
from tests.plan.gatehouse import (
    approach,
    archived,
    ask,
    done,
    file,
    fill,
    finish,
    log,
    ready,
    typed,
    wait_for,
)
from tests.plan.yards import carried_out, fields, git, tree
from tests.repositories import at_home

TESTING = ("plan", "block-prompt-testing-gate", "1")
LONG = ("--wait", "60")
RUN = "plan/feat/x"


class Street:
    """A repository, and whoever types commands around it."""

    def __init__(self, root: Path):
        self.root = root
        self._started: list[subprocess.Popen[str]] = []

    @property
    def where(self) -> ProjectPaths:
        return places.find_project(str(self.root))

    def begin(
        self,
        program: str,
        words: tuple[str, ...],
        environ: dict[str, str],
        at: Path | None = None,
    ) -> "subprocess.Popen[str]":
        process = commands.start(program, words, at or self.root, {**os.environ, **environ})
        self._started.append(process)
        return process

    def type(self, program: str, *words: str, code: int = 0, **environ: str) -> str:
        """A command to its end."""
        process = self.begin(program, words, environ)
        out, err = process.communicate(timeout=60)
        assert process.returncode == code, out + err
        return out

    def envoy(self, *words: str, code: int = 0, **environ: str) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.type("envoy", *words, code=code, **environ))["data"]
        return data

    def wait(self, *words: str, at: Path | None = None) -> "subprocess.Popen[str]":
        """A waiter that has looked and now waits: somebody has told it to the lock."""
        before = self._looks()
        waiter = self.begin("envoy", (*words, *LONG), {}, at)
        wait_for(lambda: self._looks() > before or waiter.poll() is not None)
        time.sleep(0.3)
        assert waiter.poll() is None, waiter.communicate()
        return waiter

    def _looks(self) -> int:
        path = Path(self.where.run_dir("plan_feat~x"), "lock")
        return path.stat().st_mtime_ns if path.exists() else 0

    def clear(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()


def came(waiter: "subprocess.Popen[str]") -> dict[str, Any]:
    """What a waiter was told, well before its time is over."""
    began = time.monotonic()
    out, err = waiter.communicate(timeout=90)
    assert waiter.returncode == 0, out + err
    assert time.monotonic() - began < 45
    data: dict[str, Any] = json.loads(out)["data"]
    return data


@pytest.fixture
def street(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Street]:
    at_home(tmp_path / "home", monkeypatch)
    made = Street(repository(tmp_path / "shop"))
    monkeypatch.chdir(made.root)
    yield made
    made.clear()


def by_renaming(path: Path, text: str) -> None:
    """As most editors save."""
    other = path.with_name(f".{path.name}.new")
    other.write_text(text)
    os.replace(other, path)


def in_two_steps(path: Path, text: str) -> None:
    """As others do: the file is empty for a while, then half there."""
    with path.open("w") as writer:
        time.sleep(0.15)
        for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
            writer.write(piece)
            writer.flush()
            time.sleep(0.15)


def with_a_copy_aside(path: Path, text: str) -> None:
    """As vi does with backups: the old one moves away first."""
    path.rename(path.with_name(f"{path.name}~"))
    time.sleep(0.1)
    path.write_text(text)


@pytest.mark.req("E-033")
@pytest.mark.parametrize("save", [by_renaming, in_two_steps, with_a_copy_aside])
def test_however_an_editor_saves_the_waiter_hears_all_of_it(
    street: Street, save: Callable[[Path, str], None]
) -> None:
    ready(street.where, "testing")
    waiter = street.wait(*TESTING)
    path = file(street.where, "testing")
    text = done(typed(path.read_text(), thoughts="one\n\ntwo: #3"))
    save(path, text)
    told = came(waiter)
    assert (told["thoughts"], told["channel"]) == ("one\n\ntwo: #3", "file")
    assert text.encode() in archived(street.where).values()


@pytest.mark.parametrize("way", ["file", "approve", "answer"])
def test_an_answer_outlives_its_waiter(street: Street, way: str) -> None:
    ready(street.where, "testing")
    waiter = street.wait(*TESTING)
    waiter.kill()
    waiter.wait()
    if way == "file":
        finish(street.where, "testing", thoughts="after all")
    elif way == "approve":
        street.type("porch", "approve", RUN, "testing:1", "--note", "after all")
    else:
        street.type("porch", "answer", RUN, "testing:1", "{test_passed: true, thoughts: after all}")
    for _ in range(2):
        told = street.envoy(*TESTING)
        assert (told["thoughts"], told["passed"]) == ("after all", True)
    assert log(street.where).count("after all") == 1
    assert not file(street.where, "testing").exists()


def test_a_waiter_that_is_interrupted_leaves_the_question_open(street: Street) -> None:
    ready(street.where, "testing")
    waiter = street.wait(*TESTING)
    waiter.send_signal(signal.SIGINT)
    waiter.communicate(timeout=90)
    assert waiter.returncode == 130
    assert street.envoy(*TESTING, "--wait", "0", code=3)["decision"] == "testing:1#1"


def test_all_who_wait_at_one_gate_hear_one_answer(street: Street) -> None:
    ready(street.where, "testing")
    waiters = [street.wait(*TESTING) for _ in range(3)]
    finish(street.where, "testing", thoughts="for all")
    assert [came(each)["thoughts"] for each in waiters] == ["for all"] * 3
    assert log(street.where).count("for all") == 1
    assert len(archived(street.where)) == 2


@pytest.mark.req("E-036", "E-039", "E-085")
def test_two_variants_hear_their_fate_in_their_own_worktrees(street: Street) -> None:
    made = {letter: carried_out(street.where, f"2_{letter}") for letter in "AB"}
    words = ("plan", "block-prompt-variants-gate", "2")
    waiters = [street.wait(*words, letter, at=made[letter].path) for letter in "AB"]
    fill(
        street.where,
        "variants",
        ("A:", "decision:", "rejected"),
        ("B:", "decision:", "main"),
        ("B:", "reason:", "shorter"),
    )
    lost, won = map(came, waiters)
    assert (lost["variant_solution"], won["variant_solution"]) == ("discard", "main")
    assert (lost["reason"], won["reason"]) == ("", "shorter")
    assert not made["A"].path.exists()
    assert git(street.root, "branch", "--list", f"archive/{made['A'].name}")
    git(street.root, "fsck", "--strict")
    assert street.envoy(*words, "A")["variant_solution"] == "discard"


def test_an_answer_whose_giver_was_killed_is_taken_all_the_same(street: Street) -> None:
    ready(street.where, "testing")
    waiter = street.wait(*TESTING)
    street.type(
        "porch",
        "approve",
        RUN,
        "testing:1",
        code=-signal.SIGKILL,
        PORCH_CRASH_AT="wish.after-rename",
    )
    assert came(waiter)["passed"] is True


def test_what_is_wrong_is_explained_while_one_waits_and_then_mended(street: Street) -> None:
    ready(street.where, "testing")
    waiter = street.wait(*TESTING)
    path = file(street.where, "testing")
    finish(street.where, "testing", test_passed="perhaps", thoughts="mine")
    wait_for(lambda: "could not use this yet" in path.read_text())
    assert waiter.poll() is None
    by_renaming(path, done(path.read_text().replace("perhaps", "true")))
    assert came(waiter)["thoughts"] == "mine"


def test_a_person_who_saves_faster_than_we_explain_loses_nothing(street: Street) -> None:
    ready(street.where, "testing")
    waiter = street.wait(*TESTING)
    path = file(street.where, "testing")
    text, luck = path.read_text(), random.Random(7)
    for number in range(40):
        last = done(typed(text, test_passed="perhaps", thoughts=f"save {number}"))
        (by_renaming if number % 2 else Path.write_text)(path, last)
        time.sleep(luck.choice([0, 0.01, 0.05, 0.15]))
    wait_for(lambda: "could not use this yet" in path.read_text())
    time.sleep(0.3)
    found = re.sub(
        r"\A## ---- envoy.*?\n## ---- end of[^\n]*\n", "", path.read_text(), flags=re.DOTALL
    )
    assert found == last.replace("done: true", "done: false")
    assert waiter.poll() is None
    # What came between two savings is nobody's file, but it may only ever be a whole one.
    beside = [each for each in path.parent.iterdir() if each.name.endswith(".aside")]
    assert all("save " in each.read_text() for each in beside)


def test_a_template_that_is_removed_under_a_waiter_comes_back(street: Street) -> None:
    ready(street.where, "testing")
    waiter = street.wait(*TESTING)
    path = file(street.where, "testing")
    path.unlink()
    wait_for(path.exists)
    finish(street.where, "testing", thoughts="again")
    assert came(waiter)["thoughts"] == "again"


def test_new_work_while_one_waits_is_asked_about_in_the_same_file(street: Street) -> None:
    ready(street.where, "testing")
    waiter = street.wait(*TESTING)
    path = file(street.where, "testing")
    half = typed(path.read_text(), thoughts="half")
    path.write_text(half)
    words = ("plan", "record-implementation", "1", "--iteration", "2")
    reason = ("--walkthrough", "More.", "--refinement-reason", "Review: more")
    street.type("envoy", *words, *reason)
    wait_for(lambda: "testing:1" in street.type("porch", "pending"))
    assert path.read_text() == half
    path.write_text(done(half))
    assert came(waiter)["thoughts"] == "half"
    assert fields(street.where, "1")["testing"] == "passed"
    assert log(street.where).count("<!-- testing:1#2 -->") == 1


def test_waiting_is_cheap(street: Street) -> None:
    ready(street.where, "testing")
    waiter = street.wait(*TESTING)
    path = file(street.where, "testing")
    path.write_text(path.read_text() + "# a look\n")
    time.sleep(0.5)
    before = _spent(waiter.pid)
    time.sleep(2)
    assert _spent(waiter.pid) - before < 0.2
    finish(street.where, "testing")
    came(waiter)


def _spent(pid: int) -> float:
    """Seconds of the processor."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


# Kills


def _findings(where: ProjectPaths) -> tuple[str, ...]:
    approach(where, "1_A")
    approach(where, "1_B")
    ask(where, "findings")
    way = ("web_1_A:", "user_required_changes:", "Less")
    fill(where, "findings", way, ("web_1_B:", "rejected:", "true"))
    return ("plan", "block-findings-gate")


def _plan(where: ProjectPaths) -> tuple[str, ...]:
    approach(where)
    ready(where, "plan")
    ask(where, "plan")
    finish(where, "plan", thoughts="go")
    return ("plan", "block-plan-gate")


def _testing(where: ProjectPaths) -> tuple[str, ...]:
    ready(where, "testing")
    ask(where, "testing")
    finish(where, "testing", thoughts="fine")
    return TESTING


def _rejected(where: ProjectPaths) -> tuple[str, ...]:
    ready(where, "testing")
    ask(where, "testing")
    finish(where, "testing", test_passed="perhaps", thoughts="fine")
    return TESTING


def _end(where: ProjectPaths) -> dict[str, Any]:
    """All that is left of it, without what differs from run to run."""
    found = {
        name: re.sub(rb"20\d\d-[^\s*'\"]*Z", b"T", data)
        for name, data in tree(plan_location.find_current_plan(where).directory).items()
    }
    # Copies of one file that is kept twice are not worse than one; that none is lost counts.
    return {name: data for name, data in found.items() if not re.search(r"_archive/.*-2\.", name)}


@pytest.mark.torture
@pytest.mark.timeout(300)
@pytest.mark.parametrize("prepared", [_findings, _plan, _testing, _rejected])
def test_a_waiter_killed_anywhere_leaves_what_the_next_one_brings_to_the_same_end(
    street: Street, tmp_path: Path, prepared: Callable[[ProjectPaths], tuple[str, ...]]
) -> None:
    words = (*prepared(street.where), "--wait", "0")
    code = 3 if prepared is _rejected else 0
    calm = _copy(street, tmp_path / "calm")
    points = tmp_path / "points.txt"
    wanted = calm.envoy(*words, code=code, PORCH_CRASH_LOG=str(points))
    hits = points.read_text().splitlines()
    tried, killed = _some(hits), 0
    for number, at in tried:
        other = _copy(street, tmp_path / f"killed-{number}")
        try:
            killed += _is_killed(other, words, at, tmp_path / f"reached-{number}")
            told = other.envoy(*words, code=code)
            assert _same(told) == _same(wanted), at
            assert _end(other.where) == _end(calm.where), at
        finally:
            other.clear()
    calm.clear()
    assert killed > len(tried) / 2


def _is_killed(street: Street, words: tuple[str, ...], at: str, reached: Path) -> bool:
    """Pictures are drawn by the clock, so the last of many renames may not come in each run."""
    environ = {"PORCH_CRASH_AT": at, "PORCH_CRASH_LOG": str(reached)}
    process = street.begin("envoy", words, environ)
    told = process.communicate(timeout=60)
    if process.returncode == -signal.SIGKILL:
        return True
    name, _, number = at.rpartition(":")
    assert reached.read_text().splitlines().count(name) < int(number), told
    return False


def _copy(street: Street, to: Path) -> Street:
    to.mkdir()
    shutil.copytree(street.root, to / "shop", symlinks=True)
    return Street(to / "shop")


def _some(hits: list[str]) -> list[tuple[int, str]]:
    """Each hit as it is armed; all of them in full, else some that spread over all."""
    counted: Counter[str] = Counter()
    armed = []
    for number, name in enumerate(hits):
        counted[name] += 1
        armed.append((number, f"{name}:{counted[name]}"))
    if os.environ.get("PORCH_TORTURE") == "full":
        return armed
    return armed[len(armed) // 10 :: max(1, len(armed) // 5)]


def _same(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name not in ("duration_ms", "file")}


@pytest.mark.req("E-039")
@pytest.mark.torture
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "at", ["journal.after-sync:1", "journal.after-sync:2", "worktree.after-aside:1"]
)
def test_a_discard_that_was_cut_short_is_finished_by_whoever_comes_next(
    street: Street, at: str
) -> None:
    made = {letter: carried_out(street.where, f"2_{letter}") for letter in "AB"}
    (made["B"].path / "half.txt").write_text("uncommitted")
    ask(street.where, "variants")
    fill(street.where, "variants", ("A:", "decision:", "main"), ("B:", "decision:", "discard"))
    words = ("plan", "block-prompt-variants-gate", "2", "A", "--wait", "0")
    street.type("envoy", *words, code=-signal.SIGKILL, PORCH_CRASH_AT=at)
    assert street.envoy(*words)["variant_solution"] == "main"
    assert not made["B"].path.exists()
    assert fields(street.where, "2_B")["worktree_branch_name"] == f"archive/{made['B'].name}"
    salvaged = git(street.root, "for-each-ref", "--format=%(refname)", "refs/porch/salvage")
    assert git(street.root, "show", f"{salvaged.split()[0]}:half.txt") == "uncommitted"
    assert log(street.where).count("[Variants Gate 2]") == 1
