"""`af status` of all runs, as long as their rows are up to date: os and json only."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.show.shapes import FleetRowShape
    from porch.store.foreign_status import ForeignFiles
    from porch.store.where import ProjectPaths

_FLAGS = {"--json", "--pending-only"}


def answer_from_rows(argv: list[str]) -> int | None:
    """The exit code if this call could be answered from rows alone; otherwise None."""
    if argv[:1] != ["status"] or not set(argv[1:]) <= _FLAGS:
        return None
    from porch.fleet import fleet_rows
    from porch.store import where as places
    from porch.store.foreign_status import list_foreign_files

    where = places.find_project(os.getcwd())
    if fleet_rows.list_repository_faults(where, os.environ):
        return None
    if fleet_rows.find_other_projects(where, os.environ):
        return None
    try:
        mine = fleet_rows.ProjectRuns(where)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if (
        mine.troubles
        or _has_kickoffs(where)
        or any(_has_driver_log(where, name) for name in mine.alone)
    ):
        return None  # the long way round says what is wrong, and starts drivers again
    rows = fleet_rows.select_rows(mine.rows, "--pending-only" in argv)
    foreign = list_foreign_files(where.root, {row["run"] for row in mine.rows})
    _print(rows, foreign, "--json" in argv, "--pending-only" in argv)
    return 0


def _has_kickoffs(where: ProjectPaths) -> bool:
    """Whether some kickoff has not yet said which run it drives, or died before that."""
    try:
        return bool(os.listdir(os.path.join(where.state_dir, "kickoffs")))
    except OSError:
        return False


def _has_driver_log(where: ProjectPaths, name: str) -> bool:
    """Whether `af` once started a driver for this run."""
    return os.path.exists(os.path.join(where.run_dir(name), "driver.log"))


def _print(rows: list[FleetRowShape], foreign: ForeignFiles, as_json: bool, is_quiet: bool) -> None:
    if as_json:
        import json

        notes = [] if is_quiet else foreign.describe_history()
        data = {"runs": rows, "notes": notes, **foreign.as_json()}
        text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    elif is_quiet and not rows:
        return
    else:
        from porch.cli.terminal_width import table_width, terminal_style
        from porch.show.fleet.board import render_fleet

        look = terminal_style()
        text = render_fleet(rows, table_width(), look is not None and look.colour)
        text += "".join(f"{line}\n" for line in foreign.describe_history() if not is_quiet)
    sys.stdout.write(text)
    sys.stdout.flush()
