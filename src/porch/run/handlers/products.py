"""What the products on the kernel add to a drive; put together on top and handed down to it."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, NamedTuple, TypeVar
from typing import Protocol as Port

from porch.machine import effects as e
from porch.machine.facts import EffectFact
from porch.run.agents.world import World

R = TypeVar("R", bound=e.Effect)
HandlerResult = EffectFact | Awaitable[EffectFact]
Handler = Callable[[World, Any], HandlerResult]


def handler_row(
    kind: type[R], run: Callable[[World, R], HandlerResult]
) -> tuple[type[e.Effect], Handler]:
    """The checker sees here that a handler takes its own kind of effect and ends with a fact."""
    return kind, run


class RemoveWorktrees(Port):
    """Removes what is over, of these members or else of all, and returns what was archived."""

    def __call__(self, world: World, names: Collection[str] = ()) -> list[str]: ...


class Products(NamedTuple):
    """Handlers of effects that only a product has, and what it does before and after a drive."""

    handlers: Mapping[type[e.Effect], Handler]
    # The directories of the turns that a typed question took, oldest first.
    question_turns: Callable[[World, str], list[str]]
    remove_finished_worktrees: RemoveWorktrees
    # Draws what only a product shows of a run, and returns what a person should know about that.
    draw_pictures: Callable[[World], list[str]] = lambda _world: []
