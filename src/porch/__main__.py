"""`python -m porch`, for where the command is not on PATH."""

from porch.cli.dispatch import porch

raise SystemExit(porch())
