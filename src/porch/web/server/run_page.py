"""One run: read as `porch status`, `porch explain` and `porch log` read it, and shown in parts."""

import os

from starlette.responses import Response

from porch.machine.explain import explain_positions
from porch.run.verbs import run_log
from porch.run.verbs.overview import has_definition_changed
from porch.show.fleet.checklist import list_checklist
from porch.store import journal, journal_tail
from porch.store.where import ProjectPaths
from porch.web.pages import run_view
from porch.web.pages.wording import run_address
from porch.web.server.call import Call
from porch.web.server.run_frame import OpenRun

LINES = 200


def show_run(call: Call) -> Response:
    run = OpenRun(call)
    picture = run.picture()
    context = {
        **run.frame(picture, ""),
        **run_view.make_overview(
            run.project,
            picture,
            list_checklist(run.protocol, run.state),
            explain_positions(run.protocol, run.state, run.is_driven),
            run.describe_driver(),
            call.dashboard.now(),
        ),
        "can_resume": not run.state.outcome and not run.is_driven,
        "is_changed": has_definition_changed(run.where, run.found),
    }
    return call.page("run.html", f"{context['id']} {context['heading']}", context)


def show_journal(call: Call) -> Response:
    """The last records, or those before a number that the address names."""
    run = OpenRun(call)
    last, before = run.state.seq, call.asked("before")
    end = min(int(before) - 1, last) if before.isdecimal() and int(before) > 1 else last
    tail = _read_tail(run.where, run.name, last - end + LINES)
    kept = [record for record in tail.records if int(record.get("seq", 0)) <= end][-LINES:]
    first = int(kept[0]["seq"]) if kept else 1
    later = min(end + LINES, last) + 1 if end < last else None
    context = {
        **run.frame(run.picture(), "journal"),
        **run_view.make_journal(
            kept,
            first - 1,
            run_address(run.project, run.name, "journal"),
            run_log.words_of(run.where, run.name),
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
