"""Every address of the dashboard in one table; a test tries each row against the guard."""

from collections.abc import Callable

from msgspec import Struct
from starlette.responses import Response

from porch.web.server import choices, inbox_page
from porch.web.server.call import Call

Handler = Callable[[Call], Response]


class PageRoute(Struct, frozen=True):
    """One address. A write gets a form; a stream stays open until somebody leaves."""

    method: str
    path: str
    handle: Handler
    is_write: bool = False
    is_stream: bool = False


ROUTES = (
    PageRoute("GET", "/", inbox_page.show_inbox),
    PageRoute("GET", "/static/{name}", choices.send_static),
    PageRoute("POST", "/theme", choices.choose_theme, is_write=True),
)
