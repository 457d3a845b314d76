"""The tables that name products: put together here and handed down, for the kernel knows none."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from porch.machine import effects as e
from porch.machine.facts import EffectFact
from porch.model.protocol import TRACK
from porch.run.agents.world import World
from porch.run.handlers import HANDLERS
from porch.run.handlers.products import (
    Handler,
    HandlerResult,
    Products,
    WorktreeCleanup,
    handler_row,
)

if TYPE_CHECKING:
    from porch.model.protocol import Protocol
    from porch.run.definitions.subject_names import RunSubject
    from porch.run.engine.drive_options import RunRequest
    from porch.store.where import ProjectPaths


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


def _make_cleanup(remove: Callable[[list[str]], object]) -> WorktreeCleanup:
    from porch.tree.member_cleanup import MemberCleanup

    return MemberCleanup(remove)


def _read_spec(
    where: "ProjectPaths", about: "RunSubject", protocol: "Protocol", wanted: "RunRequest"
) -> Mapping[str, Any]:
    from porch.tree import spec_files

    return spec_files.require_spec(where, about, protocol, wanted)


def _is_track(world: World) -> bool:
    return world.definition().protocol.subject == TRACK


def _run_agent(world: World, effect: e.RunAgent) -> HandlerResult:
    if not _is_track(world):
        return HANDLERS[e.RunAgent](world, effect)
    from porch.track import task_turn

    return task_turn.run_task(world, effect)


def _ask_reviewer(world: World, effect: e.AskReviewer) -> HandlerResult:
    if not _is_track(world):
        return HANDLERS[e.AskReviewer](world, effect)
    from porch.track import task_turn

    return task_turn.ask_track_reviewer(world, effect)


def _draw_pictures(world: World) -> list[str]:
    if not _is_track(world):
        return []
    from porch.track import plan_picture

    return plan_picture.draw_track(world)


OWN_HANDLERS: Mapping[type[e.Effect], Handler] = dict(
    (
        handler_row(e.AskAgent, _ask_agent),
        handler_row(e.MoveBranch, _move_branch),
        handler_row(e.RunAgent, _run_agent),
        handler_row(e.AskReviewer, _ask_reviewer),
    )
)
PRODUCTS = Products(
    handlers={**HANDLERS, **OWN_HANDLERS},
    question_turns=_question_turns,
    remove_finished_worktrees=_remove_finished_worktrees,
    make_cleanup=_make_cleanup,
    read_spec=_read_spec,
    draw_pictures=_draw_pictures,
)
