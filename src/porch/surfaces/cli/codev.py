"""The table of `codev`: what is done to a project, not to a run."""

from porch.surfaces.cli.command import Command
from porch.surfaces.cli.doctor import COMMANDS as DOCTOR

COMMANDS: tuple[Command, ...] = (*DOCTOR,)
