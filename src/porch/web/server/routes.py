"""Every address of the dashboard in one table; a test tries each row against the guard."""

from collections.abc import Callable

from msgspec import Struct
from starlette.responses import Response

from porch.web.server import choices, events, inbox_page, plan_pages, project_pages
from porch.web.server.call import Call
from porch.web.server.parts import (
    changes_page,
    decision_page,
    graph_page,
    run_page,
    stop_resume,
    timeline_page,
    work_pages,
)

Handler = Callable[[Call], Response]


class PageRoute(Struct, frozen=True):
    """One address. A write gets a form; a stream stays open until somebody leaves."""

    method: str
    path: str
    handle: Handler
    is_write: bool = False
    is_stream: bool = False


_RUN = "/run/{project}/{run}"

ROUTES = (
    PageRoute("GET", "/", inbox_page.show_inbox),
    PageRoute("GET", f"{_RUN}", run_page.show_run),
    PageRoute("GET", f"{_RUN}/journal", run_page.show_journal),
    PageRoute("GET", f"{_RUN}/activity", work_pages.show_activity),
    PageRoute("GET", f"{_RUN}/timeline", timeline_page.show_timeline),
    PageRoute("GET", f"{_RUN}/diff", changes_page.show_diff),
    PageRoute("GET", f"{_RUN}/files", changes_page.show_files),
    PageRoute("GET", f"{_RUN}/graph", graph_page.show_graph),
    PageRoute("GET", f"{_RUN}/graph.svg", graph_page.send_graph),
    PageRoute("GET", f"{_RUN}/tree", graph_page.show_tree),
    PageRoute("GET", f"{_RUN}/checks", work_pages.show_checks),
    PageRoute("GET", f"{_RUN}/reviews", work_pages.show_reviews),
    PageRoute("GET", f"{_RUN}/cost", work_pages.show_cost),
    PageRoute("GET", f"{_RUN}/decision", decision_page.show_decision),
    PageRoute("POST", f"{_RUN}/decision", decision_page.decide_here, is_write=True),
    PageRoute("POST", f"{_RUN}/stop", stop_resume.stop_here, is_write=True),
    PageRoute("POST", f"{_RUN}/resume", stop_resume.resume_here, is_write=True),
    PageRoute("POST", f"{_RUN}/remove-worktree", project_pages.remove_worktree, is_write=True),
    PageRoute("GET", "/protocols", project_pages.show_protocols),
    PageRoute("GET", "/protocols/{project}/{name}", project_pages.show_protocol),
    PageRoute("GET", "/protocols/{project}/{name}/graph.svg", project_pages.send_protocol_graph),
    PageRoute("GET", "/plans", plan_pages.show_plans),
    PageRoute("GET", "/plans/{project}/{name}", plan_pages.show_plan),
    PageRoute("GET", "/worktrees", project_pages.show_worktrees),
    PageRoute("GET", "/doctor", project_pages.show_doctor),
    PageRoute("POST", "/doctor/notice", project_pages.send_notice, is_write=True),
    PageRoute("GET", "/events/inbox", events.stream_inbox, is_stream=True),
    PageRoute("GET", f"/events{_RUN}", events.stream_run, is_stream=True),
    PageRoute("GET", "/static/{name}", choices.send_static),
    PageRoute("GET", "/keys", choices.show_keys),
    PageRoute("POST", "/keys", choices.choose_keys, is_write=True),
    PageRoute("POST", "/theme", choices.choose_theme, is_write=True),
)
