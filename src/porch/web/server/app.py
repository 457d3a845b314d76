"""The application: the table of routes behind the guard, and pages for what goes wrong."""

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from porch.errors import BusyError, PorchError, StateError, UsageError
from porch.web.server.call import Call, NoSuchPage
from porch.web.server.dashboard import Dashboard
from porch.web.server.forms import BadForm, read_form
from porch.web.server.guard import Guard
from porch.web.server.routes import ROUTES, PageRoute

_STATUS = ((NoSuchPage, 404), (UsageError, 400), (BusyError, 409), (StateError, 500))


def make_app(dashboard: Dashboard) -> Starlette:
    async def not_found(request: Request, _: Exception) -> Response:
        call = Call(dashboard, request)
        return show_error(call, 404, "There is no such page", "go back to the inbox")

    return Starlette(
        routes=[_make_route(dashboard, row) for row in ROUTES],
        middleware=[Middleware(Guard, dashboard=dashboard)],
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
