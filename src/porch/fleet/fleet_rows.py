"""The runs of this project, and of others that a person lists, as rows for one table.

Loads os alone as long as nothing is out of date, because people watch this. Who looks again and
again, as the dashboard and the inbox do, keeps what was read until a journal or a driver is
another: reading a thousand rows takes a tenth of a second, and looking whether one is another takes
a hundredth of that.
"""

from __future__ import annotations

import os
import time

from porch.run.verbs import run_list
from porch.run.verbs.liveness import LiveRows
from porch.show.board import waits_on
from porch.store import run_drivers, run_looks, run_rows
from porch.store import where as places
from porch.store.run_names import rename_in_commands
from porch.system.variables import find_config_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from porch.errors import PorchError
    from porch.show.shapes import (
        BoardRowExtras,
        BoardRowShape,
        DecisionShape,
        FleetRowShape,
        RunRowShape,
    )
    from porch.store.run_looks import RunLook
    from porch.store.where import ProjectPaths

_ORDER = ("waiting", "alone", "queued", "running", "stopped", "over")


# What the texts of a row depend on: the day, each run, and the locks of those that are driven.
_Seen = tuple[tuple[int, ...], "Mapping[str, RunLook]", list[int]]


class ProjectRuns:
    """The runs of one project: rows for the table, who drives them, what is wrong.

    With `part` "decisions" also everything that is known of what people are asked.
    """

    __slots__ = ("_live", "alone", "finishable", "records", "rows", "troubles")

    def __init__(self, where: ProjectPaths, label: str = "", part: run_rows.Part = "told") -> None:
        found = run_list.every_row(where, part)
        live = LiveRows(where, found.rows)
        self.troubles: list[PorchError] = found.troubles
        self.alone = [n for n, d in live.drivers.items() if d.holder is None]
        self.rows = [_make_row(n, row, live, label) for n, row in found.rows.items()]
        # Complete, and nobody has said what becomes of the work.
        self.finishable = [n for n, row in found.rows.items() if waits_on(row["row"], "finish")]
        # How many records each journal has, as far as its row was drawn.
        self.records = {n: int(row["seq"]) for n, row in found.rows.items()}
        self._live = live

    def decisions(self) -> list[DecisionShape]:
        """What people are asked here, oldest first."""
        return self._live.decisions()


def _make_row(name: str, row: RunRowShape, live: LiveRows, label: str) -> FleetRowShape:
    told, driver = row["row"], live.drivers.get(name)
    asked = run_rows.list_asked(row)
    group = _find_group(told, asked, driver)
    heading: BoardRowExtras = {"heading": told["heading"]} if told.get("heading") else {}
    return {
        "group": group,
        "repository": label,
        "run": name,
        "id": told["id"] or name,
        "title": told["title"],
        **heading,
        "protocol": told["protocol"],
        "state": told["state"],
        "since": asked[0][0] if asked else "",
        "told": _describe(group, live.words[name], told, asked, driver)
        + (" (makes its worktree again)" if live.is_removed(name) else ""),
        "decisions": [question for _, question in asked],
        "driver": run_drivers.make_driver_data(driver) if driver else None,
    }


def _find_group(told: BoardRowShape, asked: Any, driver: run_drivers.RunDriver | None) -> str:
    if asked:
        return "waiting"
    if waits_on(told, "resume"):
        return "stopped"
    if driver is None:
        is_over = not told["waiting"] or waits_on(told, "finish")
        return "over" if is_over else "running"
    if not driver.is_moving:
        return "alone"
    return "queued" if driver.is_queued else "running"


def _describe(
    group: str, word: str, told: BoardRowShape, asked: Any, driver: run_drivers.RunDriver | None
) -> str:
    if group == "waiting":
        since = run_drivers.format_clock(run_drivers.parse_instant(asked[0][0]))
        nobody = "" if driver is None or driver.holder else "not running"
        if nobody and any(each["needs_driver"] for each in told["waiting"]):
            nobody = f"af resume {word} ({nobody})"
        if waits_on(told, "resume"):
            nobody = f"stopped: af resume {word}"
        return "; ".join(filter(None, (f"{asked[0][1]} since {since}", nobody)))
    if group == "stopped":
        return f"af resume {word}"
    if driver is not None and driver.holder and driver.is_suspended:
        return f"suspended: kill -CONT {driver.holder.pid}"
    if group == "queued" and driver is not None:
        return run_drivers.describe_driver(driver, word)
    if group == "alone" and driver is not None:
        nobody = run_drivers.describe_nobody(driver)
        return f"af resume {word} ({nobody})"
    return rename_in_commands(str(told["waits"]), told["id"], word)


