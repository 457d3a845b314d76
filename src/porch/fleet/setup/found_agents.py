"""Which agents a machine has, as far as new settings have to say something about it."""

from collections.abc import Sequence

from porch.run.agents.roster import Roster
from porch.run.settings import Settings

KNOWN = ("claude", "codex", "gemini")
# So many of the three reviewers of the packaged protocols must answer.
QUORUM = 2


def find_agents() -> list[str]:
    """Those of the known command lines that are on PATH."""
    roster = Roster(Settings(), "")
    return [name for name in KNOWN if roster.of(name).is_installed]


def choose_worker(found: Sequence[str]) -> str:
    """Who must be named as the worker: nobody while the default is there."""
    return found[0] if found and KNOWN[0] not in found else ""


def choose_reviewers(found: Sequence[str]) -> Sequence[str]:
    """Who must be named as reviewers: the protocols ask three, and two of them are enough."""
    return found if 0 < len(found) < QUORUM else ()
