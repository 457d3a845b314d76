"""The health of a project and of the machine under it, a line for each thing."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from porch.fleet.health.doctor_line import DoctorLine


def _examine_project(args: Args) -> View:
    from porch.errors import EXIT_OUTSIDE
    from porch.fleet.health import doctor
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    fixed = _fix_project(doctor.examine_installation(where)) if args.fix else []
    told = doctor.examine_installation(where, is_trial=args.notify)
    can_run, closing = doctor.conclude(told)
    text = "\n".join(row for line in told for row in _render_line(line))
    data = {
        "can_run": can_run,
        "closing": closing,
        "fixed": fixed,
        "lines": [line.as_json() for line in told],
    }
    done = "".join(f"fixed: {each}\n" for each in fixed)
    done = done or ("nothing that can be fixed without you\n" if args.fix else "")
    return View(f"{done}{text}\n\n{closing}", data, 0 if can_run else EXIT_OUTSIDE)


def _fix_project(told: "list[DoctorLine]") -> list[str]:
    from porch.fleet.health import repairs
    from porch.store import where as places

    return repairs.apply_repairs(places.find_project(os.getcwd()), told)


def _render_line(line: "DoctorLine") -> Iterator[str]:
    yield f"{line.status:<8} {line.what}"
    yield from (f"{'':<11}{more}" for more in line.more)
    if line.fix:
        yield f"{'':<9}fix: {line.fix}"


COMMANDS: Verbs = {
    "doctor": Verb(
        _examine_project,
        (
            make_argument(
                "--fix", action="store_true", help="apply the safe fixes, and say what was done"
            ),
            make_argument(
                "--notify", action="store_true", help="send a test notice by each channel"
            ),
        ),
    ),
}
