"""A run of SPIDER driven through the machine without agents: facts as real actors give them."""

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import assert_never

from porch.adapters import chain, library
from porch.adapters.journal import Journal
from porch.machine import effects as e
from porch.machine import facts as f
from porch.machine.evolve import fold
from porch.machine.records import Record, decode_all
from porch.machine.state import Decision, InHand, State
from porch.machine.wanted import wanted
from porch.model.definition import Definition, digest
from porch.runtime import payloading
from porch.runtime.book import Book, Moves, PicturesPort
from porch.runtime.clock import Clock
from porch.runtime.pictures import Pictures
from porch.runtime.queue import Queue

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

    def append(self, expected_seq: int, body: Mapping[str, object]) -> None:
        line, self.sum = chain.line(expected_seq, self.sum, body)
        self.length += len(line)
        self.lines.append(line)


class Undrawn:
    """No pictures."""

    def draw(self, definition: Definition, state: State) -> None:
        """Nobody looks."""


class Story:
    """Plays every actor; after the last phase a person rolls back, so that it never ends."""

    def __init__(
        self,
        definition: Definition,
        state: State,
        journal: Journal | Unsynced,
        pictures: PicturesPort,
        slim: Callable[[f.Fact], f.Fact] = lambda fact: fact,
    ):
        self.journal = journal
        self.book = Book(definition, state, journal, pictures, Clock(), lambda _: definition, slim)
        self.queue = Queue({e.AGENT_SLOT: 4})
        self.queue.load(definition.protocol, state)
        self._open: dict[str, e.Request] = {}
        self._recover(definition)

    def _recover(self, definition: Definition) -> None:
        for hand in self.state.in_hand.values():
            requests = wanted(definition.protocol, self.state, hand.position)
            self._open.update({r.id: r for r in requests if r.id == hand.effect})

    @property
    def state(self) -> State:
        return self.book.state

    def begin(self) -> "Story":
        started = f.RunStarted(
            run=RUN,
            id="0073",
            title="A parser for dates",
            protocol=self.book.definition.protocol.name,
            digest=digest(self.book.definition),
            project_dir=PROJECT,
            status_file=f"{PROJECT}/status.yaml",
            worktree=".",
            base_commit=_sum("base"),
            by="ada",
            agent="scripted",
        )
        self.record(started)
        return self

    def step(self) -> Record:
        return self.record(self.next_fact())

    def record(self, fact: f.Fact) -> Record:
        record = self.book.record(fact, self._choose)
        for hand in record.begun:
            self._open[hand.effect] = self.queue.take(hand)
        return record

    def _choose(self, definition: Definition, moved: State, moves: Moves) -> Iterable[InHand]:
        self.queue.refresh(definition.protocol, moved, moves)
        return self.queue.choose()

    def next_fact(self) -> f.Fact:
        for effect in self.queue.unwanted:
            self._open.pop(effect, None)
            return f.EffectStopped(effect)
        if any(s.state.startswith("review") for s in self.state.positions.values()):
            return f.WishTaken(self._wish("rollback", "", data={"state": "specify:draft"}))
        for effect in self._open:
            if "/stale/" not in effect:
                return answer(self._open.pop(effect))
        return f.WishTaken(self._decision(next(iter(self.state.decisions.values()))))

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
            return f.FeedbackWritten(id_, f"{PROJECT}/consultation-{subject}-round-{round_}.md")
        case e.AskPerson(id=id_, artifacts=artifacts):
            sums = {f"{PROJECT}/{name}": _sum(name) for name in artifacts}
            return f.DecisionAsked(id_, _sum(id_), sums)
        case e.ReadItems(id=id_):
            return f.ItemsRead(id_, "headings", tuple(_item(n) for n in (1, 2, 3)), _sum("plan"))
        case e.StartTimer(id=id_):
            return f.TimerFired(id_)
        case e.CommitPaths(id=id_):
            return f.CommitEnded(id_, _sum(id_)[:40])
        case e.AskAgent() | e.MoveBranch():
            raise RuntimeError(f"this story has no instances: {request}")
        case _:
            assert_never(request)


def _worked(request: e.RunAgent | e.RunCheck | e.AskReviewer) -> f.EffectFact:
    match request:
        case e.RunAgent(id=id_, exits=exits):
            said = exits[0].signals[0] if exits[0].signals else exits[0].name
            session = _sum(request.position)[:36]
            return f.ExitAccepted(id_, exits[0].name, {}, said, (), session, 0.0312, 18450)
        case e.RunCheck(id=id_):
            return f.CheckEnded(id_, "passed", _REPORT, _sum(id_), 1.25)
        case e.AskReviewer(id=id_, name="gemini", round=round_) if round_ % 2:
            return f.ReviewEnded(id_, "REQUEST_CHANGES", _SUMMARY, (_FINDING, _FINDING), "", 31.5)
        case e.AskReviewer(id=id_):
            return f.ReviewEnded(id_, "APPROVE", _SUMMARY, (), "", 31.5)


def _item(number: int) -> f.Item:
    text = f"Phase {number} reads one more form of date.\n\nDone when:\n- its tests pass\n" * 3
    return f.Item(f"phase_{number}", f"Form {number}", f"Reads form {number}", _sum(text), text)


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def spider() -> Definition:
    return library.load(os.path.join(library.PACKAGED, "spider", "protocol.json")).demand()


def written(directory: str, records: int) -> str:
    """A journal of so many records, on the disk; returns its path."""
    unsynced = Unsynced()
    story = Story(spider(), State(), unsynced, Undrawn()).begin()
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
    state = fold(State(), decode_all(found.records))
    pictures = Pictures(root, directory, journal, Clock())
    pictures.keep_edits(state)
    slim = partial(payloading.slim, os.path.join(directory, "payloads"))
    return Story(spider(), state, journal, pictures, slim)
