"""Who may be asked for a review, and whether it can be paid for: said before anybody is asked."""

from collections.abc import Iterable, Sequence

from porch.errors import FailedError, OutsideError
from porch.machine import facts as f
from porch.machine.budgets import STATE
from porch.machine.effects import as_in_hand
from porch.machine.plan import run_rules
from porch.machine.state import InHand, RunState
from porch.machine.wanted import wanted_effects
from porch.model.definition import Definition
from porch.plan.files.locked_plan import LockedPlan
from porch.run.agents import budget_limits
from porch.run.agents.roster import EmployedAgent, Roster
from porch.run.engine.artifacts import digest_hashes
from porch.run.engine.book import Moves
from porch.run.settings import Settings


def require_reviewers(held: LockedPlan, known: Settings, names: Sequence[str]) -> None:
    """Names of agents that are installed, and whose cost can be told where a budget is set."""
    roster = Roster(known, held.state.run.agent)
    posts = [roster.reviewer(name) for name in names]
    for post in posts:
        require_installed(post)
    budget_limits.require_measurable(known, posts)


def require_installed(post: EmployedAgent) -> None:
    """In the words of a review: who calls envoy cannot choose the agent of the run."""
    if not post.is_installed:
        raise OutsideError(
            f"the reviewer '{post.name}' is not installed: no `{post.executable}` on PATH",
            fix="install it, or name others with --by or [review] agents; "
            "`codev doctor` shows what is installed",
            code="agent-missing",
        )


def require_budget(held: LockedPlan, known: Settings) -> None:
    """What is used up is a question to a person, and nothing begins."""
    book = held.found.book
    position = f"{run_rules.REVIEW}#0"
    found = budget_limits.check_budget(
        known, book.definition.protocol, held.state, run_rules.REVIEW, position
    )
    if isinstance(found, f.BudgetReached):
        book.record(found, _budget_questions)
    # No driver asks in the run of a plan; a crash may have come before the asking, too.
    for hand in [each for each in held.state.in_hand.values() if each.kind == "ask"]:
        book.record(f.DecisionAsked(effect=hand.effect, digest=digest_hashes({})))
    if found is not True:
        raise FailedError(
            "a budget is used up, so no review can start",
            fix=f"a person can allow more: porch retry plan/{held.plan.branch}",
            code="budget-reached",
        )


def _budget_questions(definition: Definition, state: RunState, _moves: Moves) -> Iterable[InHand]:
    for standing in state.positions.values():
        if standing.state == STATE and standing.position not in state.decisions:
            asked = wanted_effects(definition.protocol, state, standing.position)
            yield from (as_in_hand(each) for each in asked)
