"""The run as its lock holder has it: state, definition, journal and pictures, moved by facts."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Protocol as Port

from porch.errors import PorchError
from porch.machine import moves as m
from porch.machine.evolve import apply_begun_effects, evolve_state
from porch.machine.facts import Fact
from porch.machine.records import JournalRecord, RawRecord, encode_record
from porch.machine.route import route_fact
from porch.machine.state import InHand, RunState
from porch.model.definition import Definition
from porch.system.clock import Clock, later_instant


class JournalPort(Port):
    """Appends one record, refusing when the sequence has moved.

    `announce` hears just before how long the journal will be, and its sum then.
    """

    def append(
        self, expected_seq: int, body: RawRecord, announce: Callable[[int, str], object]
    ) -> None: ...


class PicturesPort(Port):
    """Draws what people and other programs read."""

    def announce(
        self, definition: Definition, state: RunState, length: int, total: str
    ) -> None: ...

    def draw(self, definition: Definition, state: RunState) -> None: ...


Moves = tuple[m.Move, ...]
Choose = Callable[[Definition, RunState, Moves], Iterable[InHand]]


def _note_nothing(_state: RunState) -> None:
    """For who keeps no work."""


def _choose_nothing(_definition: Definition, _state: RunState, _moves: Moves) -> Iterable[InHand]:
    return ()


class Book:
    """One fact in, one record out, in one write; nobody acts before it is written."""

    def __init__(
        self,
        definition: Definition,
        state: RunState,
        *,
        journal: JournalPort,
        pictures: PicturesPort,
        clock: Clock,
        pinned: Callable[[str], Definition],
        slim: Callable[[Fact], Fact] = lambda fact: fact,
        note_end: Callable[[RunState], None] = _note_nothing,
    ):
        self.definition = definition
        self.state = state
        self.journal = journal
        self.pictures = pictures
        self.clock = clock
        self.pinned = pinned
        self._slim = slim
        self._note_end = note_end
        self.trouble = ""

    def record(self, fact: Fact, choose: Choose = _choose_nothing) -> JournalRecord:
        """Route, choose what begins because of it, append, and only then believe it."""
        protocol = self.definition.protocol
        fact = self._slim(fact)
        moves = route_fact(protocol, self.state, fact)
        at = later_instant(self.state.at, self.clock.now())
        seq = self.state.seq + 1
        moved = evolve_state(self.state, JournalRecord(seq, at, fact, moves))
        definition = self._definition(moves)
        begun = tuple(choose(definition, moved, moves))
        record = JournalRecord(seq, at, fact, moves, begun)
        state = apply_begun_effects(moved, begun)
        self.journal.append(seq, encode_record(record), partial(self._announce, definition, state))
        self.state, self.definition = state, definition
        self._draw()
        return record

    def _announce(self, definition: Definition, state: RunState, length: int, total: str) -> None:
        """Lists know the next record even if nobody lives to draw it; they can do without.

        So does who delivers the work of a run that ends with it.
        """
        with suppress(PorchError, OSError):
            self.pictures.announce(definition, state, length, total)
        if state.outcome and not self.state.outcome:
            with suppress(PorchError, OSError):
                self._note_end(state)

    def _draw(self) -> None:
        """A picture that cannot be drawn is a pity; the record stands, and the run goes on."""
        try:
            self.pictures.draw(self.definition, self.state)
        except (PorchError, OSError) as error:
            self.trouble = str(error)

    def _definition(self, moves: Moves) -> Definition:
        pins = [move.digest for move in moves if isinstance(move, m.Pinned)]
        return self.pinned(pins[-1]) if pins else self.definition
