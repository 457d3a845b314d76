"""The inbox: the rows of all projects, read as `af status` and `porch pending` read them."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from porch.errors import PorchError
from porch.fleet.fleet_rows import KnownRuns
from porch.plan.gate_files.pending_problems import add_form_problems
from porch.run.verbs.read_run import read_run
from porch.show.fleet.checklist import list_checklist
from porch.store.known_runs import list_lost_runs
from porch.store.where import ProjectPaths
from porch.web.pages.decision_cards import Row, ShownProject
from porch.web.pages.inbox_groups import GROUPS, make_inbox, number_inbox
from porch.web.server.call import Call
from porch.web.server.dashboard import Dashboard

_AT_WORK = ("running", "queued", "alone", "stopped")
_MOST_READ = 30


def show_inbox(call: Call) -> Response:
    group, start = call.asked("group"), call.asked("from")
    context = make_inbox(
        read_projects(call.dashboard),
        call.dashboard.now(),
        group=group if group in (*GROUPS, "waiting") else "",
        start=int(start) if start.isdecimal() else 0,
        query=call.asked("q"),
        find_work=call.dashboard.work.find,
    )
    context["notes"] = [*call.dashboard.notes(), *context["notes"]]
    context["stream"] = "/events/inbox"
    total = context["waiting"]["total"] if context["waiting"] else 0
    return call.page("inbox.html", f"({total}) Inbox" if total else "Inbox", context)


def read_projects(dashboard: Dashboard) -> list[ShownProject]:
    return [_read_project(dashboard, key, where) for key, where in dashboard.projects.items()]


def read_inbox_number(dashboard: Dashboard) -> str:
    return number_inbox(read_projects(dashboard))


def _read_project(dashboard: Dashboard, key: str, where: ProjectPaths) -> ShownProject:
    label = key if dashboard.has_several else ""
    found = dashboard.runs.read(key, where, label)
    lost = [
        f"{name}: there was a run, but its journal is gone"
        for name in list_lost_runs(where, found.records)
    ]
    rows = _add_phases(dashboard, key, where, found)
    decisions = _add_problems(where, found.decisions)
    return ShownProject(key, label, rows, decisions, [*lost, *found.troubles], found.numbers)


def _add_problems(where: ProjectPaths, decisions: Sequence[Any]) -> list[Any]:
    """In copies: what was read stays as it was, while the forms of plans are edited."""
    copies: list[Any] = [{**each} if each.get("subject") == "plan" else each for each in decisions]
    add_form_problems(where, copies)
    return copies


def _add_phases(dashboard: Dashboard, key: str, where: ProjectPaths, found: KnownRuns) -> list[Row]:
    """The phases of runs that are at work; a run is read again only after a new record."""
    live = [row["run"] for row in found.rows if row["group"] in _AT_WORK][:_MOST_READ]
    phases = {n: _read_phases(dashboard, key, where, n, found.records[n]) for n in live}
    return [
        {**row, "phases": phases[row["run"]]} if row["run"] in phases else row for row in found.rows
    ]


def _read_phases(
    dashboard: Dashboard, key: str, where: ProjectPaths, name: str, number: int
) -> Sequence[tuple[str, str, str]]:
    known = dashboard.phases.get((key, name))
    if known is not None and known[0] == number:
        return known[1]
    try:
        run = read_run(where, name)
    except PorchError:
        return []  # its row is there, and its own page says what is wrong
    rows = list_checklist(run.definition.protocol, run.state)
    told = [(row.phase, row.sign, row.outcome) for row in rows if not row.level]
    dashboard.phases[key, name] = (number, told)
    return told
