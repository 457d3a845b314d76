"""Who may be asked for a review, and whether it can be paid for: said before anybody is asked."""

from collections.abc import Iterable, Sequence

from porch.adapters.settings import Settings
from porch.errors import FailedError
from porch.machine import facts as f
from porch.machine import plans
from porch.machine.budgets import STATE
from porch.machine.effects import in_hand
from porch.machine.state import InHand, State
from porch.machine.wanted import wanted
from porch.model.definition import Definition
from porch.operations.plans.desk import Desk
from porch.runtime import limits
from porch.runtime.artifacts import digest_of
from porch.runtime.book import Moves
from porch.runtime.roster import Roster


def demand_reviewers(held: Desk, known: Settings, names: Sequence[str]) -> None:
    """Names that are agents, and whose cost can be told where a budget is set."""
    roster = Roster(known, held.state.run.agent)
    limits.demand_measurable(known, [roster.reviewer(name) for name in names])


def demand_budget(held: Desk, known: Settings) -> None:
    """What is used up is a question to a person, and nothing begins."""
    book = held.found.book
    position = f"{plans.REVIEW}#0"
    found = limits.is_affordable(
        known, book.definition.protocol, held.state, plans.REVIEW, position
    )
    if isinstance(found, f.BudgetReached):
        book.record(found, _questions)
    # No driver asks in the run of a plan; a crash may have come before the asking, too.
    for hand in [each for each in held.state.in_hand.values() if each.kind == "ask"]:
        book.record(f.DecisionAsked(hand.effect, digest_of({})))
    if found is not True:
        raise FailedError(
            "a budget is used up, so no review begins",
            fix=f"a person can allow more: porch retry plan/{held.plan.branch}",
            code="budget-reached",
        )


def _questions(definition: Definition, state: State, _moves: Moves) -> Iterable[InHand]:
    for standing in state.positions.values():
        if standing.state == STATE and standing.position not in state.decisions:
            asked = wanted(definition.protocol, state, standing.position)
            yield from (in_hand(each) for each in asked)
