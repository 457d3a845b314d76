"""The tables that name products: put together here and handed down, for the kernel knows none."""

from collections.abc import Awaitable, Collection

from porch.machine import effects as e
from porch.machine.facts import EffectFact
from porch.run.agents.world import World
from porch.run.handlers import HANDLERS
from porch.run.handlers.products import Products, handler_row


# Each product is imported where it is needed: most runs have no tree and no plan.
def _ask_agent(world: World, effect: e.AskAgent) -> Awaitable[EffectFact]:
    from porch.tree import questions

    return questions.run_question(world, effect)


def _move_branch(world: World, effect: e.MoveBranch) -> Awaitable[EffectFact]:
    from porch.tree import branch_moves

    return branch_moves.run_branch_move(world, effect)


def _question_turns(world: World, effect: str) -> list[str]:
    from porch.tree import questions

    return questions.list_turn_directories(world, effect)


def _remove_finished_worktrees(world: World, names: Collection[str] = ()) -> list[str]:
    from porch.tree import settled_worktrees

    return settled_worktrees.remove_finished_worktrees(world, names)


PRODUCTS = Products(
    handlers={
        **HANDLERS,
        **dict((handler_row(e.AskAgent, _ask_agent), handler_row(e.MoveBranch, _move_branch))),
    },
    question_turns=_question_turns,
    remove_finished_worktrees=_remove_finished_worktrees,
)
