"""What the products on the kernel add to a drive; put together on top and handed down to it."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from typing import Protocol as Port

from porch.machine import effects as e
from porch.machine.facts import EffectFact
from porch.run.agents.world import World

if TYPE_CHECKING:
    from porch.machine.records import JournalRecord
    from porch.machine.state import RunState
    from porch.model.protocol import Protocol
    from porch.run.definitions.subject_names import RunSubject
    from porch.run.engine.drive_options import RunRequest
    from porch.store.where import ProjectPaths

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


Perform = Callable[[e.Request], Awaitable[EffectFact]]


class WorktreeCleanup(Port):
    """Removes worktrees during a drive; an effect that begins meanwhile waits for that."""

    def hear(self, record: "JournalRecord", state: "RunState") -> None: ...

    def after_cleanup(self, perform: Perform) -> Perform: ...


# What the spec of a run over a tree says, or everything that is wrong with it.
ReadSpec = Callable[["ProjectPaths", "RunSubject", "Protocol", "RunRequest"], Mapping[str, Any]]


class Products(NamedTuple):
    """Handlers of effects that only a product has, and what it does before and after a drive."""

    handlers: Mapping[type[e.Effect], Handler]
    # The directories of the turns that a typed question took, oldest first.
    question_turns: Callable[[World, str], list[str]]
    remove_finished_worktrees: RemoveWorktrees
    # Given what removes the worktrees of members that are over.
    make_cleanup: Callable[[Callable[[list[str]], object]], WorktreeCleanup]
    read_spec: ReadSpec
    # Draws what only a product shows of a run, and returns what a person should know about that.
    draw_pictures: Callable[[World], list[str]] = lambda _world: []
