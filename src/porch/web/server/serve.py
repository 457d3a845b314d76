"""Serving on this machine: the table of all addresses, a port of the loopback, and a clean end.

A test tries each row of the table against the guard.
"""

import contextlib
import errno
import socket
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from porch.errors import BusyError, OutsideError, PorchError, StateError, UsageError
from porch.web.server import choices, events, inbox_page, project_pages
from porch.web.server.call import Call, NoSuchPage
from porch.web.server.dashboard import LOOPBACK, Dashboard
from porch.web.server.guard import RequestGuard
from porch.web.server.parts import (
    changes_page,
    decision_page,
    graph_page,
    run_page,
    stop_resume,
    timeline_page,
    work_pages,
)

# Longer than any wish may be, so that its own refusal is what people read.
LONGEST = 256 * 1024
_MOST_FIELDS = 50
_KIND = "application/x-www-form-urlencoded"

Handler = Callable[[Call], Response]

_STATUS = ((NoSuchPage, 404), (UsageError, 400), (BusyError, 409), (StateError, 500))

PORT = 4747
_TRIES = 50
# Pages that are open hold a stream, which ends by itself a moment after it was asked to.
_LEAVE_S = 2


class BadForm(Exception):
    """A body that is no form of ours; `status` is the answer to it."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


async def read_form(request: Request) -> Mapping[str, str]:
    """The last value of each name."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise BadForm(415, "this is not a form of this page")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST:
            raise BadForm(413, f"this text is too long: at most {LONGEST // 1024} kB")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise BadForm(400, "this form cannot be read") from error
    # Browsers send the ends of lines as networks do.
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


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
    PageRoute("GET", "/plans", project_pages.show_plans),
    PageRoute("GET", "/plans/{project}/{name}", project_pages.show_plan),
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


def make_app(dashboard: Dashboard) -> Starlette:
    async def not_found(request: Request, _: Exception) -> Response:
        call = Call(dashboard, request)
        return show_error(call, 404, "There is no such page", "go back to the inbox")

    return Starlette(
        routes=[_make_route(dashboard, row) for row in ROUTES],
        middleware=[Middleware(RequestGuard, dashboard=dashboard)],
        exception_handlers={404: not_found},
    )


def _make_route(dashboard: Dashboard, row: PageRoute) -> Route:
    async def answer(request: Request) -> Response:
        call = Call(dashboard, request)
        try:
            if row.is_write:
                call.form = await read_form(request)
            if row.is_stream:
                return row.handle(call)
            return await run_in_threadpool(row.handle, call)
        except BadForm as error:
            return show_error(call, error.status, str(error), "go back and try again")
        except PorchError as error:
            return await run_in_threadpool(_show_porch_error, call, error)

    return Route(row.path, answer, methods=[row.method])


def _show_porch_error(call: Call, error: PorchError) -> Response:
    status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
    first = error.findings[0]
    return show_error(call, status, first.message, first.fix)


def show_error(call: Call, status: int, what: str, fix: str = "") -> Response:
    return call.page("error.html", "Something is wrong", {"what": what, "fix": fix}, status)


def open_port(host: str, port: int) -> socket.socket:
    """A listening socket: this port, or the next one that is free; 0 is any."""
    if host not in LOOPBACK:
        raise _foreign_host_error(host, port)
    address = "127.0.0.1" if host == "localhost" else host
    for number in range(port, port + _TRIES) if port else (0,):
        found = _try_port(address, number)
        if found is not None:
            return found
    raise OutsideError(
        f"the ports {port} to {port + _TRIES - 1} of {host} are all in use",
        fix="name another one: af dashboard --port N",
    )


def _try_port(address: str, port: int) -> socket.socket | None:
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(kind, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        return None
    except OverflowError as error:
        listening.close()
        raise UsageError(f"{port} is not a port", fix="use a number from 1 to 65535") from error
    return listening


def _foreign_host_error(host: str, port: int) -> UsageError:
    return UsageError(
        f"the dashboard listens only on this machine, not on {host}: whoever reaches it decides "
        "for you",
        fix="start it here, and on the other machine: "
        f"ssh -L {port or PORT}:127.0.0.1:{port or PORT} USER@THIS-MACHINE, then open the link",
        code="not-loopback",
    )


def make_link(dashboard: Dashboard, host: str) -> str:
    """The address that lets one browser in."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{dashboard.port}/?token={dashboard.sessions.token}"


class QuietServer(uvicorn.Server):
    """Says once that it answers; whoever waits for that is told from within."""

    def __init__(self, dashboard: Dashboard, began: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                make_app(dashboard),
                log_config=None,
                log_level="error",
                access_log=False,
                lifespan="off",
                server_header=False,
                timeout_graceful_shutdown=_LEAVE_S,
            )
        )
        self._began = began
        dashboard.is_closing = lambda: self.should_exit

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._began()


def serve_dashboard(
    dashboard: Dashboard, listening: socket.socket, began: Callable[[], None] = lambda: None
) -> None:
    """Until Ctrl-C, which is the ordinary way to end it."""
    with listening, contextlib.closing(dashboard.work), contextlib.suppress(KeyboardInterrupt):
        QuietServer(dashboard, began).run(sockets=[listening])
