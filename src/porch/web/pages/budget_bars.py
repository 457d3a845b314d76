"""What a run has used of what it may: money, turns, minutes, tokens; nothing is made up."""

from collections.abc import Mapping, Sequence
from typing import Any

from porch.machine.budgets import NAMES, RUN
from porch.run.agents.budget_limits import BudgetLimit

_TITLES = {
    "max_usd": "Money",
    "max_turns": "Turns",
    "max_minutes": "Minutes of agents",
    "max_tokens": "Tokens",
}
_ORDER = ("max_usd", "max_turns", "max_minutes", "max_tokens")
_NEARLY = 0.8


def make_budgets(
    cost: Mapping[str, Any], limits: Sequence[BudgetLimit], is_scripted: bool
) -> list[dict[str, Any]]:
    """A row for each amount of the run, and one for each limit of a phase."""
    known = {each.name: each for each in limits if each.budget == f"{RUN}.{each.name}"}
    spent = _list_amounts(cost, is_scripted)
    rows = [_make_row(_TITLES[name], name, spent[name], known.get(name)) for name in _ORDER]
    of_phases = [each for each in limits if each not in known.values()]
    return rows + [
        _make_row(
            f"{_TITLES[each.name]} in {each.budget.rpartition('.')[0]}", each.name, each.spent, each
        )
        for each in of_phases
    ]


def _list_amounts(cost: Mapping[str, Any], is_scripted: bool) -> dict[str, float | None]:
    """An agent that worked and told nothing of its money or tokens did not work for nothing."""
    has_worked = cost["turns"] > 0 and not is_scripted
    told = (cost["usd"], cost["tokens"], cost["turns"], cost["seconds"] / 60)
    amounts: dict[str, float | None] = dict(zip(NAMES, told, strict=True))
    for name in ("max_usd", "max_tokens"):
        amounts[name] = None if has_worked and not amounts[name] else amounts[name]
    return amounts


def _make_row(
    title: str, name: str, spent: float | None, limit: BudgetLimit | None
) -> dict[str, Any]:
    shown = "unknown" if spent is None else _format_amount(name, spent)
    share = spent / limit.allowed if limit and limit.allowed and spent is not None else None
    return {
        "title": title,
        "spent": shown,
        "allowed": _format_amount(name, limit.allowed) if limit else "",
        "percent": None if share is None else min(round(100 * share), 100),
        "look": "now" if share is None or share < _NEARLY else "warn" if share < 1 else "bad",
        "word": "used up" if share is not None and share >= 1 else "",
    }


def _format_amount(name: str, value: float) -> str:
    forms = {"max_usd": "{:,.2f} USD", "max_minutes": "{:,.1f}"}
    return forms.get(name, "{:,.0f}").format(value)
