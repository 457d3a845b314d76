"""Pages about places and tools: protocols, plans, worktrees, and the health of a project."""

import os
from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict
from starlette.responses import Response

from porch.errors import PorchError
from porch.fleet.finish.fleet_forecast import FleetForecast
from porch.fleet.health import doctor
from porch.git.command import run_git
from porch.git.worktrees import list_changed_paths
from porch.plan import plan_board
from porch.plan.files.plan_location import list_plan_names
from porch.plan.plan_board import BoardQuestion
from porch.run.definitions import library, protocol_list
from porch.run.verbs import run_list
from porch.run.verbs.read_run import read_run
from porch.run.worktrees.make import worktree_path
from porch.run.worktrees.remove import remove_run_worktree
from porch.show.graph.picture import ProtocolPicture, make_protocol_picture
from porch.show.graph.svg import render_svg
from porch.store.where import ProjectPaths
from porch.store.worktree_records import WorktreeRecord, list_records
from porch.system import socket_peer
from porch.system.disk_use import measure_disk
from porch.web.pages import place_view
from porch.web.pages.page_words import (
    count_of,
    decision_address,
    describe_time_since,
    plan_address,
    run_address,
)
from porch.web.pages.windows import cut_pages, read_number
from porch.web.pages.work_view import list_states
from porch.web.server.call import Call, NoSuchPage

# Git is asked three times for each of them.
WORKTREES_ON_PAGE = 20
PLANS_ON_PAGE = 25
MOST_CONFLICTS = 50


def show_protocols(call: Call) -> Response:
    """Of each project those that it can run, with what is wrong with them."""
    sections = []
    for key, where in call.dashboard.projects.items():
        rows = protocol_list.list_protocol_rows(where)
        faults = {r["name"]: protocol_list.lint_protocols(where, [r["name"]]) for r in rows}
        used = [row["row"]["protocol"] for row in run_list.every_row(where, "row").rows.values()]
        sections.append(place_view.make_protocols(key, rows, faults, used))
    context = {"sections": sections, "has_several": call.dashboard.has_several, "part": "Protocols"}
    return call.page("protocols.html", "Protocols", context)


def show_protocol(call: Call) -> Response:
    key, where = call.project()
    row, picture = _draw(call, where)
    faults = protocol_list.lint_protocols(where, [row["name"]])
    context = {
        "part": "Protocols",
        **place_view.make_protocol(key, row, faults),
        "states": list(list_states(picture)),
    }
    return call.page("protocol.html", row["name"], context)


def send_protocol_graph(call: Call) -> Response:
    _, picture = _draw(call, call.project()[1])
    return Response(render_svg(picture, call.theme), media_type="image/svg+xml")


def _draw(call: Call, where: ProjectPaths) -> tuple[dict[str, str], ProtocolPicture]:
    """By a name of the list: an address must not open any file."""
    name = str(call.request.path_params["name"])
    for row in protocol_list.list_protocol_rows(where):
        if row["name"] == name:
            found = library.locate_protocol(where, name)
            loaded = library.load_protocol(found.file, found.home)
            return row, make_protocol_picture(loaded.demand().protocol)
    raise NoSuchPage(f"there is no protocol '{name}' here", fix="see the list of protocols")


def show_plans(call: Call) -> Response:
    """Of all projects; only the plans of one page are read."""
    names = [
        (key, where, name)
        for key, where in call.dashboard.projects.items()
        for name in list_plan_names(where)
    ]
    kept, pager = cut_pages(names, read_number(call.asked("page")), PLANS_ON_PAGE, "/plans")
    rows = [_make_plan_row(call, key, where, name) for key, where, name in kept]
    return call.page("plans.html", "Plans", {"rows": rows, "pager": pager, "part": "Plans"})


def _make_plan_row(call: Call, key: str, where: ProjectPaths, name: str) -> dict[str, Any]:
    row = plan_board.read_plan_row(where, name)
    asked = count_of(row.questions, "decision") + (" waits" if row.questions == 1 else " wait")
    return {
        **asdict(row),
        "address": plan_address(key, name),
        "asked": f"{asked} for you" if row.questions else "",
        "project": key if call.dashboard.has_several else "",
    }


