"""`python -m porch`, for where the command is not on PATH."""

from porch.surfaces.cli.dispatch import porch

raise SystemExit(porch())
