"""One run: read as `porch status`, `porch explain` and `porch log` read it, and shown in parts."""

from typing import Any

from starlette.responses import Response

from porch.errors import PorchError
from porch.machine.explain import explain_positions
from porch.run.agents.budget_limits import list_run_limits
from porch.run.agents.roster import SCRIPTED
from porch.run.pinned_settings import read_pinned_settings
from porch.run.settings import load_settings
from porch.run.verbs import run_log
from porch.run.verbs.overview import has_definition_changed
from porch.show.fleet.checklist import list_checklist
from porch.web.pages import run_view
from porch.web.pages.page_words import run_address
from porch.web.pages.run_view import make_budgets
from porch.web.pages.windows import read_number
from porch.web.server.call import Call
from porch.web.server.parts.run_frame import OpenRun

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
            explain_positions(run.protocol, run.state, not run.needs_driver),
            driven=run.describe_driver(),
            now=call.dashboard.now(),
        ),
        "working": run.describe_work(picture),
        "budgets": _list_budgets(run, picture),
        "can_resume": run.can_resume,
        "is_changed": has_definition_changed(run.where, run.found),
    }
    return call.page("run.html", f"{context['id']} {context['heading']}", context)


def _list_budgets(run: OpenRun, picture: dict[str, Any]) -> list[dict[str, Any]]:
    """By the settings that govern the run; if they cannot be read, what was used is shown alone."""
    try:
        now = load_settings(run.where.root)
        settings = read_pinned_settings(run.where, run.name, run.state.run.settings, now)
        limits = list_run_limits(settings, run.protocol, run.state)
    except PorchError:
        limits = []
    return make_budgets(picture["cost"], limits, run.state.run.agent == SCRIPTED)


def show_journal(call: Call) -> Response:
    """The last records, or those before a number that the address names."""
    run = OpenRun(call)
    last, before = run.state.seq, read_number(call.asked("before"))
    end = min(before - 1, last) if before > 1 else last
    first = max(end - LINES + 1, 1)
    kept = run.records(first, end)
    later = min(end + LINES, last) + 1 if end < last else None
    context = {
        **run.frame(run.picture(), "journal"),
        **run_view.make_journal(
            kept,
            first - 1,
            run_address(run.project, run.name, "journal"),
            words=run_log.words_of(run.where, run.name),
            later=later,
        ),
    }
    return call.page("journal.html", f"Journal of {context['id']}", context)
