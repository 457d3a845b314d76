"""Before anything is spent: who will work, on what terms, and what nobody can hold them to."""

from collections.abc import Iterator

from porch.adapters import settings
from porch.adapters.where import Where
from porch.model.definition import Definition
from porch.model.protocol import Agent, Panel, Protocol
from porch.operations.asking import Wanted
from porch.runtime import limits
from porch.runtime.roster import Post, Roster
from porch.runtime.world import World


def demand_agents(where: Where, wanted: Wanted, protocol: Protocol, agent: str) -> None:
    """Can everybody be driven at all whom this call drives? Said before a run is begun."""
    if "agent" in wanted.hands_off:
        return
    known = settings.load(where.root)
    roster = Roster(known, wanted.agent or agent)
    workers, reviewers = list(_workers(roster, protocol)), list(_reviewers(roster, protocol))
    for post in workers:
        post.demand_installed()
    limits.demand_measurable(known, [*workers, *reviewers])


def _workers(roster: Roster, protocol: Protocol) -> Iterator[Post]:
    for state in protocol.states.values():
        if isinstance(state.actor, Agent):
            yield roster.worker(state.actor.role, state.group, state.actor.permissions)


def _reviewers(roster: Roster, protocol: Protocol) -> Iterator[Post]:
    for state in protocol.states.values():
        if isinstance(state.actor, Panel):
            yield from (roster.reviewer(name) for name in state.actor.reviewers)


def terms(world: World, wanted: Wanted) -> Iterator[str]:
    """What a person should know before agents begin; nothing where all of it is scripted."""
    if world.roster.is_scripted or "agent" in wanted.hands_off:
        return
    definition: Definition = world.definition()
    yield limits.worst_case(world.settings, definition.protocol)
    yield from _of_workers(world.roster, definition.protocol)
    for post in _each_once(_reviewers(world.roster, definition.protocol)):
        yield from _of_reviewer(post)


def _of_workers(roster: Roster, protocol: Protocol) -> Iterator[str]:
    """Who may do what in which phases, and once for each agent what nobody can hold it to."""
    phases: dict[Post, list[str]] = {}
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


def _of_reviewer(post: Post) -> Iterator[str]:
    """That they only read needs no words; where nobody can hold them to it, it does."""
    if not post.is_installed:
        yield f"the reviewer {post.name} is not installed and will abstain"
        return
    unheld = post.agent.unenforced(post.permissions)
    yield from (f"the reviewer {post.name}: {text}" for text in unheld)


def _each_once(posts: Iterator[Post]) -> list[Post]:
    return list({(post.name, post.model, post.permissions): post for post in posts}.values())
