"""The queue parks what lacks something; nobody may notice but by its speed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.machine import effects as e
from porch.machine import moves as m
from porch.machine.state import InHand, RunState, Standing
from porch.model import protocol as p
from porch.run.engine.queue import EffectQueue

SLOTS = 2
CHILDREN = tuple(f"child-{number}" for number in range(6))


def protocol() -> p.Protocol:
    work = p.State("work", "work", p.Agent("worker", exits=(p.Exit("DONE"),)))
    prove = p.State("prove", "prove", p.Check((p.Command("a", "true"), p.Command("b", "true"))))
    return p.Protocol("crowd", p.Target("work"), {"work": work, "prove": prove}, ())


PROTOCOL = protocol()


@dataclass
class Plain:
    """The rule as it is written: all that waits, in order, is looked at in every step."""

    waiting: dict[str, e.Request] = field(default_factory=dict)
    held: dict[str, InHand] = field(default_factory=dict)

    def choose(self) -> list[str]:
        used = Counter(name for hand in self.held.values() for name in hand.uses)
        chosen = []
        for request in self.waiting.values():
            if all(used[name] < (SLOTS if name == "agent" else 1) for name in request.uses):
                used.update(request.uses)
                chosen.append(request.id)
        return chosen


class Both:
    """The queue and the plain rule, told the same."""

    def __init__(self) -> None:
        self.queue = EffectQueue({e.AGENT_SLOT: SLOTS})
        self.plain = Plain()
        self.positions: dict[str, Standing] = {}
        self.visit = 0

    def state(self) -> RunState:
        return RunState(positions=MappingProxyType(dict(self.positions)))

    def enter(self, child: str, state: str) -> None:
        self.visit += 1
        position = f"{child}/{state}#{self.visit}"
        self.positions[position] = Standing(position, child, state, "", self.visit, "")
        self._follow((m.Entered(position, state, self.visit, "", child),))

    def leave(self, position: str) -> None:
        del self.positions[position]
        self._follow((m.Left(position),))

    def settle(self, effect: str) -> None:
        hand = self.plain.held.pop(effect)
        # As in a run: what ended is over with its position.
        self.positions.pop(hand.position, None)
        self._follow((m.Settled(effect), m.Left(hand.position)))

    def _follow(self, moves: tuple[m.Move, ...]) -> None:
        self.queue.refresh(PROTOCOL, self.state(), moves)
        wanted = {
            request.id: request
            for requests in self.queue._by_position.values()
            for request in requests
            if request.id not in self.plain.held
        }
        kept = {id_: r for id_, r in self.plain.waiting.items() if id_ in wanted}
        self.plain.waiting = {**kept, **{i: r for i, r in wanted.items() if i not in kept}}

    def step(self, takes: int) -> None:
        """Both choose the same; the driver takes only some of it."""
        chosen = self.queue.choose()
        assert [hand.effect for hand in chosen] == self.plain.choose()
        for hand in chosen[:takes]:
            self.queue.take(hand)
            self.plain.held[hand.effect] = hand
            del self.plain.waiting[hand.effect]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_what_is_chosen_is_what_looking_at_everything_in_order_would_choose(
    data: st.DataObject,
) -> None:
    both = Both()
    for _ in range(data.draw(st.integers(1, 40))):
        done = data.draw(st.sampled_from(("enter", "leave", "settle")))
        if done == "enter":
            child = data.draw(st.sampled_from(CHILDREN))
            both.enter(child, data.draw(st.sampled_from(("work", "prove"))))
        elif done == "leave" and both.positions:
            both.leave(data.draw(st.sampled_from(sorted(both.positions))))
        elif done == "settle" and both.plain.held:
            both.settle(data.draw(st.sampled_from(sorted(both.plain.held))))
        both.step(data.draw(st.integers(0, 3)))


def test_a_slot_that_is_given_back_goes_to_whoever_has_waited_longest() -> None:
    both = Both()
    for child in CHILDREN:
        both.enter(child, "work")
        both.step(9)
    first, second = sorted(both.plain.held)
    both.settle(first)
    both.step(9)
    assert sorted(both.plain.held) == [second, "child-2/work#3/agent/worker/0"]


@pytest.mark.parametrize("waiting", [10, 1_000])
def test_a_step_looks_at_few_however_many_wait(
    waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Both()
    for number in range(waiting):
        both.enter(f"child-{number}", "work")
    both.step(9)
    both.step(9)
    looks: list[str] = []
    real = both.queue._lacking

    def counted(request: e.Request, used: Mapping[str, int]) -> str:
        looks.append(request.id)
        return real(request, used)

    monkeypatch.setattr(both.queue, "_lacking", counted)
    effect = next(iter(both.plain.held))
    both.queue.refresh(PROTOCOL, both.state(), (m.Settled(effect),))
    both.queue.choose()
    assert 0 < len(looks) < 8
