"""A run of SPIDER driven through the machine without agents: facts as real actors give them."""

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import assert_never

from porch.machine import effects as e
from porch.machine import facts as f
from porch.machine.evolve import fold_records
from porch.machine.records import JournalRecord, decode_records
from porch.machine.state import Decision, InHand, RunState
from porch.machine.wanted import wanted_effects
from porch.model.definition import Definition, hash_definition, serialize_definition
from porch.run.definitions import library
from porch.run.definitions.current_definition import with_default_panel
from porch.run.engine.book import Book, Moves, PicturesPort
from porch.run.engine.pictures import RunPictures
from porch.run.engine.queue import EffectQueue
from porch.store import chain, compiled_protocols, large_payloads, payloads
from porch.store.journal import Journal
from porch.system.clock import Clock

RUN = "0073-a-parser-for-dates"
PROJECT = f"codev/projects/{RUN}"
_REPORT = "12 passed, 1 failed\n" + "tests/test_dates.py::test_leap_year expected 29, got 28\n" * 4
_SUMMARY = "The error cases are named, but nothing says what happens at the end of February."
_FINDING = "Requirement 4 names no behaviour for the 29th of February in a year that has none."


class Unsynced:
    """Lines of a journal in memory: to have ten thousand records without as many syncs."""

    def __init__(self) -> None:
        self.sum = chain.START
        self.length = 0
        self.lines: list[bytes] = []

    def append(
        self, expected_seq: int, body: Mapping[str, object], announce: Callable[[int, str], object]
    ) -> None:
        del announce
        line, self.sum = chain.render_record_line(expected_seq, self.sum, body)
        self.length += len(line)
        self.lines.append(line)


class Undrawn:
    """No pictures."""

    def announce(self, definition: Definition, state: RunState, length: int, total: str) -> None:
        """Nobody looks."""

    def draw(self, definition: Definition, state: RunState) -> None:
        """Nobody looks."""


class Story:
    """Plays every actor; after the last phase a person rolls back, so that it never ends."""

    def __init__(
        self,
        definition: Definition,
        state: RunState,
        journal: Journal | Unsynced,
        pictures: PicturesPort,
        slim: Callable[[f.Fact], f.Fact] = lambda fact: fact,
    ):
        self.journal = journal
        self.book = Book(
            definition,
            state,
            journal=journal,
            pictures=pictures,
            clock=Clock(),
            pinned=lambda _: definition,
            slim=slim,
        )
        self.queue = EffectQueue({e.AGENT_SLOT: 4})
        self.queue.load(definition.protocol, state)
        self._open: dict[str, e.Request] = {}
        self._recover(definition)

    def _recover(self, definition: Definition) -> None:
        for hand in self.state.in_hand.values():
            requests = wanted_effects(definition.protocol, self.state, hand.position)
            self._open.update({r.id: r for r in requests if r.id == hand.effect})

    @property
    def state(self) -> RunState:
        return self.book.state

    def begin(self, run: str = RUN) -> "Story":
        started = f.RunStarted(
            run=run,
            id="0073",
            title="A parser for dates",
            protocol=self.book.definition.protocol.name,
            digest=hash_definition(self.book.definition),
            project_dir=PROJECT,
            status_file=f"{PROJECT}/status.yaml",
            worktree=".",
            base_commit=_sum("base"),
            by="ada",
            agent="scripted",
        )
        self.record(started)
        return self

    def step(self) -> JournalRecord:
        return self.record(self.next_fact())

    def record(self, fact: f.Fact) -> JournalRecord:
        record = self.book.record(fact, self._choose)
        for hand in record.begun:
            self._open[hand.effect] = self.queue.take(hand)
        return record

    def _choose(self, definition: Definition, moved: RunState, moves: Moves) -> Iterable[InHand]:
        self.queue.refresh(definition.protocol, moved, moves)
        return self.queue.choose()

    def next_fact(self) -> f.Fact:
        for effect in self.queue.unwanted:
            self._open.pop(effect, None)
            return f.EffectStopped(effect=effect)
        if any(s.state.startswith("review") for s in self.state.positions.values()):
            return f.WishTaken(wish=self._wish("rollback", "", data={"state": "specify:draft"}))
        for effect in self._open:
            if "/stale/" not in effect:
                return answer(self._open.pop(effect))
        return f.WishTaken(wish=self._decision(next(iter(self.state.decisions.values()))))

    def _decision(self, decision: Decision) -> f.Wish:
        # A person who rejects once and then approves; failures are tried again.
        if decision.kind == "gate":
            visit = int(decision.position.rpartition("#")[2])
            exit_ = "rejected" if visit % 2 else "approved"
            return self._wish("decide", decision.position, exit_, "Say what February does.")
        return self._wish("decide", decision.position, "retry")

    def _wish(
        self, kind: str, position: str, exit_: str = "", text: str = "", **data: Mapping[str, str]
    ) -> f.Wish:
        return f.Wish(
            id=_sum(f"wish {self.state.seq}")[:32],
            kind=kind,
            position=position,
            exit=exit_,
            text=text,
            who="ada",
            channel="command",
            data=data.get("data", {}),
        )


