"""The table of `porch`: every verb in one place."""

from porch.surfaces.cli.agents import COMMANDS as AGENTS
from porch.surfaces.cli.command import Command
from porch.surfaces.cli.deciding import COMMANDS as DECIDING
from porch.surfaces.cli.protocols import COMMANDS as PROTOCOLS
from porch.surfaces.cli.running import COMMANDS as RUNNING
from porch.surfaces.cli.showing import COMMANDS as SHOWING
from porch.surfaces.cli.steering import COMMANDS as STEERING

COMMANDS: tuple[Command, ...] = (
    *RUNNING,
    *SHOWING,
    *DECIDING,
    *STEERING,
    *PROTOCOLS,
    *AGENTS,
)
