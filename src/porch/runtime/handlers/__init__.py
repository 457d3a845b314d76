"""One async function per kind of effect; each ends with exactly one fact."""

from collections.abc import Awaitable, Callable
from typing import assert_never

from porch.machine import effects as e
from porch.machine.facts import EffectFact
from porch.runtime.handlers import agent, check, panel, people, project
from porch.runtime.world import World


def performer(world: World) -> Callable[[e.Request], Awaitable[EffectFact]]:
    """What the driver calls for every request."""

    async def perform(request: e.Request) -> EffectFact:
        match request:
            case e.RunAgent():
                return await agent.run(world, request)
            case e.RunCheck():
                return await check.run(world, request)
            case e.AskReviewer():
                return await panel.ask(world, request)
            case e.WriteFeedback():
                return panel.keep(world, request)
            case e.AskPerson():
                return people.ask(world, request)
            case e.StartTimer():
                return await people.wait(world, request)
            case e.ReadItems():
                return project.read_items(world, request)
            case e.CommitPaths():
                return project.commit(world, request)
            case _:
                assert_never(request)

    return perform
