"""The health of a project and of the machine under it, a line for each thing."""

import os
from collections.abc import Iterator

from porch.adapters import where as places
from porch.errors import EXIT_OUTSIDE
from porch.operations import health
from porch.surfaces.cli.command import Args, Command, View


def _doctor(_: Args) -> View:
    told = health.examined(places.find(os.getcwd()))
    can_run = not any(line.stops for line in told)
    text = "\n".join(row for line in told for row in _rows(line))
    closing = "porch can run here" if can_run else "porch cannot run here"
    data = {"can_run": can_run, "lines": [line.as_json() for line in told]}
    return View(f"{text}\n\n{closing}", data, 0 if can_run else EXIT_OUTSIDE)


def _rows(line: health.Line) -> Iterator[str]:
    yield f"{line.status:<8} {line.what}"
    yield from (f"{'':<11}{more}" for more in line.more)
    if line.fix:
        yield f"{'':<9}fix: {line.fix}"


COMMANDS = (Command("doctor", "whether porch can run here, and what is missing or weak", _doctor),)
