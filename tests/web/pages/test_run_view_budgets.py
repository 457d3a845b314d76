"""What a run has used of what it may."""

from typing import Any

from porch.run.agents.budget_limits import BudgetLimit
from porch.web.pages.run_view import make_budgets

COST = {"usd": 1.5, "tokens": 2_000, "turns": 4, "seconds": 90.0}


def rows(cost: dict[str, Any], *limits: BudgetLimit, is_scripted: bool = False) -> dict[str, Any]:
    return {row["title"]: row for row in make_budgets(cost, limits, is_scripted)}


def test_amounts_are_told_with_what_is_allowed() -> None:
    told = rows(COST, BudgetLimit("run.max_usd", "max_usd", 1.5, 2, 2))
    assert {title: (row["spent"], row["allowed"]) for title, row in told.items()} == {
        "Money": ("1.50 USD", "2.00 USD"),
        "Turns and reviews": ("4", ""),
        "Minutes of agents": ("1.5", ""),
        "Tokens": ("2,000", ""),
    }
    assert (told["Money"]["percent"], told["Money"]["look"]) == (75, "now")
    assert told["Turns and reviews"]["percent"] is None


def test_what_is_nearly_or_wholly_used_says_so() -> None:
    near = rows(COST, BudgetLimit("run.max_turns", "max_turns", 4, 5, 5))["Turns and reviews"]
    over = rows(COST, BudgetLimit("run.max_turns", "max_turns", 4, 3, 3))["Turns and reviews"]
    assert (near["look"], near["word"]) == ("warn", "")
    assert (over["look"], over["word"], over["percent"]) == ("bad", "used up", 100)


def test_what_was_not_measured_is_unknown_and_not_nothing() -> None:
    silent = {**COST, "usd": 0, "tokens": 0}
    told = rows(silent, BudgetLimit("run.max_usd", "max_usd", 0, 2, 2))
    assert (told["Money"]["spent"], told["Money"]["percent"]) == ("unknown", None)
    assert told["Tokens"]["spent"] == "unknown"
    assert rows(silent, is_scripted=True)["Money"]["spent"] == "0.00 USD"
    fresh = {"usd": 0, "tokens": 0, "turns": 0, "seconds": 0}
    assert rows(fresh)["Money"]["spent"] == "0.00 USD"


def test_a_phase_with_a_limit_of_its_own_has_a_row() -> None:
    told = rows(COST, BudgetLimit("implement.max_usd", "max_usd", 1, 4, 4))
    assert told["Money in implement"]["percent"] == 25
    assert told["Money"]["allowed"] == ""
