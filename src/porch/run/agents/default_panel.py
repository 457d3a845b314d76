"""Who reviews where neither the protocol nor the settings name anybody: the agents that are there.

They are chosen once, when a run begins, and kept in its definition. An agent that is installed
later reviews after `porch upgrade`; one that is removed later abstains, as any reviewer does.
"""

from collections.abc import Mapping

from porch.model.protocol import Panel
from porch.run.agents.agent_list import KNOWN
from porch.run.agents.budget_limits import can_measure
from porch.run.agents.roster import EmployedAgent, Roster
from porch.run.definitions.current_definition import find_default_panel, with_default_panel
from porch.run.definitions.library import LoadedDefinition


def choose_reviewers(roster: Roster) -> tuple[str, ...]:
    """Of the known agents those that can be asked; else the one that works, by itself.

    With the scripted agent nobody is started, and what a script can name doesn't depend on the
    machine.
    """
    if roster.is_scripted:
        return KNOWN
    return list_reachable(roster) or (roster.default,)


def list_reachable(roster: Roster) -> tuple[str, ...]:
    """Of the known agents those that can be asked."""
    return tuple(name for name, absence in find_absences(roster).items() if not absence)


def find_absences(roster: Roster) -> Mapping[str, str]:
    """For each of the known agents why it cannot review; nothing if it can."""
    return {name: _find_absence(roster, roster.reviewer(name)) for name in KNOWN}


def _find_absence(roster: Roster, post: EmployedAgent) -> str:
    """Who was not asked for by name does not make a budget impossible, either."""
    if post.why_not_asked or can_measure(roster.settings, post):
        return post.why_not_asked
    return "left out because it tells no cost, which max_usd needs"


def list_missing(why: Mapping[str, str]) -> str:
    """`gemini, codex are not installed; claude is not logged in`; nothing of who is there."""
    names: dict[str, list[str]] = {}
    for name, reason in why.items():
        if reason:
            names.setdefault(reason, []).append(name)
    return "; ".join(
        f"{', '.join(each)} {'is' if len(each) == 1 else 'are'} {reason}"
        for reason, each in names.items()
    )


def settle_panel(loaded: LoadedDefinition, roster: Roster) -> LoadedDefinition:
    """The definition with somebody in every panel; a run begins with no other."""
    protocol = loaded.demand().protocol
    if find_default_panel(protocol) != ():
        return loaded
    chosen = choose_reviewers(roster)
    actors = (state.actor for state in protocol.states.values())
    if any(isinstance(each, Panel) and each.max_reviewers for each in actors):
        # Where not all of them review, somebody else than the author comes first.
        chosen = tuple(sorted(chosen, key=lambda name: name == roster.default))
    return with_default_panel(loaded, chosen)
