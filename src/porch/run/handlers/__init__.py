"""One function per kind of effect, each ending with exactly one fact: the kernel's own table."""

import inspect
from collections.abc import Awaitable, Callable, Mapping

from porch.machine import effects as e
from porch.machine.facts import EffectFact
from porch.run.agents.world import World
from porch.run.handlers import agent, check, panel, people, project
from porch.run.handlers.products import Handler, handler_row

HANDLERS: Mapping[type[e.Effect], Handler] = dict(
    (
        handler_row(e.RunAgent, agent.run_agent),
        handler_row(e.RunCheck, check.run_check),
        handler_row(e.AskReviewer, panel.ask_reviewer),
        handler_row(e.WriteFeedback, panel.write_feedback),
        handler_row(e.AskPerson, people.ask_person),
        handler_row(e.StartTimer, people.wait_for_timer),
        handler_row(e.ReadItems, project.read_items),
        handler_row(e.CommitPaths, project.commit_artifacts),
    )
)


def make_performer(
    world: World, handlers: Mapping[type[e.Effect], Handler]
) -> Callable[[e.Request], Awaitable[EffectFact]]:
    """What the driver calls for every request."""

    async def perform(request: e.Request) -> EffectFact:
        ended = handlers[type(request)](world, request)
        return await ended if inspect.isawaitable(ended) else ended

    return perform
