"""Effects in the order in which they became wanted; each starts when all it uses is free."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from porch.machine import moves as m
from porch.machine.effects import Request
from porch.machine.state import InHand, State
from porch.machine.wanted import touched, wanted
from porch.model.protocol import Protocol

# A stale gate's timer is no reason for a runner to stay.
PATIENT = "stale"


class Queue:
    """An index of what is wanted, asked again only for positions that a record touched.

    Everything here changes by what a record touched, so a step costs the same however many
    positions stand.
    """

    def __init__(self, capacity: Mapping[str, int], hands_off: Collection[str] = ()):
        self._capacity = capacity
        self._hands_off = hands_off
        self._by_position: dict[str, tuple[Request, ...]] = {}
        self._held: dict[str, InHand] = {}
        self._used: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self.waiting: dict[str, Request] = {}
        self.unwanted: set[str] = set()

    def load(self, protocol: Protocol, state: State) -> None:
        """Begin from a state: what it holds is held, what its positions want is waiting."""
        for hand in state.in_hand.values():
            self._hold(hand)
        self.refresh_all(protocol, state)

    def refresh_all(self, protocol: Protocol, state: State) -> None:
        for position in [*self._by_position, *state.positions]:
            self._replace(position, wanted(protocol, state, position))

    def refresh(self, protocol: Protocol, state: State, moves: Iterable[m.Move]) -> None:
        """Follow the moves of one record."""
        moves = tuple(moves)
        for move in moves:
            if isinstance(move, m.Settled):
                self._release(move.effect)
        if any(isinstance(move, m.Pinned) for move in moves):
            self.refresh_all(protocol, state)
            return
        gone = [move.position for move in moves if isinstance(move, m.Left)]
        for position in [*gone, *sorted(touched(protocol, state, moves))]:
            self._replace(position, wanted(protocol, state, position))

    def _replace(self, position: str, requests: tuple[Request, ...]) -> None:
        fresh = {request.id: request for request in requests}
        for old in self._by_position.pop(position, ()):
            if old.id not in fresh:
                self.waiting.pop(old.id, None)
                self.unwanted.update({old.id} & self._held.keys())
        for request in requests:
            self.unwanted.discard(request.id)
            if request.id not in self._held:
                self.waiting[request.id] = request
        if requests:
            self._by_position[position] = requests

    def choose(self) -> list[InHand]:
        """What can start now: wanted, in nobody's hands, and everything it uses is free."""
        begun: list[InHand] = []
        used: Counter[str] = Counter()
        for request in self.waiting.values():
            if request.kind not in self._hands_off and self._is_free(request, used):
                used.update(request.uses)
                begun.append(
                    InHand(request.id, request.position, request.kind, request.name, request.uses)
                )
        return begun

    def _is_free(self, request: Request, used: Counter[str]) -> bool:
        return all(
            self._used[name] + used[name] < self._capacity.get(name, 1) for name in request.uses
        )

    def take(self, hand: InHand) -> Request:
        """An effect was begun: it is held until a record settles it."""
        self._hold(hand)
        return self.waiting.pop(hand.effect)

    def _hold(self, hand: InHand) -> None:
        self._held[hand.effect] = hand
        self._used.update(hand.uses)
        self._kinds[hand.kind] += 1

    def _release(self, effect: str) -> None:
        hand = self._held.pop(effect, None)
        self.unwanted.discard(effect)
        if hand is not None:
            self._used.subtract(hand.uses)
            self._kinds[hand.kind] -= 1

    def is_busy(self) -> bool:
        """Whether anything is held that a runner must see to its end."""
        return len(self._held) > self._kinds[PATIENT]

    def holds_nothing(self) -> bool:
        return not self._held

    def wants(self, kind: str) -> bool:
        return any(request.kind == kind for request in self.waiting.values())
