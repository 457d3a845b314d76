"""Budgets of money, tokens, turns and time: of a run and of a phase, looked at before work begins.

Reaching one kills nothing: what is under way ends, nothing more begins, and a person is asked.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from porch.adapters.settings import Settings
from porch.errors import UsageError
from porch.machine import facts as f
from porch.machine.evolve import PAID
from porch.machine.retries import budget_key
from porch.machine.state import Cost, InHand, State
from porch.model.protocol import Agent, Panel, Protocol
from porch.runtime.roster import Post
from porch.runtime.world import World

NAMES = ("max_usd", "max_tokens", "max_turns", "max_minutes")


@dataclass(frozen=True, slots=True)
class Limit:
    """One budget as it stands: `budget` is how people know it, `allowed` what they have granted."""

    budget: str
    name: str
    spent: float
    allowed: float


def reached(
    settings: Settings, protocol: Protocol, state: State, hand: InHand
) -> f.BudgetReached | None:
    """The fact that has to be recorded instead of beginning this effect; None if it may begin."""
    standing = state.positions.get(hand.position)
    if hand.kind not in PAID or standing is None:
        return None
    for limit in _limits(settings, protocol, state, standing.state):
        if limit.spent >= limit.allowed:
            return f.BudgetReached(hand.position, limit.budget, limit.spent, limit.allowed)
    return None


def is_being_asked(state: State) -> bool:
    """Whether a person has not yet said whether to go on; until then nothing paid begins."""
    standing = (state.positions.get(name) for name in state.decisions)
    told = (state.recall(each, each.because) for each in standing if each is not None)
    return any(payload and "budget" in payload for payload in told)


def left_for_a_turn(world: World, state_name: str) -> float:
    """Dollars that a turn may still use; 0 where nobody set a limit."""
    known = _limits(world.settings, world.definition().protocol, world.state(), state_name)
    left = [each.allowed - each.spent for each in known if each.name == "max_usd"]
    return max(0.01, round(min(left), 4)) if left else 0


def _limits(
    settings: Settings, protocol: Protocol, state: State, state_name: str
) -> Iterator[Limit]:
    phase = protocol.states[state_name].group
    mine = [name for name, each in protocol.states.items() if each.group == phase]
    whole = _sum(state, list(state.costs))
    of_run = {name: getattr(settings, name) for name in NAMES}
    yield from _each("run", of_run, whole, state)
    yield from _each(phase, settings.phases.get(phase, {}), _sum(state, mine), state)


def _each(owner: str, set_: Mapping[str, Any], cost: Cost, state: State) -> Iterator[Limit]:
    used = {
        "max_usd": cost.usd,
        "max_tokens": cost.tokens,
        "max_turns": cost.turns,
        "max_minutes": cost.seconds / 60,
    }
    for name in NAMES:
        limit = float(set_.get(name) or 0)
        if limit:
            budget = f"{owner}.{name}"
            asked = state.spent.get(budget_key(budget), 0)
            yield Limit(budget, name, round(used[name], 6), limit * (1 + asked))


def _sum(state: State, names: list[str]) -> Cost:
    total = Cost()
    for name in names:
        total = total.plus(state.costs.get(name, Cost()))
    return total


def demand_measurable(settings: Settings, posts: list[Post]) -> None:
    """A guard that cannot measure fails: dollars need an agent that tells them, or its prices."""
    in_dollars = settings.max_usd or any("max_usd" in each for each in settings.phases.values())
    blind = [post.name for post in posts if not post.tells_usd] if in_dollars else []
    if blind:
        raise UsageError(
            f"max_usd cannot be held with {', '.join(blind)}, which tells tokens and no money",
            fix=f"set usd_per_million under [agents.{blind[0]}], or use max_tokens",
            code="unmeasurable-budget",
        )


def worst_case(settings: Settings, protocol: Protocol) -> str:
    """One line for people, before anything is spent."""
    said = [
        f"{_amount(name, getattr(settings, name))}" for name in NAMES if getattr(settings, name)
    ]
    turn = protocol.limits.agent_s or settings.claude_timeout
    if said:
        running = min(settings.max_running, _most_at_once(protocol))
        more = f"and what up to {running} turns of {turn:g} s under way may still use"
        return f"worst case before a person is asked: {', '.join(said)}, {more}"
    return (
        f"no budget is set ([budget] max_usd, max_tokens, max_turns, max_minutes): a turn ends "
        f"after {turn:g} s, and retries end where the protocol says, but money is not limited"
    )


def _amount(name: str, value: float) -> str:
    forms = {"max_usd": "${:.2f}", "max_tokens": "{:,.0f} tokens", "max_turns": "{:,.0f} turns"}
    return forms.get(name, "{:g} minutes of agents' time").format(value)


def _most_at_once(protocol: Protocol) -> int:
    if protocol.spec:
        return 1_000
    panels = [s.actor for s in protocol.states.values() if isinstance(s.actor, Panel)]
    return max([1, *(len(panel.reviewers) for panel in panels if panel.parallel)])


def posts_of(world: World) -> Iterator[Post]:
    """Everybody whom this protocol may employ, each once."""
    seen: set[str] = set()
    for name, state in world.definition().protocol.states.items():
        for post in _posts_in(world, name, state.actor):
            if post.name not in seen:
                seen.add(post.name)
                yield post


def _posts_in(world: World, name: str, actor: object) -> list[Post]:
    match actor:
        case Agent(role=role, permissions=asked):
            return [world.post_of(role, name, asked)]
        case Panel(reviewers=reviewers):
            return [world.roster.reviewer(each) for each in reviewers]
        case _:
            return []