def show_plan(call: Call) -> Response:
    key, where = call.project()
    name = str(call.request.path_params["name"])
    if name not in list_plan_names(where):
        raise NoSuchPage(f"there is no plan '{name}' in {key}", fix="see the list of plans")
    board = plan_board.read_board(where, name)
    context = {
        "part": "Plans",
        "project": key if call.dashboard.has_several else "",
        "branch": board.branch,
        "stage": board.stage,
        "columns": board.columns,
        "gates": board.gates,
        "decisions": [_make_question(call, key, name, each) for each in board.questions],
        "total": count_of(board.prompts, "prompt"),
        "run_address": run_address(key, name) if where.has_begun(name) else "",
        "notes": board.notes,
    }
    return call.page("plan.html", f"Plan of {board.branch}", context)


def _make_question(call: Call, key: str, run: str, asked: BoardQuestion) -> dict[str, str]:
    return {
        "name": asked.name,
        "about": asked.about,
        "waited": describe_time_since(asked.asked_at, call.dashboard.now()),
        "asked_at": asked.asked_at,
        "address": decision_address(key, run, asked.position),
    }


def show_worktrees(call: Call) -> Response:
    every = [
        (key, record)
        for key, where in call.dashboard.projects.items()
        for record in list_records(where)
    ]
    page = read_number(call.asked("page"))
    kept, pager = cut_pages(every, page, WORKTREES_ON_PAGE, "/worktrees")
    sections = []
    for key, where in call.dashboard.projects.items():
        rows = [_read_worktree(where, record) for owner, record in kept if owner == key]
        pairs = _forecast_conflicts(where) if rows else []
        sections.append(place_view.make_worktrees(key, rows, pairs))
    context = {
        "sections": sections,
        "pager": pager,
        "has_several": call.dashboard.has_several,
        "part": "Worktrees",
    }
    return call.page("worktrees.html", "Worktrees", context)


def _forecast_conflicts(where: ProjectPaths) -> list[str]:
    found = FleetForecast(where).look_at_all() if where.common_dir else None
    return [pair.describe() for pair in found.pairs][:MOST_CONFLICTS] if found else []


def _read_worktree(where: ProjectPaths, record: WorktreeRecord) -> dict[str, Any]:
    """What git says of it; a worktree that cannot be asked is still listed."""
    path = worktree_path(where, record.name)
    told = {"name": record.name, "run": record.run, "branch": record.branch, "base": record.base}
    told["path"] = os.path.relpath(path, where.base)
    if not os.path.isdir(path):
        return {**told, "trouble": "its directory is gone"}
    try:
        changed = len(list_changed_paths(path))
        ahead = run_git(path, "rev-list", "--count", f"{record.base}..HEAD").strip()
        behind = run_git(path, "rev-list", "--count", f"HEAD..{_target_of(where, record)}").strip()
    except (PorchError, OSError) as error:
        return {**told, "trouble": str(error)}
    counts = {"changed": changed, "ahead": int(ahead), "behind": int(behind)}
    return {**told, **counts, "disk": measure_disk(path)}


def _target_of(where: ProjectPaths, record: WorktreeRecord) -> str:
    """The branch on which its run began; the commit then, if nobody knows."""
    if not where.has_begun(record.run):
        return record.base
    return read_run(where, record.run).state.run.into or record.base


def remove_worktree(call: Call) -> Response:
    """Everything in it is kept first; what that was is said."""
    _, where, name = call.run()
    gone = remove_run_worktree(where, read_run(where, name).state)
    return call.go("/worktrees", "; ".join(gone.describe()))


def show_doctor(call: Call) -> Response:
    return _show_doctor(call, is_trial=False)


def send_notice(call: Call) -> Response:
    """A test notice by each channel, and what became of it."""
    return _show_doctor(call, is_trial=True)


def _show_doctor(call: Call, *, is_trial: bool) -> Response:
    key, where = next(iter(call.dashboard.projects.items()))
    lines = doctor.examine_installation(where, is_trial=is_trial)
    can_run, closing = doctor.conclude(lines)
    first, *more = closing.split("\n")
    context = {
        "part": "Doctor",
        "project": key,
        "can_run": can_run,
        "closing": [f"{first[:1].upper()}{first[1:].rstrip(':')}", *map(str.strip, more)],
        "lines": [*(each.as_json() for each in lines), *_list_own_lines()],
        "is_trial": is_trial,
    }
    return call.page("doctor.html", "Doctor", context)


def _list_own_lines() -> Iterator[dict[str, Any]]:
    """What holds here for the dashboard itself."""
    if socket_peer.can_tell_peers():
        what = "the dashboard refuses processes of agents: the kernel says who connects"
        yield {"status": "ok", "what": what, "fix": "", "more": []}
    else:
        what = "this system does not say who connects, so the dashboard cannot refuse agents"
        yield {"status": "warning", "what": what, "fix": "keep its link to yourself", "more": []}
