"""`porch wait` and `af wait`: return at the next decision, or when a run has ended.

A script, or a person who pastes several commands at once, puts it between `kickoff` and `approve`.
The exit code says what happened: 3 somebody is needed, for an answer or to start a run again that
isn't running; 0 the run is complete; 1 it ended otherwise; 4 it still ran when the time was up.
"""

import os
import time
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from porch.show.shapes import FleetRowShape
    from porch.store.where import ProjectPaths

    Rows = dict[tuple[str, str], FleetRowShape]
_EVERY_S = 0.5
_MOVING = ("running", "queued")
_STOPPED = ("alone", "stopped")


def _wait(args: Args) -> View:
    from porch.cli.porch.show import make_pending_view
    from porch.errors import EXIT_WAITING
    from porch.run.engine.caller import find_agent_sign
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    name = find_run(where, args.id) if args.id else ""
    is_person = not (args.json or find_agent_sign(os.environ))
    until = time.monotonic() + (args.timeout or 0)
    began = rows = _read_rows(where, name)
    while True:
        if any(row["group"] == "waiting" for row in rows.values()):
            view = make_pending_view(where, name, is_person=is_person)
            return View(view.text, view.data, EXIT_WAITING, is_prose=True)
        if name and not any(map(_may_move, rows.values())):
            return _show_end(where.root, name)
        ended = [key for key in rows if _is_moving(began.get(key)) and not _is_moving(rows[key])]
        if ended:
            return _show_end(*ended[0])
        if not any(map(_may_move if name else _is_moving, rows.values())):
            return _describe_stopped(rows)
        if args.timeout is not None and time.monotonic() >= until:
            return _describe_running(rows, args.timeout)
        time.sleep(_EVERY_S)
        rows = _read_rows(where, name)


def _is_moving(row: "FleetRowShape | None") -> bool:
    """Whether a driver moves it; a plan, for instance, waits for commands of agents."""
    return row is not None and row["group"] in _MOVING and row["driver"] is not None


def _may_move(row: "FleetRowShape") -> bool:
    return row["group"] in _MOVING


def _show_end(root: str, name: str) -> View:
    """A run that is over, or that nothing moves any more."""
    from porch.errors import EXIT_DONE, EXIT_FAILED, EXIT_WAITING
    from porch.run.verbs import overview
    from porch.store import where as places

    where = places.find_project(root)
    outcome = overview.read_picture(where, name)["outcome"]
    shown = overview.show_run(where, name)
    code = {"": EXIT_WAITING, "complete": EXIT_DONE}.get(outcome, EXIT_FAILED)
    return View(shown.text, shown.data, code, is_prose=True)


def _describe_stopped(rows: "Rows") -> View:
    """Nothing moves and nothing is asked: the runs that somebody has to start again, if any."""
    from porch.errors import EXIT_WAITING

    stopped = {key: row for key, row in rows.items() if row["group"] in _STOPPED}
    if not stopped:
        return View("Nothing is running, and nothing waits for you.", {"decisions": []})
    lines = [
        f"{row['run']} waits for you: {row['told'].replace('af resume', 'porch resume')}"
        for row in stopped.values()
    ]
    data = {"decisions": [], "stopped": [*stopped.values()]}
    return View("\n".join(lines), data, EXIT_WAITING)


def _describe_running(rows: "Rows", timeout: float) -> View:
    from porch.errors import EXIT_BUSY

    moving = [row for row in rows.values() if _may_move(row)]
    lines = [f"{row['id']} {row['title']}: {row['told']}" for row in moving]
    text = "\n".join([f"still running after {timeout:g} s:", *lines])
    return View(text, {"running": moving}, EXIT_BUSY)


def _read_rows(where: "ProjectPaths", name: str) -> "Rows":
    """The run of this name; without one all runs, here and in listed repositories.

    A driver that was started in the background and is gone is started again, as by `af status`.
    """
    from porch.fleet.drivers.revive import revive_runs
    from porch.fleet.fleet_rows import ProjectRuns, find_other_projects

    others = [] if name else find_other_projects(where, os.environ)
    rows: Rows = {}
    for project in (where, *(other for _, other in others)):
        runs = ProjectRuns(project)
        if alone := [each for each in runs.alone if name in ("", each)]:
            revive_runs(project, alone)
            runs = ProjectRuns(project)
        rows |= {(project.root, row["run"]): row for row in runs.rows if name in ("", row["run"])}
    return rows


def _read_seconds(text: str) -> float:
    from argparse import ArgumentTypeError

    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < float("inf"):
        raise ArgumentTypeError(f"'{text}' is not a number of seconds")
    return seconds


COMMANDS: Verbs = {
    "wait": Verb(
        _wait,
        (
            make_argument("id", nargs="?", default="", help="a run; default: all runs"),
            make_argument(
                "--timeout",
                type=_read_seconds,
                metavar="SECONDS",
                help="wait at most so long, then exit 4; default: no limit",
            ),
        ),
    ),
}
