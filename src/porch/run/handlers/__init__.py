"""One function per kind of effect, each ending with exactly one fact: the kernel's own table."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from porch.machine import effects as e
from porch.machine.base_commands import is_trial
from porch.machine.evolve import PAID
from porch.machine.facts import EffectFact
from porch.run.agents.world import World
from porch.run.handlers.products import Handler, handler_row


# Each is imported where it is needed: few drives want all kinds of effects.
def _run_agent(world: World, effect: e.RunAgent) -> Awaitable[EffectFact]:
    from porch.run.handlers import agent

    return agent.run_agent(world, effect)


def _run_check(world: World, effect: e.RunCheck) -> Awaitable[EffectFact]:
    if _is_trial(world, effect):
        from porch.run.handlers import base_check

        return base_check.run_base_check(world, effect)
    from porch.run.handlers import check

    return check.run_check(world, effect)


def _ask_reviewer(world: World, effect: e.AskReviewer) -> Awaitable[EffectFact]:
    from porch.run.handlers import panel

    return panel.ask_reviewer(world, effect)


def _write_feedback(world: World, effect: e.WriteFeedback) -> EffectFact:
    from porch.run.handlers import panel

    return panel.write_feedback(world, effect)


def _ask_person(world: World, effect: e.AskPerson) -> EffectFact:
    from porch.run.handlers import people

    return people.ask_person(world, effect)


def _wait_for_timer(world: World, effect: e.StartTimer) -> Awaitable[EffectFact]:
    from porch.run.handlers import people

    return people.wait_for_timer(world, effect)


def _read_items(world: World, effect: e.ReadItems) -> EffectFact:
    from porch.run.handlers import project

    return project.read_items(world, effect)


def _commit_artifacts(world: World, effect: e.CommitPaths) -> Awaitable[EffectFact]:
    from porch.run.handlers import project

    return project.commit_artifacts(world, effect)


def _is_trial(world: World, effect: e.RunCheck) -> bool:
    standing = world.state().positions.get(effect.position)
    return standing is not None and is_trial(world.definition().protocol, standing.state)


def _is_watched_check(world: World, effect: e.RunCheck) -> bool:
    """Whether it may run what an agent wrote: not what porch looks at itself, nor the base."""
    is_program = bool(effect.command.shell or effect.command.setting)
    return is_program and not _is_trial(world, effect)


HANDLERS: Mapping[type[e.Effect], Handler] = dict(
    (
        handler_row(e.RunAgent, _run_agent),
        handler_row(e.RunCheck, _run_check),
        handler_row(e.AskReviewer, _ask_reviewer),
        handler_row(e.WriteFeedback, _write_feedback),
        handler_row(e.AskPerson, _ask_person),
        handler_row(e.StartTimer, _wait_for_timer),
        handler_row(e.ReadItems, _read_items),
        handler_row(e.CommitPaths, _commit_artifacts),
    )
)


def make_performer(
    current_world: Callable[[], World], handlers: Mapping[type[e.Effect], Handler]
) -> Callable[[e.Request], Awaitable[EffectFact]]:
    """What the driver calls for every request; each gets the world as it is when it begins."""

    async def perform(request: e.Request) -> EffectFact:
        world = current_world()
        is_check = isinstance(request, e.RunCheck) and _is_watched_check(world, request)
        if (request.kind in PAID or is_check) and world.in_git:
            from porch.run.handlers import outside_watch

            work = partial(answer, world, request)
            return await outside_watch.watch(world, request.id, work, is_whole=not is_check)
        return await answer(world, request)

    async def answer(world: World, request: e.Request) -> EffectFact:
        ended = handlers[type(request)](world, request)
        return await ended if isinstance(ended, Awaitable) else ended

    return perform
