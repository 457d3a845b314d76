"""One function per kind of effect, each ending with exactly one fact: the table of them."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from porch.machine import effects as e
from porch.machine.facts import EffectFact
from porch.runtime.handlers import agent, check, panel, people, project
from porch.runtime.world import World


def _asked(world: World, effect: e.AskAgent) -> Awaitable[EffectFact]:
    # Imported here: most protocols have no tree, and agents call these commands often.
    from porch.runtime.tree import questions

    return questions.run(world, effect)


def _moved(world: World, effect: e.MoveBranch) -> Awaitable[EffectFact]:
    from porch.runtime.tree import branches

    return branches.run(world, effect)


HANDLERS: dict[type[e.Request], Callable[[World, Any], Any]] = {
    e.RunAgent: agent.run,
    e.RunCheck: check.run,
    e.AskReviewer: panel.ask,
    e.WriteFeedback: panel.keep,
    e.AskPerson: people.ask,
    e.StartTimer: people.wait,
    e.ReadItems: project.read_items,
    e.CommitPaths: project.commit,
    e.AskAgent: _asked,
    e.MoveBranch: _moved,
}


def performer(world: World) -> Callable[[e.Request], Awaitable[EffectFact]]:
    """What the driver calls for every request."""

    async def perform(request: e.Request) -> EffectFact:
        ended = HANDLERS[type(request)](world, request)
        fact: EffectFact = await ended if inspect.isawaitable(ended) else ended
        return fact

    return perform
