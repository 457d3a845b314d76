"""A budget that is used up: a question beside the work, a grant relative to what was used."""

import pytest

from porch.machine import budgets
from porch.machine import facts as f
from porch.machine.budgets import add_budget_state
from porch.testing import Rig

REACHED = f.BudgetReached(
    position="specify:draft#1", budget="run.max_usd", spent=2.5, limit=2.0, step=2.0
)
QUESTION = "budget:run.max_usd#1"


@pytest.fixture
def paying(rig: Rig) -> Rig:
    return Rig(add_budget_state(rig.protocol)).start()


def stands(rig: Rig) -> list[str]:
    return list(rig.state.positions)


def pay(rig: Rig, usd: float) -> None:
    rig.tell(f.EffectFailed(effect=rig.held("agent"), why="crashed", usd=usd, tokens=10, seconds=2))
    rig.fires()


def test_nothing_is_left_and_nothing_is_stopped(paying: Rig) -> None:
    working = paying.held("agent")
    paying.tell(REACHED)
    assert stands(paying) == ["specify:draft#1", QUESTION]
    assert paying.held("agent") == working
    assert paying.unwanted() == []


def test_one_question_stands_for_one_budget(paying: Rig) -> None:
    paying.tell(REACHED)
    paying.tell(REACHED)
    assert stands(paying) == ["specify:draft#1", QUESTION]
    paying.tell(
        f.BudgetReached(
            position="specify:draft#1", budget="run.max_turns", spent=3, limit=3, step=3
        )
    )
    assert stands(paying)[-1] == "budget:run.max_turns#1"


def test_to_ask_allows_nothing_and_the_answer_counts_from_what_was_used_by_then(
    paying: Rig,
) -> None:
    pay(paying, 2.5)
    paying.tell(REACHED)
    assert budgets.allowed_amount(paying.state, "run.max_usd", 2.0) == 2.0
    pay(paying, 4.0)
    paying.asked()
    paying.decide("retry", position=QUESTION)
    assert budgets.used_amount(paying.protocol, paying.state, "run.max_usd") == 6.5
    assert budgets.allowed_amount(paying.state, "run.max_usd", 2.0) == 8.5
    assert stands(paying) == ["specify:draft#1"]


def test_a_grant_outlives_a_rollback(paying: Rig) -> None:
    pay(paying, 2.5)
    paying.tell(REACHED)
    paying.asked()
    paying.decide("retry", position=QUESTION)
    paying.exit("SPEC_DRAFTED")
    paying.ask("rollback", state="specify:draft")
    assert budgets.allowed_amount(paying.state, "run.max_usd", 2.0) == 4.5


def test_a_question_about_a_budget_is_no_place_to_go_forward_from(paying: Rig) -> None:
    paying.tell(REACHED)
    paying.ask("rollback", state="plan:draft")
    assert stands(paying) == ["specify:draft#1", QUESTION]


def test_whoever_says_stop_ends_the_run(paying: Rig) -> None:
    paying.tell(REACHED)
    paying.asked()
    paying.decide("stopped", position=QUESTION)
    assert paying.state.outcome == "abandoned"


def test_a_phase_counts_its_own_states_only(paying: Rig) -> None:
    pay(paying, 0.5)
    assert budgets.used_amount(paying.protocol, paying.state, "specify.max_usd") == 0.5
    assert budgets.used_amount(paying.protocol, paying.state, "specify.max_tokens") == 10
    assert budgets.used_amount(paying.protocol, paying.state, "specify.max_turns") == 1
    minutes = budgets.used_amount(paying.protocol, paying.state, "specify.max_minutes")
    assert minutes == pytest.approx(2 / 60, abs=1e-6)
    assert budgets.used_amount(paying.protocol, paying.state, "plan.max_usd") == 0


def test_what_is_paid_for_is_counted_by_the_state_that_used_it(rig: Rig) -> None:
    rig.tell(f.TurnEndedSilent(effect=rig.held("agent"), usd=0.5, tokens=10, seconds=2))
    rig.tell(f.EffectFailed(effect=rig.held("agent"), why="crashed", usd=0.25, tokens=5, seconds=1))
    cost = rig.state.costs["specify:draft"]
    assert (cost.turns, cost.usd, cost.tokens, cost.seconds) == (2, 0.75, 15, 3)


def test_whoever_says_stop_is_granted_nothing(paying: Rig) -> None:
    pay(paying, 2.5)
    paying.tell(REACHED)
    paying.asked()
    paying.decide("stopped", position=QUESTION)
    assert budgets.allowed_amount(paying.state, "run.max_usd", 2.0) == 2.0
