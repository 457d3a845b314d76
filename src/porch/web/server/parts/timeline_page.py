"""The timeline of a run: some records of its journal, as lanes of work."""

from starlette.responses import Response

from porch.machine.records import RawRecord
from porch.run.verbs import run_log
from porch.show.records.work_spans import list_spans
from porch.web.pages.page_words import run_address
from porch.web.pages.span_lanes import make_lanes
from porch.web.pages.windows import read_number
from porch.web.server.call import Call
from porch.web.server.parts.run_frame import OpenRun

RECORDS = 200


def show_timeline(call: Call) -> Response:
    """The newest records, or those before a number that the address names."""
    run = OpenRun(call)
    last, before = run.state.seq, read_number(call.asked("before"))
    end = min(before - 1, last) if before > 1 else last
    first = max(end - RECORDS + 1, 1)
    records = run.records(first, end)
    is_live = end == last and not run.state.outcome
    edge = call.dashboard.now().isoformat() if is_live else _at(records, -1)
    address = run_address(run.project, run.name, "timeline")
    context = {
        **run.frame(run.picture(), "timeline"),
        **make_lanes(
            list_spans(records), _at(records, 0), edge, run_log.words_of(run.where, run.name)
        ),
        "earlier": f"{address}?before={first}" if first > 1 else "",
        "later": f"{address}?before={min(end + RECORDS, last) + 1}" if end < last else "",
        "journal": run_address(run.project, run.name, "journal"),
    }
    return call.page("timeline.html", f"Timeline of {context['id']}", context)


def _at(records: list[RawRecord], place: int) -> str:
    return str(records[place].get("at", "")) if records else ""
