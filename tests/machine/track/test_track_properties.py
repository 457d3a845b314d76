"""Any plan, walked by anybody in any way: it is never stuck, and goes on to its end."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porch.machine import facts as f
from porch.machine.state import Standing
from porch.model.protocol import Agent, Check, Human, Join, Panel
from porch.testing import Verdict
from tests.plans import AI, GAP, HUMAN, Walk, confirm, phase, plan, task
from tests.torture import FULL

STEPS = 60
_YES = ("approved", "retry", "skip", "waived")


def make_plan(dice: random.Random) -> str:
    phases = [make_phase(dice, number) for number in range(1, dice.randint(2, 3) + 1)]
    return plan(*phases).replace("</metadata>", "<execution_mode>wave</execution_mode></metadata>")


def make_phase(dice: random.Random, number: int) -> str:
    tasks = [
        task(f"T{number}.{n}", *confirms(dice)).replace(
            "<task ", f'<task wave="W{dice.randint(1, 2)}" ', 1
        )
        for n in range(1, dice.randint(1, 3) + 1)
    ]
    waves = '<waves><wave id="W1"/><wave id="W2" depends_on="W1"/></waves>'
    return phase(f"P{number}", *confirms(dice), *([waves] if dice.random() < 0.6 else []), *tasks)


def confirms(dice: random.Random) -> list[str]:
    kinds = dice.sample((HUMAN, AI, GAP), dice.choice((0, 0, 1, 1, 2)))
    return [confirm(kind, dice.choice(("before", "after", "both"))) for kind in kinds]


class Wanderer:
    """Does whatever may be done next; towards the end only what leads to it."""

    def __init__(self, dice: random.Random):
        self.dice = dice
        self.walk = Walk(make_plan(dice), coalesce=dice.random() < 0.5)

    def go(self) -> None:
        for step in range(STEPS * 10):
            if self.walk.state.outcome:
                return
            self.assert_alive()
            if step < STEPS and self.dice.random() < 0.2:
                self.take_back()
            else:
                self.move(is_kind=step >= STEPS)
        raise AssertionError(f"it goes round at {self.walk.place}")

    def assert_alive(self) -> None:
        """Somebody is wanted somewhere, and each place is stood at once."""
        walk = self.walk
        walk.let_go()
        places = list(walk.state.positions.values())
        states = [each.state for each in places]
        assert len(states) == len(set(states)), states
        waiting = [each for each in places if not isinstance(self.actor(each), Join)]
        assert waiting, f"nobody is wanted at {walk.place}"
        assert walk.wanted(), walk.place
        assert walk.replayed().positions == walk.state.positions

    def actor(self, standing: Standing) -> object:
        return self.walk.protocol.states[standing.state].actor

    def take_back(self) -> None:
        names = [n for n in self.walk.protocol.states if ":" not in n]
        self.walk.says(self.dice.choice(("cancel", "reopen")), self.dice.choice(names))

    def move(self, *, is_kind: bool) -> None:
        places = [e for e in self.walk.state.positions.values() if e.state != "changed"]
        standing = self.dice.choice([e for e in places if not isinstance(self.actor(e), Join)])
        match self.actor(standing):
            case Agent():
                self.work(standing, is_kind=is_kind)
            case Panel(reviewers=(reviewer,)):
                self.review(standing, reviewer, is_kind=is_kind)
            case Human(options=options):
                exits = [option.exit for option in options]
                kind = next((each for each in _YES if each in exits), exits[0])
                chosen = kind if is_kind else self.dice.choice(exits)
                chosen = kind if chosen == "stopped" and "retry" in exits else chosen
                self.walk.answer_at(standing.state, chosen, "because")
            case Check():
                self.walk.check("confirmed", "passed")
            case other:
                raise AssertionError(other)

    def held(self, standing: Standing, kind: str) -> str:
        hands = self.walk.state.in_hand.values()
        found = (h.effect for h in hands if (h.kind, h.position) == (kind, standing.position))
        return next(found, "")

    def work(self, standing: Standing, *, is_kind: bool) -> None:
        effect = self.held(standing, "agent")
        if not effect:
            return
        blocked = not is_kind and self.dice.random() < 0.2
        told = {"unchanged": "x"} if self.dice.random() < 0.2 else {"files": ["a"]}
        exit_ = "BLOCKED" if blocked else "done"
        self.walk.tell(f.ExitAccepted(effect=effect, exit=exit_, payload=told, signal=exit_))

    def review(self, standing: Standing, reviewer: str, *, is_kind: bool) -> None:
        effect = self.held(standing, "review")
        if effect:
            verdict: Verdict = "APPROVE" if is_kind else self.dice.choice(VERDICTS)
            self.walk.tell(f.ReviewEnded(effect=effect, verdict=verdict, summary="", why="x"))
        feedback = self.held(standing, "feedback")
        if feedback:
            self.walk.tell(f.FeedbackWritten(effect=feedback, path="round.md"))


VERDICTS: tuple[Verdict, ...] = ("APPROVE", "REQUEST_CHANGES", "ABSTAIN")


@pytest.mark.torture
@given(st.integers(0, 1 << 40))
@settings(
    max_examples=3_000 if FULL else 15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=not FULL,
)
def test_a_walk_is_never_stuck_and_comes_to_its_end(seed: int) -> None:
    Wanderer(random.Random(seed)).go()
