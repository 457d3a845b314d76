"""Before anything is spent: who will work, on what terms, and what nobody can hold them to."""

from collections.abc import Iterator

from porch.model.definition import Definition
from porch.model.protocol import Agent, Panel, Protocol
from porch.run import settings
from porch.run.agents import budget_limits
from porch.run.agents.default_panel import list_reachable
from porch.run.agents.roster import EmployedAgent, Roster
from porch.run.agents.world import World
from porch.run.drive.start_requirements import list_workers
from porch.run.engine.drive_options import RunRequest


def require_agents(
    known: settings.Settings, wanted: RunRequest, protocol: Protocol, agent: str
) -> None:
    """Can everybody be driven at all whom this call drives? Said before a run is begun."""
    if "agent" in wanted.hands_off:
        return
    roster = Roster(known, wanted.agent or agent)
    workers, reviewers = (
        list(list_workers(roster, protocol)),
        list(_list_reviewers(roster, protocol)),
    )
    others = () if roster.is_scripted else list_reachable(roster)
    for post in workers:
        post.demand_installed(others)
    budget_limits.require_measurable(known, [*workers, *reviewers])


def _list_reviewers(roster: Roster, protocol: Protocol) -> Iterator[EmployedAgent]:
    for state in protocol.states.values():
        if isinstance(state.actor, Panel):
            yield from (roster.reviewer(name) for name in state.actor.reviewers)


def describe_terms(world: World, wanted: RunRequest) -> Iterator[str]:
    """What a person should know before agents begin; nothing where all of it is scripted."""
    if world.roster.is_scripted or "agent" in wanted.hands_off:
        return
    definition: Definition = world.definition()
    yield budget_limits.describe_worst_case(world.settings, definition.protocol)
    yield from _describe_workers(world.roster, definition.protocol)
    for post in _without_repeats(_list_reviewers(world.roster, definition.protocol)):
        if post.is_installed:
            yield from _describe_reviewer(post)


def _describe_workers(roster: Roster, protocol: Protocol) -> Iterator[str]:
    """Who may do what in which phases, and once for each agent what nobody can hold it to."""
    phases: dict[EmployedAgent, list[str]] = {}
    for state in protocol.states.values():
        if isinstance(state.actor, Agent):
            post = roster.worker(state.actor.role, state.group, state.actor.permissions)
            phases.setdefault(post, []).append(state.group)
    for post, groups in phases.items():
        model = f" with {post.model}" if post.model else ""
        where = f" in {', '.join(dict.fromkeys(groups))}" if len(phases) > 1 else ""
        yield f"{post.name}{model} may{where}: {', '.join(post.permissions.texts())}"
    said = (f"{post.name}: {t}" for post in phases for t in post.agent.unenforced(post.permissions))
    yield from dict.fromkeys(said)


def missing_reviewers(world: World, wanted: RunRequest) -> Iterator[str]:
    """Whoever cannot review at all: a person may want to install them first."""
    if world.roster.is_scripted or "agent" in wanted.hands_off:
        return
    for post in _without_repeats(_list_reviewers(world.roster, world.definition().protocol)):
        if post.why_not_asked:
            yield f"note: the reviewer {post.name} is {post.why_not_asked} and will abstain"


def _describe_reviewer(post: EmployedAgent) -> Iterator[str]:
    """That they only read needs no words; where nobody can hold them to it, it does."""
    unheld = post.agent.unenforced(post.permissions)
    yield from (f"the reviewer {post.name}: {text}" for text in unheld)


def _without_repeats(posts: Iterator[EmployedAgent]) -> list[EmployedAgent]:
    return list({(post.name, post.model, post.permissions): post for post in posts}.values())
