"""Which attempt a position is: how often it was begun, and of how many that a budget allows.

A budget starts again when a person retries, so that both numbers differ from then on.
"""

from msgspec import Struct

from porch.machine.exits.departure import budget_key
from porch.machine.path_values import budget_figures
from porch.machine.state import RunState, Standing
from porch.model.protocol import Human, Panel, Protocol


class Attempt(Struct, frozen=True):
    """The `begun`th attempt of all; the `number`th of `limit` since the last retry."""

    begun: int
    number: int = 0
    limit: int = 0  # 0 where nothing was charged, or no budget counts it


def find_attempt(protocol: Protocol, state: RunState, standing: Standing) -> Attempt:
    """By the budget that was charged on the way here, else by the one that its phase used most.

    A graph says itself which of its budgets counts attempts.
    """
    if protocol.spec:
        return _find_counted_attempt(protocol, state, standing)
    source, _, exit_ = standing.because.rpartition(".")
    begun = standing.visit
    came_from = protocol.states.get(source)
    is_round = came_from is not None and isinstance(came_from.actor, Panel)
    edges = () if is_round else protocol.edges_of(source, exit_)
    charged = [edge.charges for edge in edges if edge.charges]
    if charged:
        past = state.past_visits.get((standing.instance, source, standing.item))
        kind = protocol.states.get(standing.state)
        is_question = kind is not None and isinstance(kind.actor, Human)
        begun = past.visit if is_question and past else begun
    used = [
        (number, budget)
        for budget in charged or _list_budgets(protocol, standing)
        if (number := state.spent.get(budget_key(standing, budget), 0))
    ]
    if not used:
        return Attempt(begun)
    number, budget = max(used)
    return Attempt(begun, number + 1, protocol.budgets[budget].limit + 1)


def _find_counted_attempt(protocol: Protocol, state: RunState, standing: Standing) -> Attempt:
    charged = {edge.charges for edge in protocol.edges if edge.state == standing.state}
    for name in sorted(charged & protocol.budgets.keys()):
        if protocol.budgets[name].first and standing.visit > 1:
            figures = budget_figures(protocol, state, standing.instance, name)
            return Attempt(standing.visit, figures["count"], figures["limit"])
    return Attempt(standing.visit)


def _list_budgets(protocol: Protocol, standing: Standing) -> set[str]:
    """Those of the phase; rounds of reviewers are no attempts."""
    kind = protocol.states.get(standing.state)
    return {
        edge.charges
        for edge in protocol.edges
        if kind
        and edge.charges in protocol.budgets
        and protocol.states[edge.state].group == kind.group
        and not isinstance(protocol.states[edge.state].actor, Panel)
    }
