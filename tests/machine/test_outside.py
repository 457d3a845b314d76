"""X1: what changed outside the worktree of a turn: kept until a gate shows it, and one question."""

import pytest

from porch.account.waiting import list_waits
from porch.machine import facts as f
from porch.machine import outside
from porch.machine.approvals import add_engine_states
from porch.machine.budgets import PLAN
from porch.machine.outside import GO_ON, STATE, STOPPED, list_outside_changes
from porch.model import protocol as p
from porch.testing import Rig

QUESTION = f"{STATE}#1"
MERGED = {"head": "0a", "reason": "main has come to contain commits of this run"}


@pytest.fixture
def driven(rig: Rig) -> Rig:
    return Rig(add_engine_states(rig.protocol)).start()


def end_turn(rig: Rig, **found: object) -> None:
    """The turn failed, so that the next one is at the same place."""
    rig.tell(f.EffectFailed(effect=rig.held("agent"), why="crashed", outside=found))
    rig.fires()


def test_x1_changes_are_kept_until_a_gate_was_answered(driven: Rig) -> None:
    end_turn(driven, changes=["branch other: none -> 1"])
    end_turn(driven, changes=["new.txt", "branch other: none -> 1"])
    assert list_outside_changes(driven.state) == ("branch other: none -> 1", "new.txt")
    assert driven.replayed() == driven.state
    assert outside.may_begin(driven.state, "anything#1")
    moves = list(outside.shown_moves(driven.state))
    assert [getattr(move, "path", "").partition(".")[0] for move in moves] == ["outside"]


def test_x1_only_so_many_changes_are_kept(driven: Rig) -> None:
    end_turn(driven, changes=[f"file {number}" for number in range(outside.MOST_KEPT + 5)])
    assert len(list_outside_changes(driven.state)) == outside.MOST_KEPT


def test_x1_an_early_merge_is_one_question_and_nothing_else_begins(driven: Rig) -> None:
    end_turn(driven, changes=["branch main: 1 -> 2"], merged=MERGED)
    assert QUESTION in driven.state.positions
    other = next(place for place in driven.state.positions if place != QUESTION)
    assert outside.may_begin(driven.state, QUESTION)
    assert not outside.may_begin(driven.state, other)
    assert [waiting.position for waiting in list_waits(driven.protocol, driven.state)] == [QUESTION]
    driven.asked()
    driven.decide(GO_ON, position=QUESTION)
    assert outside.may_begin(driven.state, other)
    end_turn(driven, changes=["branch main: 1 -> 2"], merged=MERGED)
    assert not outside.is_open(driven.state), "the same head is asked once"
    end_turn(driven, changes=["branch main: 2 -> 3"], merged={**MERGED, "head": "0b"})
    end_turn(driven, changes=["branch main: 3 -> 4"], merged={**MERGED, "head": "0c"})
    assert [s.position for s in driven.state.positions.values() if s.state == STATE] == [
        f"{STATE}#2"
    ], "one question, about the latest head"


def test_x1_who_stops_ends_the_run(driven: Rig) -> None:
    end_turn(driven, merged=MERGED)
    driven.asked()
    driven.decide(STOPPED, position=QUESTION)
    assert driven.state.outcome == "abandoned"


def test_x1_a_protocol_with_such_a_phase_and_a_plan_have_no_question(rig: Rig) -> None:
    named = p.Protocol("p", p.Target(STATE), {STATE: p.State(STATE, STATE, p.End("complete"))}, ())
    assert outside.add_outside_state(named) is named
    plan = p.Protocol("p", p.Target("a"), {}, (), subject=PLAN)
    assert outside.add_outside_state(plan) is plan
    without = Rig(rig.protocol).start()
    end_turn(without, merged=MERGED)
    assert not outside.is_open(without.state)
