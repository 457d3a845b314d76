"""A drive without an event loop leaves what a driver leaves, wherever a driver is not needed."""

import json
import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from porch.cli.products import PRODUCTS
from porch.git import worktrees
from porch.machine import effects as e
from porch.machine import facts as f
from porch.machine.records import JournalRecord, encode_record
from porch.machine.state import RunState
from porch.machine.wanted import wanted_effects
from porch.machine.wishes import find_refusal
from porch.model.definition import Definition, hash_definition, serialize_definition
from porch.model.protocol import Agent, Human
from porch.run.definitions import library
from porch.run.drive.short_drive import drive_without_loop
from porch.run.engine import pictures
from porch.run.engine.drive_options import DriveResult, DriveWatch, RunRequest
from porch.run.engine.driver import DriveManner
from porch.run.engine.session import HeldRun, assemble_held_run, hold_run
from porch.run.verbs.resume import resume_run
from porch.show.place_words import PlaceWords
from porch.show.records.log_text import shown_lines
from porch.store import payloads
from porch.store.journal import Journal, scan_journal
from porch.store.where import ProjectPaths, find_project
from porch.system.clock import Clock
from tests.repositories import sh

BRANCH = "p_0001_x"
RUN = "0001-x"
PROJECT = f"codev/projects/{RUN}"
_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)|[0-9a-f]{64}"
    r'|(?<="stamps":\[\[)[^\]]+'  # of files, by when they were written
)


@cache
def definition_of(name: str) -> Definition:
    return library.load_protocol(FILES[name]).demand()


FILES = {found.name: found.file for found in library.list_protocols(find_project("/"))}
# What porch asks in a form is answered by agents that porch runs, and by no claim.
CLAIMS = [
    (name, state.name, exit_.name)
    for name, file in FILES.items()
    if not file.endswith(".graph.yaml")
    for state in definition_of(name).protocol.states.values()
    if isinstance(state.actor, Agent) and state.actor.ask is None
    for exit_ in state.actor.exits
]
GATE = {"name": "go", "next": None, "artifacts": ["spec.md"]}
# Phases of a protocol, and how a run rests after the first agent of it has claimed to be done.
RESTS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "nothing follows": ([{"id": "one"}], "ended"),
    "an agent follows": ([{"id": "one"}, {"id": "two"}], "idle"),
    "a gate follows": ([{"id": "one", "gate": GATE}], "waiting"),
    "a document is looked for": ([{"id": "one", "artifact": "spec.md", "gate": GATE}], ""),
    "a check follows": ([{"id": "one", "checks": {"quick": {"command": "true"}}}], ""),
    "a commit follows": (
        [{"id": "one", "artifact": "spec.md", "on_complete": {"commit": True}}, {"id": "two"}],
        "",
    ),
}


def started(
    place: Path, definition: Definition, state: str, script: str = "", branch: str = ""
) -> ProjectPaths:
    """A run that stands where an agent works on `state`, with its plan read if that has one."""
    (place / PROJECT).mkdir(parents=True)
    (place / PROJECT / "spec.md").write_text("# Spec\n")
    where = find_project(str(place))
    path = os.path.join(where.run_dir(RUN), "journal.jsonl")
    store = os.path.join(where.run_dir(RUN), "payloads")
    payloads.write_payload(store, serialize_definition(definition))
    journal, _ = Journal.open(path)
    with journal:
        held = assemble_held_run(
            where, RUN, journal=journal, state=RunState(), definition=definition, clock=Clock()
        )
        first = f.RunStarted(
            run=RUN,
            id="0001",
            title="x",
            protocol=definition.protocol.name,
            digest=hash_definition(definition),
            project_dir=PROJECT,
            status_file=f"{PROJECT}/status.yaml",
            agent="scripted",
            script=script,
            worktree=f"worktrees/{branch}" if branch else "",
            own_worktree=bool(branch),
            branch=branch,
        )
        held.book.record(first)
        back = f.Wish(id="back", kind="rollback", data={"state": state})
        held.book.record(f.WishTaken(wish=back), lambda *_: ())
        read_items(held)
        held.draw_late()
    return where


def read_items(held: HeldRun) -> None:
    book = held.book
    wanted = [
        request
        for position in book.state.positions
        for request in wanted_effects(book.definition.protocol, book.state, position)
        if isinstance(request, e.ReadItems)
    ]
    for request in wanted:
        hands = [e.as_in_hand(request)]
        note = f.WishRefused(wish=f.Wish(id="none", kind="none"), reason="none")
        book.record(note, lambda *_, hands=hands: hands)
        item = f.Item(id="phase_1", title="t", description="d", digest="d", text="t")
        book.record(f.ItemsRead(effect=request.id, reading="headings", items=(item,), digest="d"))


