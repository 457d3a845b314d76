"""Who works and who reviews, in a line that everybody reads before an agent begins."""

from collections.abc import Iterable, Iterator

from porch.model.protocol import Agent, Panel
from porch.run.agents.roster import EmployedAgent
from porch.run.agents.world import World
from porch.run.engine.drive_options import RunRequest


def describe_people_at_work(world: World, wanted: RunRequest) -> Iterator[str]:
    """Nothing where all of it is scripted: that costs nothing and asks nobody."""
    if world.roster.is_scripted or "agent" in wanted.hands_off:
        return
    states = world.definition().protocol.states.values()
    workers = [
        world.roster.worker(state.actor.role, state.group, state.actor.permissions)
        for state in states
        if isinstance(state.actor, Agent)
    ]
    panels = [state.actor for state in states if isinstance(state.actor, Panel)]
    reviewers = [world.roster.reviewer(name) for panel in panels for name in panel.reviewers]
    told = [f"{_join_names(workers)} will work"] if workers else []
    if reviewers:
        told.append(f"{_join_names(reviewers)} will review")
    if told:
        yield "; ".join(told)


def _join_names(posts: Iterable[EmployedAgent]) -> str:
    names = (f"{post.name} ({post.model})" if post.model else post.name for post in posts)
    return ", ".join(dict.fromkeys(names))
