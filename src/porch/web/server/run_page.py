"""One run: read as `porch status`, `porch explain` and `porch log` read it, and shown in parts."""

import os
from typing import Any

from starlette.responses import Response

from porch.machine.explain import explain_positions
from porch.run.verbs import run_log
from porch.run.verbs.liveness import complete_status
from porch.run.verbs.overview import has_definition_changed
from porch.run.verbs.read_run import ReadRun, read_run
from porch.show.fleet.checklist import list_checklist
from porch.store import journal, journal_tail, run_drivers
from porch.store.run_names import unique_word
from porch.store.where import ProjectPaths
from porch.web.pages import run_view
from porch.web.pages.wording import run_address
from porch.web.server.call import Call

LINES = 200


def show_run(call: Call) -> Response:
    project, where, name = call.run()
    found = read_run(where, name)
    is_driven, driven = _describe_driver(where, found)
    picture = _complete_picture(where, found)
    protocol, now = found.definition.protocol, call.dashboard.now()
    context = {
        **_make_frame(call, project, name, picture, ""),
        "sentence": run_view.make_sentence(picture, is_driven, driven, now),
        **run_view.make_overview(
            project,
            picture,
            list_checklist(protocol, found.state),
            explain_positions(protocol, found.state, is_driven),
            driven,
            now,
        ),
        "can_resume": bool(not picture["outcome"] and not is_driven),
        "is_changed": has_definition_changed(where, found),
    }
    return call.page("run.html", f"{context['id']} {context['heading']}", context)


def _complete_picture(where: ProjectPaths, found: ReadRun) -> dict[str, Any]:
    """With commands that name this run and no other."""
    picture: dict[str, Any] = {**found.picture()}
    return {**picture, "decisions": complete_status(where, found.name, picture)["decisions"]}


def _describe_driver(where: ProjectPaths, found: ReadRun) -> tuple[bool, str]:
    """Whether somebody drives it, and who; a run that is over needs nobody."""
    state = found.state
    if state.outcome or state.paused or found.name.startswith("plan_"):
        return found.name.startswith("plan_"), ""
    driver = run_drivers.find_driver(where.run_dir(found.name))
    word = unique_word(where.names(), found.name, state.run.id)
    told = run_drivers.describe_driver(driver, word)
    if driver.holder is None:
        return False, told.replace("porch resume", "af resume")
    return True, told


def _make_frame(
    call: Call, project: str, name: str, picture: dict[str, Any], tab: str
) -> dict[str, Any]:
    return {
        **run_view.make_frame(project, name, picture, tab),
        "project": project if call.dashboard.has_several else "",
    }


def show_journal(call: Call) -> Response:
    """The last records, or those before a number that the address names."""
    project, where, name = call.run()
    found = read_run(where, name)
    last, before = found.state.seq, call.asked("before")
    end = min(int(before) - 1, last) if before.isdecimal() and int(before) > 1 else last
    tail = _read_tail(where, name, last - end + LINES)
    kept = [record for record in tail.records if int(record.get("seq", 0)) <= end][-LINES:]
    first = int(kept[0]["seq"]) if kept else 1
    later = min(end + LINES, last) + 1 if end < last else None
    context = {
        **_make_frame(call, project, name, {**found.picture()}, "journal"),
        **run_view.make_journal(
            kept,
            first - 1,
            run_address(project, name, "journal"),
            run_log.words_of(where, name),
            later,
        ),
    }
    return call.page("journal.html", f"Journal of {context['id']}", context)


def _read_tail(where: ProjectPaths, name: str, count: int) -> journal_tail.Tail:
    """From the whole journal if its end alone cannot be believed, which then says what is wrong."""
    tail = run_log.read_last_records(where, name, count)
    if tail is not None:
        return tail
    records = journal.scan_journal(os.path.join(where.run_dir(name), "journal.jsonl")).records
    return journal_tail.Tail(records[-count:], max(len(records) - count, 0))
