"""`af status`: all runs as a table, or one as a checklist; live with `--watch`."""

import os
import sys
import time
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from porch.fleet.drivers.revive import Revived
    from porch.fleet.finish.fleet_forecast import FleetForecast
    from porch.store.where import ProjectPaths

_EVERY_S = 0.5


def _show_status(args: Args) -> View:
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    forecast = _open_forecast(where) if args.id or args.conflicts else None
    view = _make_view(where, args, forecast)
    shown = None
    while args.watch:
        if view != shown:
            _redraw(view, args.json)
        shown = view
        time.sleep(_EVERY_S)
        view = _make_view(where, args, forecast)
    if args.json or not sys.stdout.isatty():
        return view
    # Colours are ours, and what a run brings was made printable before it was painted.
    print(view.text)
    return View("", view.data, view.code)


def _redraw(view: View, as_json: bool) -> None:
    import json

    if as_json:
        print(json.dumps(view.data, ensure_ascii=False), flush=True)
    else:
        front = "\x1b[2J\x1b[H" if sys.stdout.isatty() else ""
        print(front + view.text, flush=True)


def _open_forecast(where: "ProjectPaths") -> "FleetForecast":
    from porch.fleet.finish.fleet_forecast import FleetForecast

    return FleetForecast(where)


def _make_view(where: "ProjectPaths", args: Args, forecast: "FleetForecast | None") -> View:
    if args.id:
        return _run_view(where, args.id, forecast)
    view = _fleet_view(where, args.pending_only)
    return _add_conflicts(view, forecast) if forecast else view


def _add_conflicts(view: View, forecast: "FleetForecast") -> View:
    """Below the table, because git has to be asked about every two branches."""
    from porch.cli.terminal_width import listing_width
    from porch.show.board import wrap_text
    from porch.text.printable import make_printable

    found = forecast.look_at_all()
    lines = [f"expect a conflict: {pair.describe()}" for pair in found.pairs]
    lines += [f"in this order the fewest conflict: {', '.join(found.order)}"] if lines else []
    lines = lines or ["no conflicts between live runs are expected"]
    width = listing_width()
    told = [part for line in lines for part in wrap_text(make_printable(line), 0, width)]
    text = "\n".join([view.text, *told]).strip("\n")
    pairs = [{"one": p.one, "other": p.other, "files": list(p.files)} for p in found.pairs]
    data = {**view.data, "conflicts": pairs, "merge_order": list(found.order)}
    return View(text, data, view.code)


def _fleet_view(where: "ProjectPaths", pending_only: bool) -> View:
    from porch.cli.terminal_width import table_width, terminal_style
    from porch.fleet.drivers.leftovers import take_back_leftovers
    from porch.fleet.fleet_rows import (
        ProjectRuns,
        find_other_projects,
        list_repository_faults,
        select_rows,
    )
    from porch.show.fleet.board import render_fleet
    from porch.store.foreign_status import list_foreign_files

    taken_back = take_back_leftovers(where)
    others = find_other_projects(where, os.environ)
    label = os.path.basename(where.root) if others else ""
    mine = ProjectRuns(where, label)
    revived = _revive(where, mine.alone) if mine.alone else None
    if revived and revived.started:
        mine = ProjectRuns(where, label)
    projects = [mine, *(ProjectRuns(other, name) for name, other in others)]
    rows = select_rows([row for each in projects for row in each.rows], pending_only)
    troubles = [trouble for each in projects for trouble in each.troubles]
    look = terminal_style()
    table = render_fleet(rows, table_width(), look is not None and look.colour)
    notes = [*taken_back, *(revived.describe() if revived else ()), *map(str, troubles)]
    notes += list_repository_faults(where, os.environ)
    foreign = list_foreign_files(where.root, where.runs())
    notes += [] if pending_only else foreign.describe_history()
    text = "" if pending_only and not rows else table
    data = {"runs": rows, "notes": notes, **foreign.as_json()}
    code = max((trouble.exit_code for trouble in troubles), default=0)
    return View("\n".join([text.rstrip("\n"), *notes]).strip("\n"), data, code)


def _revive(where: "ProjectPaths", names: list[str]) -> "Revived":
    from porch.fleet.drivers.revive import revive_runs

    return revive_runs(where, names)


def _run_view(where: "ProjectPaths", word: str, forecast: "FleetForecast | None") -> View:
    from porch.account.waiting import wants_driver
    from porch.cli.terminal_width import table_width, terminal_style
    from porch.run.verbs import overview
    from porch.run.verbs.liveness import describe_current_turns
    from porch.run.verbs.read_run import read_run
    from porch.run.verbs.run_lookup import find_run
    from porch.show.fleet.checklist import render_checklist
    from porch.store import run_drivers
    from porch.store.removed_worktrees import read_removed_place
    from porch.store.run_names import unique_word
    from porch.store.uncommitted_work import read_uncommitted_work, read_unmerged_work

    if (foreign := overview.find_run_without_journal(where, word)) is not None:
        shown = overview.show_run(where, foreign.directory)
        return View(shown.text, shown.data)
    name = find_run(where, word)
    found = read_run(where, name)
    is_live = wants_driver(found.definition.protocol, found.state)
    driver = run_drivers.find_driver(where.run_dir(name))
    revived = _revive(where, [name]) if is_live and driver.holder is None else None
    if revived and revived.started:
        driver = run_drivers.find_driver(where.run_dir(name))
    unique = unique_word(where.names(), name, found.state.run.id)
    driven = run_drivers.describe_driver(driver, unique, "af") if is_live else ""
    pairs = forecast.look_at_run(found.state) if forecast else ()
    unkept = read_uncommitted_work(where.run_dir(name))
    is_open = found.state.outcome == "complete" and found.state.run.delivery is None
    unmerged = read_unmerged_work(where.run_dir(name)) if is_open else ""
    removed = read_removed_place(where.run_dir(name)) if found.state.paused else None
    data = {**overview.show_run(where, word).data, "conflicts": [p.describe() for p in pairs]}
    look = terminal_style()
    lines = render_checklist(
        found.definition.protocol,
        found.state,
        driven,
        table_width(),
        colour=look is not None and look.colour,
        notes=[
            *describe_current_turns(data.get("working") or []),
            *([f"not committed: {unkept}"] if unkept else []),
            *([f"not merged: {unmerged}"] if unmerged else []),
            *([removed.describe(f"af resume {unique}")] if removed else []),
            *(f"expect a conflict with {pair.other}: {', '.join(pair.files)}" for pair in pairs),
        ],
    )
    return View("\n".join([*lines, *(revived.describe() if revived else ())]), data)


COMMANDS: Verbs = {
    "status": Verb(
        _show_status,
        (
            make_argument("id", nargs="?", default="", help="a run; default: all runs"),
            make_argument(
                "--pending-only", action="store_true", help="only what waits for a person"
            ),
            make_argument(
                "--conflicts",
                action="store_true",
                help="also which branches of live runs will conflict, and the best order",
            ),
            make_argument("--watch", action="store_true", help="keep showing it, updated"),
        ),
    ),
}
