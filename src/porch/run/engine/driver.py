"""Drives one run: performs what was begun, records what came of it, rests where people decide."""

import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal
from typing import Protocol as Port

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine.effects import PATIENT, Request
from porch.machine.records import JournalRecord
from porch.machine.state import InHand, RunState
from porch.model.definition import Definition
from porch.run.engine.book import Book, Moves
from porch.run.engine.effect_failures import make_failure_fact
from porch.run.engine.queue import EffectQueue
from porch.system.late_asyncio import asyncio

Objection = f.BudgetReached | f.CommandsDue | f.ApprovalOutdated
BeginGuard = Callable[[Definition, RunState, InHand], Objection | bool]
Perform = Callable[[Request], Awaitable[f.EffectFact]]
RestReason = Literal["ended", "stopped", "waiting", "idle", "interrupted"]


class WishesPort(Port):
    """Drains the inbox into the book and says how many wishes it answered."""

    def drain(self, answer: Callable[[f.Fact], JournalRecord]) -> int: ...


class WorkPlace(Port):
    """One of the places that the runs of a project share; without one, no work begins."""

    def take(self) -> bool: ...

    def give_back(self) -> None: ...


class DriveManner(Struct, frozen=True):
    """How long a drive goes on: while people think, or for a number of agent turns only.

    A driver that was kicked off opens a place, by the directory of its run.
    """

    wait: bool = False
    turns: int = 0
    poll_s: float = 0.1
    open_place: Callable[[str], WorkPlace] | None = None


