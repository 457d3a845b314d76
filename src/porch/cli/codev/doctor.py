"""The health of a project and of the machine under it, a line for each thing."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View

if TYPE_CHECKING:
    from porch.fleet import doctor


def _examine_project(_: Args) -> View:
    from porch.errors import EXIT_OUTSIDE
    from porch.fleet import doctor
    from porch.store import where as places

    told = doctor.examine_installation(places.find_project(os.getcwd()))
    can_run = not any(line.stops for line in told)
    text = "\n".join(row for line in told for row in _render_line(line))
    closing = "porch can run here" if can_run else "porch cannot run here"
    data = {"can_run": can_run, "lines": [line.as_json() for line in told]}
    return View(f"{text}\n\n{closing}", data, 0 if can_run else EXIT_OUTSIDE)


def _render_line(line: "doctor.DoctorLine") -> Iterator[str]:
    yield f"{line.status:<8} {line.what}"
    yield from (f"{'':<11}{more}" for more in line.more)
    if line.fix:
        yield f"{'':<9}fix: {line.fix}"


COMMANDS: Verbs = {
    "doctor": Verb(_examine_project),
}