def select_rows(rows: list[FleetRowShape], pending_only: bool) -> list[FleetRowShape]:
    """What waits for people first, oldest first; then by what moves least, unless nothing else."""
    kept = [row for row in rows if row["group"] == "waiting"] if pending_only else rows
    return sorted(kept, key=lambda row: (_ORDER.index(row["group"]), row["since"], row["run"]))


def find_other_projects(where: ProjectPaths, environ: Any) -> list[tuple[str, ProjectPaths]]:
    """Those that the person's own settings list; they are read only if they mention any."""
    listed, _ = _read_listed(environ)
    found = (_find_listed(path) for path in listed if not _find_fault(path))
    here = os.path.realpath(where.root)
    return [(name, each) for name, each in found if os.path.realpath(each.root) != here]


def list_repository_faults(where: ProjectPaths, environ: Any) -> list[str]:
    """In words: what the person's own settings list in vain, and settings that cannot be read."""
    listed, fault = _read_listed(environ)
    faults = [fault, *map(_find_fault, listed)]
    if listed or fault:
        projects = [("", where), *find_other_projects(where, environ)]
        faults += [_find_settings_fault(name, each) for name, each in projects]
    return list(filter(None, faults))


def _read_listed(environ: Any) -> tuple[tuple[str, ...], str]:
    """The repositories that a person's own settings list, or why they cannot be read."""
    path = os.path.join(find_config_home(environ), "porch", "config.toml")
    try:
        with open(path, "rb") as file:
            is_listed = b"repositories" in file.read()
    except (FileNotFoundError, NotADirectoryError):
        return (), ""
    except OSError as error:
        return (), f"the settings {path} cannot be read: {error.strerror}"
    if not is_listed:
        return (), ""
    from porch.errors import PorchError
    from porch.run.settings import load_own_settings

    try:
        return load_own_settings().repositories, ""
    except PorchError as error:
        return (), str(error)


def _find_settings_fault(name: str, where: ProjectPaths) -> str:
    from porch.errors import PorchError
    from porch.run.settings import load_settings

    try:
        load_settings(where.root)
    except PorchError as error:
        return f"{name}: {error}" if name else str(error)
    return ""


def _find_listed(path: str) -> tuple[str, ProjectPaths]:
    whole = os.path.realpath(os.path.expanduser(path))
    return os.path.basename(whole), places.find_project(whole)


def _find_fault(path: str) -> str:
    whole = os.path.expanduser(path)
    if not os.path.isabs(whole):
        return f"[af] repositories: '{path}' is not a whole path; write it from / or ~"
    is_there = os.path.isdir(whole)
    return "" if is_there else f"[af] repositories: there is no directory '{path}'"


class KnownRuns:
    """Rows in the order of the table, questions, and what is wrong with single runs.

    `records` says of each run how many its journal has, `numbers` is another text whenever a run
    is, and the work of those in `finishable` can be delivered.
    """

    __slots__ = ("decisions", "finishable", "numbers", "records", "rows", "troubles")

    def __init__(self, found: ProjectRuns) -> None:
        self.rows: Sequence[FleetRowShape] = select_rows(found.rows, False)
        self.decisions: Sequence[Any] = found.decisions()
        self.troubles = [trouble.findings[0].message for trouble in found.troubles]
        self.records = found.records
        self.numbers = [
            f"{row['run']}:{found.records[row['run']]}:{row['driver'] is not None}"
            for row in found.rows
        ]
        self.finishable = found.finishable


class RunsOfProjects:
    """What was read last of each project."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Seen, KnownRuns]] = {}

    def read(self, key: str, where: ProjectPaths, label: str) -> KnownRuns:
        """Looks first and reads then: what is written in between is read by the next one."""
        known = self._known.get(key)
        seen = _look(where, known[0][1] if known else {})
        if known is None or known[0] != seen:
            known = seen, KnownRuns(ProjectRuns(where, label, "decisions"))
            self._known[key] = known
        return known[1]


def _look(where: ProjectPaths, known: Mapping[str, RunLook]) -> _Seen:
    runs = os.path.join(where.state_dir, "runs")
    found = run_looks.look_at_runs(runs, known)
    driven = [f"{runs}/{name}/lock" for name, look in found.items() if look[2]]
    return tuple(time.localtime()[:3]), found, [_last_change(path) for path in driven]


def _last_change(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def name_projects(where: ProjectPaths, environ: Mapping[str, str]) -> dict[str, ProjectPaths]:
    """Each under the name of its directory; a second one of that name gets a number."""
    others = find_other_projects(where, environ)
    named: dict[str, ProjectPaths] = {}
    for name, found in [(os.path.basename(where.root), where), *others]:
        number = 1
        while (key := name if number == 1 else f"{name}-{number}") in named:
            number += 1
        named[key or "project"] = found
    return named