def answer(request: e.Request) -> f.EffectFact:
    """What a diligent actor answers; the first review of a phase asks for changes."""
    match request:
        case e.RunAgent() | e.RunCheck() | e.AskReviewer():
            return _worked(request)
        case e.WriteFeedback(id=id_, subject=subject, round=round_):
            return f.FeedbackWritten(
                effect=id_, path=f"{PROJECT}/consultation-{subject}-round-{round_}.md"
            )
        case e.AskPerson(id=id_, artifacts=artifacts):
            sums = {f"{PROJECT}/{name}": _sum(name) for name in artifacts}
            return f.DecisionAsked(effect=id_, digest=_sum(id_), artifacts=sums)
        case e.ReadItems(id=id_):
            return f.ItemsRead(
                effect=id_,
                reading="headings",
                items=tuple(_item(n) for n in (1, 2, 3)),
                digest=_sum("plan"),
            )
        case e.StartTimer(id=id_):
            return f.TimerFired(effect=id_)
        case e.CommitPaths(id=id_):
            return f.CommitEnded(effect=id_, commit=_sum(id_)[:40])
        case e.AskAgent() | e.MoveBranch():
            raise RuntimeError(f"this story has no instances: {request}")
        case _:
            assert_never(request)


def _worked(request: e.RunAgent | e.RunCheck | e.AskReviewer) -> f.EffectFact:
    match request:
        case e.RunAgent(id=id_, exits=exits):
            said = exits[0].signals[0] if exits[0].signals else exits[0].name
            session = _sum(request.position)[:36]
            return f.ExitAccepted(
                effect=id_,
                exit=exits[0].name,
                payload={},
                signal=said,
                notes=(),
                session=session,
                usd=0.0312,
                tokens=18450,
            )
        case e.RunCheck(id=id_):
            return f.CheckEnded(
                effect=id_, result="passed", report=_REPORT, tree=_sum(id_), seconds=1.25
            )
        case e.AskReviewer(id=id_, name="gemini", round=round_) if round_ % 2:
            return f.ReviewEnded(
                effect=id_,
                verdict="REQUEST_CHANGES",
                summary=_SUMMARY,
                findings=(_FINDING, _FINDING),
                why="",
                seconds=31.5,
            )
        case e.AskReviewer(id=id_):
            return f.ReviewEnded(
                effect=id_, verdict="APPROVE", summary=_SUMMARY, findings=(), why="", seconds=31.5
            )


def _item(number: int) -> f.Item:
    text = f"Phase {number} reads one more form of date.\n\nDone when:\n- its tests pass\n" * 3
    return f.Item(
        id=f"phase_{number}",
        title=f"Form {number}",
        description=f"Reads form {number}",
        digest=_sum(text),
        text=text,
    )


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def load_spider() -> library.LoadedDefinition:
    """With reviewers, as a run has them."""
    loaded = library.load_protocol(os.path.join(library.PACKAGED, "spider", "protocol.json"))
    return with_default_panel(loaded, ("claude", "codex", "gemini"))


def spider() -> Definition:
    return load_spider().demand()


def written(directory: str, records: int, run: str = RUN) -> str:
    """A journal of so many records, on the disk; returns its path."""
    unsynced = Unsynced()
    story = Story(spider(), RunState(), unsynced, Undrawn()).begin(run)
    while story.state.seq < records:
        story.step()
    path = os.path.join(directory, "journal.jsonl")
    os.makedirs(directory, exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"".join(unsynced.lines))
        file.flush()
        # Otherwise the first transition that is measured would pay for all of it.
        os.fsync(file.fileno())
    return path


def reopened(root: str, directory: str) -> Story:
    """The run that `written` left, with the journal and the pictures that a runner has."""
    journal, found = Journal.open(os.path.join(directory, "journal.jsonl"))
    state = fold_records(RunState(), decode_records(found.records))
    pictures = RunPictures(root, directory, journal, Clock())
    pictures.keep_edits(state)
    slim = partial(large_payloads.slim_fact, os.path.join(directory, "payloads"))
    return Story(spider(), state, journal, pictures, slim)


def repository(root: Path, records: int, stands: Callable[[RunState], bool]) -> Path:
    """A repository with one run that has so many records, and a few more until it stands so."""
    root.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", root], check=True)
    make_run(root, RUN, records, stands)
    return root


def make_run(root: Path, run: str, records: int, stands: Callable[[RunState], bool]) -> None:
    directory = root / ".git/porch/runs" / run
    written(str(directory), records, run)
    loaded = load_spider()
    payloads.write_payload(str(directory / "payloads"), serialize_definition(loaded.demand()))
    compiled_protocols.write_file_stamps(str(directory), loaded.digest, loaded.files)
    told = reopened(str(root), str(directory))
    while not stands(told.state):
        told.step()
    told.book.pictures.draw_now(told.book.definition, told.state)  # type: ignore[attr-defined]
    told.journal.close()  # type: ignore[union-attr]


def asks_a_person(state: RunState) -> bool:
    return bool(state.decisions)


def wants_an_agent(state: RunState) -> bool:
    """Always for the same work: prompts cost what their templates need."""
    return any(hand.effect.startswith("evaluate") for hand in state.in_hand.values())
