"""Reviewers that a protocol names and this project does not know, before a run is begun."""

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from porch.errors import Finding, Place, PorchError, suggest_name
from porch.store.where import ProjectPaths

if TYPE_CHECKING:
    from porch.run.settings import Settings

# A kind of agent that is nobody until the settings give it a command.
_NOBODY = "command"


def find_unknown_reviewers(
    named: Mapping[str, Place], where: ProjectPaths, *, is_panel: bool = True
) -> list[Finding]:
    """What is known by itself needs no settings, which would have to be read.

    Reviewers of a panel may be replaced by the settings; whoever confirms in a track is not.
    """
    from porch.agents import AGENTS

    strangers = {n: place for n, place in named.items() if n not in AGENTS or n == _NOBODY}
    if not strangers:
        return []
    from porch.run import settings

    try:
        known = settings.read_written_settings(where.root)
    except PorchError as error:
        # Whether they are known cannot be said; why not is said in the words of the settings.
        return [replace(finding, severity="warning") for finding in error.findings]
    has_others = is_panel and bool(known.models)
    return [] if has_others else list(_stranger_findings(strangers, known, is_panel=is_panel))


def _stranger_findings(
    strangers: Mapping[str, Place], settings: "Settings", *, is_panel: bool
) -> Iterator[Finding]:
    from porch.agents import AGENTS

    names = [name for name in dict.fromkeys((*settings.agents, *AGENTS)) if name != _NOBODY]
    for name, place in strangers.items():
        if name not in settings.agents:
            message = f"the reviewer '{name[:80]}' is not an agent that this project knows"
            fix = (
                f"{suggest_name(name, names)}known agents: {', '.join(names)}; "
                f"add [agents.{name[:80]}] to codev/config.toml"
                f"{', or set [panel] models' if is_panel else ''}"
            )
            yield Finding("unknown-agent", message, place, fix, "warning")


def list_settings_files(where: ProjectPaths) -> list[str]:
    """The files that have a say in who is known."""
    from porch.run import settings

    own = settings.user_directory(os.environ)
    project = os.path.join(where.root, settings.PROJECT_FILE)
    return [os.path.join(own, settings.USER_FILE), project]
