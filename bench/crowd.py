"""A thousand positions in one run: what a step costs may not depend on who else stands there."""

import os
from collections.abc import Iterable
from pathlib import Path

from bench.measure import Result, of_times, pairs
from bench.story import answer
from porch.machine import effects as e
from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.evolve import evolve_state
from porch.machine.records import JournalRecord, encode_record
from porch.machine.state import InHand, RunState, position_text
from porch.model import protocol as p
from porch.model.definition import Definition
from porch.run.engine.book import Book, Moves
from porch.run.engine.pictures import RunPictures
from porch.run.engine.queue import EffectQueue
from porch.store.journal import Journal
from porch.system.clock import Clock

FEW, MANY = 10, 1_000
STEPS_AT_ONCE, ROUNDS = 25, 40
# Fewer than there are positions, so that most of them wait for a slot.
SLOTS = 4


def _protocol() -> p.Protocol:
    """Work and its proof, again and again, in an instance of its own for each child."""
    work = p.State("work", "work", p.Agent("worker", exits=(p.Exit("DONE", ("DONE",)),)))
    prove = p.State("prove", "prove", p.Check((p.Command("tests", "make test"),)))
    again = p.Edge("prove", "passed", (p.Target("work"),), charges="rounds", spent=())
    done = p.Edge("work", "DONE", (p.Target("prove"),))
    return p.Protocol(
        name="crowd",
        initial=p.Target("work"),
        states={"work": work, "prove": prove},
        edges=(done, again),
        budgets={"rounds": p.Budget("rounds", 1_000_000)},
    )


class Crowd:
    """A run with so many children, each at its own position and in its own worktree."""

    def __init__(self, place: Path, size: int):
        directory = str(place / "runs" / str(size))
        self.journal, _ = Journal.open(os.path.join(directory, "journal.jsonl"))
        definition, state = Definition(_protocol()), self._begun(size)
        pictures = RunPictures(str(place), directory, self.journal, Clock())
        pictures.keep_edits(state)
        self.book = Book(
            definition,
            state,
            journal=self.journal,
            pictures=pictures,
            clock=Clock(),
            pinned=lambda _: definition,
        )
        self.queue = EffectQueue({e.AGENT_SLOT: SLOTS})
        self.queue.load(definition.protocol, state)
        self._open: dict[str, e.Request] = {}
        self.record(f.RunnerStarted(host="here", boot="boot", pid=1, release="bench"))

    def _begun(self, size: int) -> RunState:
        fact = f.RunStarted(run="crowd", id="0001", title="A crowd", protocol="crowd", digest="d0")
        began = m.Began("crowd", "0001", "A crowd", "crowd", "d0")
        entered = [_entered(f"child-{number}") for number in range(size)]
        record = JournalRecord(1, Clock().now(), fact, (began, *entered))
        self.journal.append(1, encode_record(record))
        return evolve_state(RunState(), record)

    def record(self, fact: f.Fact) -> None:
        record = self.book.record(fact, self._choose)
        for hand in record.begun:
            self._open[hand.effect] = self.queue.take(hand)

    def _choose(self, definition: Definition, moved: RunState, moves: Moves) -> Iterable[InHand]:
        self.queue.refresh(definition.protocol, moved, moves)
        return self.queue.choose()

    def steps(self) -> None:
        for _ in range(STEPS_AT_ONCE):
            self.record(answer(self._open.pop(next(iter(self._open)))))


def _entered(instance: str) -> m.Entered:
    return m.Entered(position_text(instance, "work", "", 1), "work", 1, "", instance)


def results(place: Path) -> list[Result]:
    """Steps with the real journal and pictures, in small portions, so that none hides a picture."""
    many, few = Crowd(place / "crowd", MANY), Crowd(place / "crowd", FEW)
    times = pairs(many.steps, few.steps, ROUNDS)
    each = [(one / STEPS_AT_ONCE, other / STEPS_AT_ONCE) for one, other in times]
    return [of_times("a step among 1,000 positions / among 10", 1.5, each)]
