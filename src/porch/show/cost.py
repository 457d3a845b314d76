"""What agents and reviewers have used: by phase, and in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from porch.machine.budgets import PLAN
from porch.machine.state import Cost, RunState
from porch.model.protocol import Panel, Protocol

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import CostShape


def sum_cost_by_phase(protocol: Protocol, state: RunState) -> dict[str, Cost]:
    """Phases in the order of the protocol; only those in which anything was used."""
    found: dict[str, Cost] = {}
    for name in dict.fromkeys((*protocol.states, *state.costs)):
        known = protocol.states.get(name)
        phase = known.group if known else name
        if name in state.costs:
            found[phase] = found.get(phase, Cost()).plus(state.costs[name])
    return found


def make_cost_data(protocol: Protocol, state: RunState) -> CostShape:
    """The same as plain data; turns of reviewers count too, and are named apart."""
    phases = sum_cost_by_phase(protocol, state)
    total = Cost()
    for cost in phases.values():
        total = total.plus(cost)
    whole = Cost(total.turns, state.usd, state.tokens, total.seconds)
    reviews = _count_reviews(protocol, state)
    return {
        **_cost_fields(whole, sum(reviews.values())),
        "agent_turns": state.turns,
        "phases": {name: _cost_fields(cost, reviews.get(name, 0)) for name, cost in phases.items()},
    }


def _count_reviews(protocol: Protocol, state: RunState) -> dict[str, int]:
    """How many turns of each phase were those of reviewers."""
    found: dict[str, int] = {}
    for name, used in state.costs.items():
        known = protocol.states.get(name)
        # Of a plan agents only review; its commands do the rest.
        if known and (isinstance(known.actor, Panel) or protocol.subject == PLAN):
            found[known.group] = found.get(known.group, 0) + used.turns
    return found


def describe_turns(cost: CostShape) -> str:
    """Of agents, and of reviewers where there were any: lists of turns have both."""
    reviews = cost.get("reviews", 0)
    number = cost.get("agent_turns", cost["turns"] - reviews)
    agents = "1 agent turn" if number == 1 else f"{number} agent turns"
    if not reviews:
        return agents
    return f"{agents} and {'1 review' if reviews == 1 else f'{reviews} reviews'}"


def describe_money(cost: CostShape, allowed: float = 0) -> str:
    """Of real agents: one that worked and told no price did not work for nothing."""
    limit = f" of {allowed:.2f}" if allowed else ""
    if cost["turns"] and not cost["usd"]:
        return f"cost unknown{f' (limit {allowed:.2f} USD)' if allowed else ''}"
    return f"{cost['usd']:.2f}{limit} USD" if cost["usd"] or allowed else ""


def format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def format_usd(state: RunState, turns: int, usd: float) -> str:
    """Only the scripted agent works for nothing; what another did not tell is unknown."""
    is_unknown = turns and not usd and state.run.agent != "scripted"
    return "cost unknown" if is_unknown else f"{usd:.2f} USD"


def format_cost(state: RunState, cost: CostShape) -> str:
    usd = format_usd(state, cost["turns"], cost["usd"])
    return f"{describe_turns(cost)}, {usd}, {cost['tokens']} tokens"


def _cost_fields(cost: Cost, reviews: int) -> CostShape:
    data: CostShape = {
        "turns": cost.turns,
        "usd": round(float(cost.usd), 6),
        "tokens": cost.tokens,
        "seconds": round(float(cost.seconds), 3),
    }
    if reviews:
        data["reviews"] = reviews
    return data