class Driver:
    """The loop: facts in, one record each, effects started and stopped as it says."""

    def __init__(
        self,
        book: Book,
        queue: EffectQueue,
        *,
        perform: Perform,
        wishes: WishesPort,
        manner: DriveManner,
        on_record: Callable[[JournalRecord, RunState], None] = lambda _record, _state: None,
        on_idle: Callable[[], None] = lambda: None,
        may_begin: BeginGuard = lambda _definition, _state, _hand: True,
        place: WorkPlace | None = None,
    ):
        self._book = book
        self._queue = queue
        self._perform = perform
        self._wishes = wishes
        self._manner = manner
        self._on_record = on_record
        self._on_idle = on_idle
        self._may_begin = may_begin
        self._objection: Objection | None = None
        self._waiting: asyncio.Queue[f.EffectFact | Objection] | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stopping: set[str] = set()
        self._turns_at_start = book.state.turns
        self._leaving = False
        self._place = place
        self._is_queued = False
        self._first: f.Fact | None = None
        self._begun: tuple[InHand, ...] = ()

    @property
    def state(self) -> RunState:
        return self._book.state

    @property
    def _facts(self) -> "asyncio.Queue[f.EffectFact | Objection]":
        if self._waiting is None:
            self._waiting = asyncio.Queue()
        return self._waiting

    def begin(self, first: f.Fact) -> None:
        """The first record of a drive; what it begins is started by `drive`, which has a loop."""
        self._queue.load(self._book.definition.protocol, self.state)
        self._first = first
        self._begun = self._record(first).begun

    async def drive(self) -> RestReason:
        """Until the run rests: over, stopped, waiting for a person, or with nothing left to do."""
        try:
            self._start_all(self._begun)
            while True:
                self._wishes.drain(self.record)
                rest = self._rest()
                if rest is not None:
                    break
                await self._step()
        except asyncio.CancelledError:
            rest = "interrupted"
        finally:
            await self._let_go()
        return rest

    async def _step(self) -> None:
        # Not wait_for: on Python 3.11 that can swallow a Ctrl-C that comes together with a fact.
        arrived = asyncio.ensure_future(self._facts.get())
        try:
            await asyncio.wait({arrived}, timeout=self._manner.poll_s)
        except asyncio.CancelledError:
            if arrived.done():
                self._facts.put_nowait(arrived.result())
            raise
        finally:
            arrived.cancel()
        if arrived.done():
            self.record(arrived.result())
        else:
            self._on_idle()
            self._leave_queue()

    def record(self, fact: f.Fact) -> JournalRecord:
        """One fact becomes one record; then what it begins is started, what it ends is stopped."""
        record = self._record(fact)
        self._start_all(record.begun)
        for effect in self._queue.unwanted & self._tasks.keys():
            self._stop(effect)
        return record

    def _record(self, fact: f.Fact) -> JournalRecord:
        if isinstance(fact, Objection):
            self._objection = None
        record = self._book.record(fact, self._choose)
        self._on_record(record, self.state)
        return record

    def _start_all(self, begun: Iterable[InHand]) -> None:
        for hand in begun:
            self._start(self._queue.take(hand))

    def _stop(self, effect: str) -> None:
        """Once: a second cancel would interrupt the stopping of the effect's processes."""
        if effect not in self._stopping:
            self._stopping.add(effect)
            self._tasks[effect].cancel()

    def _choose(self, definition: Definition, moved: RunState, moves: Moves) -> Iterable[InHand]:
        self._queue.refresh(definition.protocol, moved, moves)
        if self._leaving:
            return ()
        chosen = self._queue.choose()
        if not self._has_turns_left(moved):
            # The next agent belongs to the next call; what the engine itself does goes on.
            chosen = [hand for hand in chosen if hand.kind != "agent"]
        allowed = [hand for hand in chosen if self._is_allowed(definition, moved, hand)]
        return self._with_place(allowed)

    def _with_place(self, chosen: list[InHand]) -> list[InHand]:
        """Whatever works needs a place; timers of people's questions do not."""
        patient = [hand for hand in chosen if hand.kind == PATIENT]
        needs_place = self._place is not None and len(patient) < len(chosen)
        self._is_queued = bool(needs_place and self._place and not self._place.take())
        return patient if self._is_queued else chosen

    def _leave_queue(self) -> None:
        """A record begins what had to wait: the driver really starts only now."""
        if self._is_queued and self._place and self._place.take():
            first = self._first
            assert isinstance(first, f.RunnerStarted)  # noqa: S101 - only drivers have places
            self.record(replace(first, resumed=True))

    def _is_allowed(self, definition: Definition, state: RunState, hand: InHand) -> bool:
        """What a guard objects to does not begin; once, it is said that a person is asked."""
        found = self._may_begin(definition, state, hand)
        if isinstance(found, bool):
            return found
        if self._objection is None:
            self._objection = found
            self._facts.put_nowait(found)
        return False

    def _has_turns_left(self, state: RunState) -> bool:
        limit = self._manner.turns
        return not limit or state.turns - self._turns_at_start < limit

    def _start(self, request: Request) -> None:
        task = asyncio.get_running_loop().create_task(self._performed(request))
        self._tasks[request.id] = task
        task.add_done_callback(lambda task: self._over(request.id, task))

    def _over(self, effect: str, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(effect, None)
        self._stopping.discard(effect)
        if task.cancelled():
            # Stopped before its first step, it could not tell so itself.
            self._facts.put_nowait(f.EffectStopped(effect=effect))

    async def _performed(self, request: Request) -> None:
        """However it ends, that comes back as a fact."""
        try:
            fact = await self._perform(request)
        except asyncio.CancelledError:
            fact = f.EffectStopped(effect=request.id)
        except Exception as error:  # noqa: BLE001 - a defect of ours must not leave a run hanging
            fact = make_failure_fact(request.id, error)
        self._facts.put_nowait(fact)

    def _rest(self) -> RestReason | None:
        state = self.state
        if not self._facts.empty() or self._queue.is_busy():
            return None
        if state.outcome or state.paused:
            if not self._queue.holds_nothing():
                return None
            return "ended" if state.outcome else "stopped"
        if self._is_queued:
            return None
        if not state.decisions:
            return "idle"
        if self._place is not None:
            # People may think for days; others can work in the meantime.
            self._place.give_back()
        return None if self._manner.wait else "waiting"

    async def _let_go(self) -> None:
        """Stop everything in hand and journal that it was stopped, before anybody reuses it."""
        self._leaving = True
        while self._tasks:
            for effect in list(self._tasks):
                self._stop(effect)
            await asyncio.gather(*list(self._tasks.values()), return_exceptions=True)
            await asyncio.sleep(0)
        with contextlib.suppress(PorchError):
            # A disk that refuses ends us; what stays unsettled is settled by whoever takes over.
            while not self._facts.empty():
                self.record(self._facts.get_nowait())
