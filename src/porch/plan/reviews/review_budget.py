"""Who may be asked for a review, and whether it can be paid for: said before anybody is asked."""

import os
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from porch.errors import FailedError, OutsideError, UsageError
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
from porch.run.engine.caller import find_agent_sign
from porch.run.settings import Settings


class ReviewerChoice(Struct, frozen=True):
    """Who is asked, and by reasons who was meant too but cannot be."""

    names: tuple[str, ...]
    missing: Mapping[str, list[str]] = {}

    @property
    def note(self) -> str:
        if not self.missing:
            return ""
        missing = [
            f"{why}, so not asked: {', '.join(names)}" for why, names in self.missing.items()
        ]
        return f"{'; '.join(missing)}; reviewed by {', '.join(self.names)}"


def choose_reviewers(
    held: LockedPlan, known: Settings, by: Sequence[str], named: str
) -> ReviewerChoice:
    """Who reviews: whom the caller names with `by`, else whom the settings name.

    The agent after which a command is named reviews where the settings leave it open. Of several
    in the settings those that are installed and logged in are asked, and the others are said.
    """
    roster = Roster(known, held.state.run.agent)
    if by:
        _keep_agents_from_choosing(known, by)
        require_reviewers(known, [roster.reviewer(name) for name in by])
        return ReviewerChoice(tuple(by))
    usual = known.models or (known.agent,)
    lists = [known.review_agents] if known.review_agents else [(named,) * bool(named), usual]
    missing: dict[str, list[str]] = {}
    for names in lists:
        why = {name: roster.reviewer(name).why_not_asked for name in names}
        found = tuple(name for name in names if not why[name])
        for name in filter(why.get, names):
            missing.setdefault(why[name], []).append(name)
        # Where nobody at all can be asked, those who were meant last are complained about.
        if found or names is lists[-1]:
            require_reviewers(known, [roster.reviewer(name) for name in found or names])
            break
    return ReviewerChoice(found, missing)


def _keep_agents_from_choosing(known: Settings, by: Sequence[str]) -> None:
    """Whoever is judged does not choose the judge, where the settings name one."""
    left_out = [name for name in known.review_agents if name not in by]
    sign = find_agent_sign(os.environ) if left_out else ""
    if sign:
        raise UsageError(
            f"[review] agents says that {', '.join(left_out)} must review, and only people can "
            f"choose others; this looks like an agent ({sign})",
            fix="leave --by out",
            code="not-a-person",
        )


def require_reviewers(known: Settings, posts: list[EmployedAgent]) -> None:
    """Agents that are installed and logged in, and whose cost can be told where a budget is set."""
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
    if post.missing_login:
        raise OutsideError(
            f"the reviewer '{post.name}' is not logged in: {post.missing_login}",
            fix=f"{post.agent.LOGIN}; or name others with --by or [review] agents",
            code="agent-login",
        )


def require_budget(held: LockedPlan, known: Settings) -> None:
    """What is used up is a question to a person, and nothing begins."""
    book = held.found.book
    position = f"{run_rules.REVIEW}#0"
    found = budget_limits.check_budget(
        known, book.definition.protocol, held.state, state_name=run_rules.REVIEW, position=position
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