class Watched:
    """What somebody who watches a drive gets to see, without its times."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.watch = DriveWatch(self._record, notice=self.lines.append, started=self._started)

    def _record(self, record: JournalRecord, _state: RunState) -> None:
        self.lines += shown_lines([encode_record(record)], PlaceWords(None), None)

    def _started(self) -> None:
        self.lines.append("started")

    def seen(self) -> list[str]:
        return [timeless(line) for line in self.lines]


def timeless(text: str) -> str:
    return _TIMES.sub("_", text)


def claim(held: HeldRun, state: str, exit_: str) -> None:
    """What `porch done` records first."""
    book = held.book
    standing = next(s for s in book.state.positions.values() if s.state == state)
    wish = f.Wish(
        id=f"done-{book.state.seq + 1}",
        kind="done",
        position=standing.position,
        exit=exit_,
        text="because",
        who="agent",
        channel="done",
    )
    assert find_refusal(book.definition.protocol, book.state, wish) is None
    book.record(f.WishTaken(wish=wish))


def by_short_drive(
    where: ProjectPaths, state: str, exit_: str
) -> tuple[DriveResult | None, Watched, list[str]]:
    """How it came to rest, and what the engine would have to do."""
    watched = Watched()
    with hold_run(where, RUN, "test") as held:
        claim(held, state, exit_)
        after, protocol = held.book.state, held.book.definition.protocol
        work = [
            request.id
            for position in after.positions
            for request in wanted_effects(protocol, after, position)
            if request.kind not in ("agent", e.PATIENT) and not isinstance(request, e.AskPerson)
        ]
        return drive_without_loop(held, watched.watch), watched, work


def by_driver(where: ProjectPaths, state: str, exit_: str) -> tuple[DriveResult, Watched]:
    watched = Watched()
    with hold_run(where, RUN, "test") as held:
        claim(held, state, exit_)
    wanted = RunRequest("", hands_off=("agent",))
    manner = DriveManner()
    driven = resume_run(
        where, RUN, wanted, manner, watch=watched.watch, products=PRODUCTS, is_whole=False
    )
    return driven, watched


def left_behind(where: ProjectPaths) -> dict[str, Any]:
    """Every file of the run and of its project, without times and sums."""
    found = {}
    for top in (where.run_dir(RUN), os.path.join(where.root, PROJECT)):
        for directory, _, names in os.walk(top):
            for name in names:
                path = os.path.join(directory, name)
                kept = os.path.relpath(path, where.root)
                found[kept] = timeless(Path(path).read_text("utf-8")).replace(where.root, "ROOT")
    del found[os.path.relpath(os.path.join(where.run_dir(RUN), "lock"), where.root)]
    # Checksums are of texts with times; the last is how long a row that is to come is, and its sum.
    changing = re.compile(
        r'"(length|pid)":\d+|"crc":"[0-9a-f]{8}"|^[0-9a-f]{8} [0-9a-f]{8}$', re.MULTILINE
    )
    return {k: changing.sub("_", v) for k, v in found.items()}


def facts(where: ProjectPaths) -> list[str]:
    records = scan_journal(os.path.join(where.run_dir(RUN), "journal.jsonl")).records
    return [record["fact"]["is"] for record in records]


@pytest.fixture(autouse=True)
def settings_of_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def compare_drives(place: Path, definition: Definition, state: str, exit_: str) -> str:
    """How it rests, the same by both ways; nothing where the engine has work to do."""
    one = started(place / "one", definition, state)
    shutil.copytree(place / "one", place / "two")
    two = find_project(str(place / "two"))
    rested, short, work = by_short_drive(one, state, exit_)
    if rested is None:
        assert work
        assert facts(one)[-1] == "WishTaken"
        return ""
    assert not work
    driven, long = by_driver(two, state, exit_)
    assert (rested.name, rested.rest) == (driven.name, driven.rest)
    assert short.seen() == long.seen()
    assert facts(one) == facts(two)
    assert left_behind(one) == left_behind(two)
    return rested.rest


@pytest.mark.parametrize(
    "name, state, exit_", CLAIMS, ids=["-".join(each).replace(":", "_") for each in CLAIMS]
)
def test_the_same_comes_of_a_claim_with_and_without_a_driver(
    tmp_path: Path, name: str, state: str, exit_: str
) -> None:
    compare_drives(tmp_path, definition_of(name), state, exit_)


def made(place: Path, *phases: dict[str, Any]) -> Definition:
    file = place / "protocol.json"
    file.write_text(json.dumps({"name": "p", "phases": phases}))
    return library.load_protocol(str(file)).demand()


def first_claim(definition: Definition) -> tuple[str, str]:
    states = definition.protocol.states.values()
    return next((s.name, s.actor.exits[0].name) for s in states if isinstance(s.actor, Agent))


@pytest.mark.parametrize("phases, rest", RESTS.values(), ids=RESTS)
def test_a_driver_is_called_where_the_engine_has_work_to_do(
    tmp_path: Path, phases: list[dict[str, Any]], rest: str
) -> None:
    definition = made(tmp_path, *phases)
    assert compare_drives(tmp_path, definition, *first_claim(definition)) == rest


@pytest.mark.parametrize(
    "script, is_short",
    [
        ('{"agents": {"one": [{"crash": 1}]}}', True),
        ('{"decisions": {"go": [{"approve": true}]}}', False),
        ('{"d\\u0065cisions": {"go": [{"approve": true}]}}', False),
    ],
)
def test_a_script_that_may_decide_needs_a_driver(
    tmp_path: Path, script: str, is_short: bool
) -> None:
    definition = made(tmp_path, *RESTS["a gate follows"][0])
    state, exit_ = first_claim(definition)
    place = tmp_path / "one"
    digest = payloads.write_payload(str(tmp_path / "store"), script.encode())
    where = started(place, definition, state, script=digest)
    shutil.copy(tmp_path / "store" / digest, os.path.join(where.run_dir(RUN), "payloads", digest))
    rested, *_ = by_short_drive(where, state, exit_)
    assert (rested is not None) == is_short


def test_what_a_dead_runner_left_in_hand_needs_a_driver(tmp_path: Path) -> None:
    definition = made(tmp_path, *RESTS["a gate follows"][0])
    state, exit_ = first_claim(definition)
    where = started(tmp_path / "one", definition, state)
    with hold_run(where, RUN, "test") as held:
        (position,) = held.book.state.positions
        (work,) = wanted_effects(held.book.definition.protocol, held.book.state, position)
        note = f.WishRefused(wish=f.Wish(id="none", kind="none"), reason="none")
        held.book.record(note, lambda *_: [e.as_in_hand(work)])
    rested, *_ = by_short_drive(where, state, exit_)
    assert rested is None


@pytest.fixture
def apart(repo: Path) -> Path:
    """A repository with a worktree for the run, in which somebody has worked."""
    worktrees.ensure_worktree(str(repo), str(repo / "worktrees" / BRANCH), BRANCH, "main")
    (repo / "worktrees" / BRANCH / "work.txt").write_text("work\n")
    return repo


@pytest.mark.usefixtures("git_home")
@pytest.mark.parametrize("follows", ["nothing follows", "a gate follows", "an agent follows"])
def test_a_worktree_of_its_own_is_no_reason_for_a_driver(
    tmp_path: Path, apart: Path, follows: str
) -> None:
    definition = made(tmp_path, *RESTS[follows][0])
    state, exit_ = first_claim(definition)
    where = started(apart, definition, state, branch=BRANCH)
    rested, *_ = by_short_drive(where, state, exit_)
    assert rested is not None
    assert rested.rest == RESTS[follows][1]
    kept = sh(apart, "ls-tree", "-r", "--name-only", BRANCH).splitlines()
    # At the end of a run the last work is committed; before that, when an exit is accepted.
    assert ("work.txt" in kept) == (rested.rest == "ended")


@pytest.mark.usefixtures("git_home")
def test_a_worktree_that_is_gone_needs_a_driver_which_makes_it_again(
    tmp_path: Path, apart: Path
) -> None:
    definition = made(tmp_path, *RESTS["a gate follows"][0])
    state, exit_ = first_claim(definition)
    where = started(apart, definition, state, branch=BRANCH)
    shutil.rmtree(apart / "worktrees")
    rested, *_ = by_short_drive(where, state, exit_)
    assert rested is None


def test_what_a_short_drive_leaves_is_drawn_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = made(tmp_path, *RESTS["a gate follows"][0])
    state, exit_ = first_claim(definition)
    where = started(tmp_path / "one", definition, state)
    drawn = []
    real = pictures.RunPictures.draw_now

    def draw_now(self: pictures.RunPictures, definition: Definition, state: RunState) -> None:
        drawn.append(state.seq)
        real(self, definition, state)

    monkeypatch.setattr(pictures.RunPictures, "draw_now", draw_now)
    by_short_drive(where, state, exit_)
    assert len(drawn) == 1


def test_a_question_that_cannot_be_opened_is_a_failed_step_as_in_a_drive(tmp_path: Path) -> None:
    definition = with_artifact(made(tmp_path, *RESTS["a gate follows"][0]), "no\0file")
    assert compare_drives(tmp_path, definition, *first_claim(definition)) == "waiting"
    assert facts(find_project(str(tmp_path / "one")))[-2:] == ["RunnerStarted", "EffectFailed"]


def with_artifact(definition: Definition, name: str) -> Definition:
    states = {
        key: replace(state, actor=replace(state.actor, artifacts=(name,)))
        if isinstance(state.actor, Human)
        else state
        for key, state in definition.protocol.states.items()
    }
    return replace(definition, protocol=replace(definition.protocol, states=states))
