"""Who may be asked for a review, and whether it can be paid for: said before anybody is asked."""

from collections.abc import Iterable, Sequence

from porch.adapters.settings import Settings
from porch.errors import FailedError, OutsideError
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
from porch.runtime.roster import Post, Roster


def demand_reviewers(held: Desk, known: Settings, names: Sequence[str]) -> None:
    """Names of agents that are installed, and whose cost can be told where a budget is set."""
    roster = Roster(known, held.state.run.agent)
    posts = [roster.reviewer(name) for name in names]
    for post in posts:
        demand_installed(post)
    limits.demand_measurable(known, posts)


def demand_installed(post: Post) -> None:
    """In the words of a review: who calls envoy cannot choose the agent of the run."""
    if not post.is_installed:
        raise OutsideError(
            f"the reviewer '{post.name}' is not there: no `{post.executable}` on PATH",
            fix="install it, or name others with --by or [review] agents; "
            "`codev doctor` shows what is installed",
            code="agent-missing",
        )


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
