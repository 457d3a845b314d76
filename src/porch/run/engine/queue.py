"""Effects in the order in which they became wanted; each starts when all it uses is free."""

from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count

from porch.machine import moves as m
from porch.machine.effects import PATIENT, Request, as_in_hand
from porch.machine.state import InHand, RunState
from porch.machine.wanted import touched_positions, wanted_effects
from porch.model.protocol import Protocol

Ticket = tuple[int, str]  # when an effect became wanted, and its id


class EffectQueue:
    """An index of what is wanted, asked again only for positions that a record touched.

    Everything here changes by what a record touched, so a step costs the same however many
    positions stand. Hence what cannot start is parked with the one thing that it lacks, and
    looked at again when some of that was given back.
    """

    def __init__(self, capacity: Mapping[str, int], hands_off: Collection[str] = ()):
        self._capacity = capacity
        self._hands_off = hands_off
        self._by_position: dict[str, tuple[Request, ...]] = {}
        self._held: dict[str, InHand] = {}
        self._holders: Mapping[str, str] = {}
        self._used: dict[str, int] = {}
        self._patient = 0
        self._numbers = count()
        self._turns: dict[str, Ticket] = {}
        self._next: list[Ticket] = []
        self._parked: dict[str, list[Ticket]] = {}
        self._given_back: set[str] = set()
        self.waiting: dict[str, Request] = {}
        self.unwanted: set[str] = set()

    def load(self, protocol: Protocol, state: RunState) -> None:
        """Begin from a state: what it holds is held, what its positions want is waiting."""
        for hand in state.in_hand.values():
            self._hold(hand)
        self._holders = state.held
        self.refresh_all(protocol, state)

    def refresh_all(self, protocol: Protocol, state: RunState) -> None:
        for position in [*self._by_position, *state.positions]:
            self._replace(position, wanted_effects(protocol, state, position))

    def refresh(self, protocol: Protocol, state: RunState, moves: Sequence[m.Move]) -> None:
        """Follow the moves of one record."""
        gone = []
        if state.held is not self._holders:
            self._given_back.update(self._holders)
            self._holders = state.held
        for move in moves:
            if isinstance(move, m.Settled):
                self._release(move.effect)
            elif isinstance(move, m.Left):
                gone.append(move.position)
            elif isinstance(move, m.Pinned):
                self.refresh_all(protocol, state)
        for position in [
            *gone,
            *sorted(touched_positions(protocol, state, moves).difference(gone)),
        ]:
            self._replace(position, wanted_effects(protocol, state, position))

    def _replace(self, position: str, requests: tuple[Request, ...]) -> None:
        fresh = {request.id for request in requests}
        for old in self._by_position.pop(position, ()):
            if old.id not in fresh:
                self._withdraw(old)
        for request in requests:
            self.unwanted.discard(request.id)
            if request.id not in self._held:
                self._await(request)
        if requests:
            self._by_position[position] = requests

    def _withdraw(self, request: Request) -> None:
        if self.waiting.pop(request.id, None) is not None:
            del self._turns[request.id]
            # It may have been about to start, and others stood back for it.
            self._given_back.update(request.uses)
        if request.id in self._held:
            self.unwanted.add(request.id)

    def _await(self, request: Request) -> None:
        if request.id not in self.waiting:
            turn = self._turns[request.id] = (next(self._numbers), request.id)
            heappush(self._next, turn)
        self.waiting[request.id] = request

    def choose(self) -> list[InHand]:
        """What can start now: wanted, in nobody's hands, and everything it uses is free."""
        begun: list[InHand] = []
        looked_at: list[Ticket] = []
        used: dict[str, int] = {}
        while (turn := self._first(used)) is not None:
            request = self._unparked(turn)
            if request is None:
                continue
            looked_at.append(turn)
            if not self._lacking(request, used):
                used.update({name: used.get(name, 0) + 1 for name in request.uses})
                begun.append(as_in_hand(request))
        # Chosen is not yet begun, the caller may leave some for later; so all come up again.
        self._next = looked_at
        return begun

    def _first(self, used: Mapping[str, int]) -> Ticket | None:
        """The turn that came first among the new ones and those that lack what was given back."""
        heaps = [self._next] if self._next else []
        for name in tuple(self._given_back):
            free = self._capacity.get(name, 1) - self._used.get(name, 0)
            if free <= 0 or name in self._holders or not self._parked.get(name):
                # What a position holds is given back by its leaving only.
                self._given_back.discard(name)
            elif free > used.get(name, 0):
                heaps.append(self._parked[name])
        return heappop(min(heaps)) if heaps else None

    def _unparked(self, turn: Ticket) -> Request | None:
        """The request whose turn it is, unless it is gone, not ours, or lacks what others hold."""
        request = self.waiting.get(turn[1])
        if request is None or self._turns[turn[1]] != turn or request.kind in self._hands_off:
            return None
        lacking = self._lacking(request, {})
        if lacking:
            heappush(self._parked.setdefault(lacking, []), turn)
            return None
        return request

    def _lacking(self, request: Request, used: Mapping[str, int]) -> str:
        for name in request.uses:
            if self._holders.get(name, request.position) != request.position:
                return name
            if self._used.get(name, 0) + used.get(name, 0) >= self._capacity.get(name, 1):
                return name
        return ""

    def take(self, hand: InHand) -> Request:
        """An effect was begun: it is held until a record settles it."""
        self._hold(hand)
        self._turns.pop(hand.effect, None)
        return self.waiting.pop(hand.effect)

    def _hold(self, hand: InHand) -> None:
        self._held[hand.effect] = hand
        for name in hand.uses:
            self._used[name] = self._used.get(name, 0) + 1
        self._patient += hand.kind == PATIENT

    def _release(self, effect: str) -> None:
        hand = self._held.pop(effect, None)
        self.unwanted.discard(effect)
        if hand is not None:
            for name in hand.uses:
                self._used[name] -= 1
            self._given_back.update(hand.uses)
            self._patient -= hand.kind == PATIENT

    def is_busy(self) -> bool:
        """Whether anything is held that a runner must see to its end."""
        return len(self._held) > self._patient

    def holds_nothing(self) -> bool:
        return not self._held

    def wants(self, kind: str) -> bool:
        return any(request.kind == kind for request in self.waiting.values())
