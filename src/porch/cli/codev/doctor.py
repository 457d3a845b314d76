"""The health of a project and of the machine under it, a line for each thing."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument
from porch.cli.terminal_width import terminal_style
from porch.text.printable import make_printable

if TYPE_CHECKING:
    from porch.show.fleet.doctor_line import DoctorLine
    from porch.show.terminal_style import TerminalStyle

_MARKS = {"ok": "good", "warning": "asks", "missing": "bad"}


def _examine_project(args: Args) -> View:
    from porch.errors import EXIT_OUTSIDE
    from porch.fleet.health import doctor
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    fixed = _fix_project(doctor.examine_installation(where)) if args.fix else []
    told = doctor.examine_installation(where, is_trial=args.notify, tell=_tell)
    can_run, closing = doctor.conclude(told)
    look = terminal_style()
    text = "\n".join(row for line in told for row in _render_line(line, look))
    data = {
        "can_run": can_run,
        "closing": closing,
        "fixed": fixed,
        "lines": [line.as_json() for line in told],
    }
    done = "".join(f"fixed: {each}\n" for each in fixed)
    done = done or ("nothing that can be fixed without you\n" if args.fix else "")
    end = look.fitted(make_printable(closing)) if look else make_printable(closing)
    whole = f"{make_printable(done)}{text}\n\n{end}"
    return View(whole, data, 0 if can_run else EXIT_OUTSIDE, is_painted=True)


def _tell(what: str) -> None:
    """What one waits for, if somebody watches."""
    import sys

    if sys.stderr.isatty():
        print(make_printable(what), file=sys.stderr, flush=True)


def _fix_project(told: "list[DoctorLine]") -> list[str]:
    from porch.fleet.health import repairs
    from porch.store import where as places

    return repairs.apply_repairs(places.find_project(os.getcwd()), told)


def _render_line(line: "DoctorLine", look: "TerminalStyle | None") -> Iterator[str]:
    what = make_printable(line.what)
    status = f"{line.status:<8}"
    yield look.marked(status, what, _MARKS[line.status]) if look else f"{status} {what}"
    notes = [f"{'':<11}{more}" for more in line.more]
    notes += [f"{'':<9}fix: {line.fix}"] if line.fix else []
    for note in map(make_printable, notes):
        yield look.fitted(note) if look else note


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
