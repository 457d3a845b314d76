"""Budgets of money, tokens, turns and time: of a run and of a phase, looked at before work begins.

Reaching one kills nothing: what is under way ends, nothing more begins, and a person is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from porch.errors import UsageError
from porch.machine import budgets
from porch.machine import facts as f
from porch.machine.budgets import NAMES, RUN
from porch.machine.evolve import PAID
from porch.machine.state import InHand, RunState
from porch.model.protocol import Panel, Protocol

if TYPE_CHECKING:  # lists and explanations ask for budgets, and need no agent
    from porch.run.agents.roster import EmployedAgent
    from porch.run.agents.world import World
    from porch.run.settings import Settings


class BudgetLimit(Struct, frozen=True):
    """One budget as it stands: `budget` is how people know it, `allowed` what they have granted."""

    budget: str
    name: str
    spent: float
    allowed: float
    step: float


def check_budget_of_work(
    settings: Settings, protocol: Protocol, state: RunState, hand: InHand
) -> f.BudgetReached | bool:
    """Whether an effect may begin; else what has to be recorded, unless it is being asked."""
    standing = state.positions.get(hand.position)
    if hand.kind not in PAID or standing is None:
        return True
    return check_budget(
        settings, protocol, state, state_name=standing.state, position=hand.position
    )


def check_budget(
    settings: Settings, protocol: Protocol, state: RunState, *, state_name: str, position: str
) -> f.BudgetReached | bool:
    """The same of work that is known by the name of its state."""
    over = list(_list_used_up(settings, protocol, state, state_name, position))
    fresh = (each for each in over if not budgets.is_question_open(state, each.budget))
    return next(fresh, not over)


def find_used_up(
    settings: Settings, protocol: Protocol, state: RunState, state_name: str, *, position: str
) -> f.BudgetReached | None:
    """The budget that keeps this work from beginning, whether or not that is asked already."""
    return next(_list_used_up(settings, protocol, state, state_name, position), None)


def _list_used_up(
    settings: Settings, protocol: Protocol, state: RunState, state_name: str, position: str
) -> Iterator[f.BudgetReached]:
    for limit in _list_limits(settings, protocol, state, state_name):
        if limit.spent >= limit.allowed:
            yield f.BudgetReached(
                position=position,
                budget=limit.budget,
                spent=limit.spent,
                limit=limit.allowed,
                step=limit.step,
            )


def money_left_for_turn(world: World, state_name: str, spent: float = 0) -> float:
    """Dollars that a turn may still use; 0 where nobody set a limit.

    `spent` is what the same effect has used and not yet told.
    """
    known = _list_limits(world.settings, world.definition().protocol, world.state(), state_name)
    left = [each.allowed - each.spent - spent for each in known if each.name == "max_usd"]
    return max(0.01, round(min(left), 4)) if left else 0


def is_out_of_money(world: World, state_name: str, spent: float) -> bool:
    """Whether what an effect has used so far leaves nothing of a budget of dollars."""
    known = _list_limits(world.settings, world.definition().protocol, world.state(), state_name)
    return any(each.name == "max_usd" and each.spent + spent >= each.allowed for each in known)


def list_run_limits(settings: Settings, protocol: Protocol, state: RunState) -> list[BudgetLimit]:
    """Of the whole run, and of each phase that has one of its own."""
    groups = dict.fromkeys(each.group for each in protocol.states.values())
    of_run = {name: getattr(settings, name) for name in NAMES}
    found = [*_limits_of_owner(protocol, state, RUN, of_run)]
    for phase in groups:
        found += _limits_of_owner(protocol, state, phase, settings.phases.get(phase, {}))
    return found


def _list_limits(
    settings: Settings, protocol: Protocol, state: RunState, state_name: str
) -> Iterator[BudgetLimit]:
    phase = protocol.states[state_name].group
    yield from _limits_of_owner(
        protocol, state, RUN, {name: getattr(settings, name) for name in NAMES}
    )
    yield from _limits_of_owner(protocol, state, phase, settings.phases.get(phase, {}))


def _limits_of_owner(
    protocol: Protocol, state: RunState, owner: str, set_: Mapping[str, Any]
) -> Iterator[BudgetLimit]:
    for name in NAMES:
        step, budget = float(set_.get(name) or 0), f"{owner}.{name}"
        if step:
            spent = budgets.used_amount(protocol, state, budget)
            yield BudgetLimit(
                budget, name, spent, budgets.allowed_amount(state, budget, step), step
            )


def can_measure(settings: Settings, post: EmployedAgent) -> bool:
    """Whether what it costs is known as far as the budgets need it."""
    in_dollars = settings.max_usd or any("max_usd" in each for each in settings.phases.values())
    return post.tells_usd or not in_dollars


def require_measurable(settings: Settings, posts: list[EmployedAgent]) -> None:
    """A guard that cannot measure fails: dollars need an agent that tells them, or its prices."""
    blind = [post.name for post in posts if not can_measure(settings, post)]
    if blind:
        raise UsageError(
            f"max_usd cannot be checked for {', '.join(blind)}: it reports tokens but no cost",
            fix=f"set usd_per_million under [agents.{blind[0]}], or use max_tokens instead",
            code="unmeasurable-budget",
        )


def describe_worst_case(settings: Settings, protocol: Protocol) -> str:
    """One line for people, before anything is spent."""
    said = [
        _format_amount(name, getattr(settings, name)) for name in NAMES if getattr(settings, name)
    ]
    groups = dict.fromkeys(state.group for state in protocol.states.values())
    said += [
        f"{_format_amount(name, settings.phases[phase][name])} in {phase}"
        for phase in groups
        for name in NAMES
        if name in settings.phases.get(phase, {})
    ]
    turn = protocol.limits.agent_s or settings.claude_timeout
    if said:
        running = min(settings.max_running, _count_most_at_once(protocol))
        more = f"plus what up to {running} running turns of {turn:g} s still use"
        return f"porch asks you after {', '.join(said)}: {more}"
    return (
        f"no budget is set, the cost is not limited: set [budget] max_usd, max_tokens, max_turns "
        f"or max_minutes; a turn ends after {turn:g} s, and the protocol limits retries"
    )


def _format_amount(name: str, value: float) -> str:
    forms = {"max_usd": "${:.2f}", "max_tokens": "{:,.0f} tokens", "max_turns": "{:,.0f} turns"}
    return forms.get(name, "{:g} minutes of agent time").format(value)


def _count_most_at_once(protocol: Protocol) -> int:
    if protocol.spec:
        return 1_000
    panels = [s.actor for s in protocol.states.values() if isinstance(s.actor, Panel)]
    return max([1, *(len(panel.reviewers) for panel in panels if panel.parallel)])
