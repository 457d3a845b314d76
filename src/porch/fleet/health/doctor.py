"""Whether porch can run here, with a fix for each fault: all parts, in the order of fixing."""

import os
from collections.abc import Sequence

from porch.fleet.health import (
    copied_protocols,
    machine_health,
    mcp_health,
    notice_health,
    project_health,
    repository_health,
)
from porch.fleet.health.command_health import Tell
from porch.run.agents import agent_health
from porch.show.fleet.doctor_line import DoctorLine
from porch.store.where import ProjectPaths


def examine_installation(
    where: ProjectPaths, *, is_trial: bool = False, tell: Tell | None = None
) -> list[DoctorLine]:
    """Everything; what needs git is left out where there is none. A trial sends a real notice.

    The commands of the settings run only if somebody waits for them, who is told which.
    """
    known, findings = project_health.load_known_settings(where)
    machine = list(machine_health.examine_machine(where))
    has_git = not any(line.stops and line.what == "git" for line in machine)
    return [
        *machine,
        *(repository_health.examine_repository(where) if has_git else ()),
        *project_health.examine_settings(where, findings),
        *project_health.examine_trust(known),
        *(project_health.examine_project(where, known, tell) if has_git else ()),
        *copied_protocols.examine_copies(where),
        *agent_health.examine_agents(known),
        *mcp_health.examine_mcp(where),
        *notice_health.examine_channels(known, os.environ, is_trial=is_trial),
    ]


def conclude(lines: Sequence[DoctorLine]) -> tuple[bool, str]:
    """Whether a run can begin here, and the sentence that says so with all its limits."""
    stops = [line.what for line in lines if line.stops]
    if stops:
        return False, "\n".join(["porch cannot run here:", *(f"  {what}" for what in stops)])
    limits = [line.limit for line in lines if line.limit]
    if limits:
        return True, "\n".join(["porch can run here, but:", *(f"  {each}" for each in limits)])
    return True, "porch can run here"
