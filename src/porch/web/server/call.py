"""One request that has passed the guard, and the page that answers it."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from porch.errors import UsageError
from porch.store.where import ProjectPaths
from porch.web.server.access.sessions import BrowserSession
from porch.web.server.dashboard import Dashboard
from porch.web.server.page_templates import render_template, static_version

# By which way an answer came; records name it.
CHANNEL = "dashboard"
THEME = "porch-theme"
THEMES = ("system", "light", "dark")
KEYS = "porch-keys"
LIVE = "x-porch-live"


class NoSuchPage(UsageError):
    """An address that names a project, a run or a file that is not there."""


class Call:
    """A request with its form, and everything that its page needs."""

    __slots__ = ("dashboard", "form", "request", "session")

    def __init__(
        self, dashboard: Dashboard, request: Request, form: Mapping[str, str] | None = None
    ) -> None:
        self.dashboard = dashboard
        self.request = request
        self.form = form or {}
        self.session: BrowserSession = request.scope["porch.session"]

    @property
    def theme(self) -> str:
        said = self.request.cookies.get(THEME, "")
        return said if said in THEMES else "system"

    def asked(self, name: str) -> str:
        return self.request.query_params.get(name, "")

    def project(self) -> tuple[str, ProjectPaths]:
        key = str(self.request.path_params["project"])
        found = self.dashboard.projects.get(key)
        if found is None:
            raise NoSuchPage(f"there is no project '{key}' here", fix="go back to the inbox")
        return key, found

    def run(self) -> tuple[str, ProjectPaths, str]:
        """The project and the run of the address, which has its whole name."""
        key, where = self.project()
        name = str(self.request.path_params["run"])
        if name not in where.names() or not where.has_begun(name):
            raise NoSuchPage(f"there is no run '{name}' in {key}", fix="go back to the inbox")
        return key, where, name

    def page(
        self, template: str, title: str, context: Mapping[str, Any], status: int = 200
    ) -> HTMLResponse:
        """The page with what every page has; `stream` and `since` make it a live one."""
        told = {
            "stream": "",
            "since": "",
            "part": "",
            "title": title,
            "theme": self.theme,
            "has_keys": self.request.cookies.get(KEYS, "on") != "off",
            "version": static_version(),
            # What an open page fetches for itself would take the words away from the next one.
            "said": "" if self.request.headers.get(LIVE) else self.session.take_said(),
            "path": self.request.url.path,
            "address": _address(self.request),
            **context,
        }
        return HTMLResponse(render_template(template, told), status)

    def go(self, address: str, said: str = "") -> RedirectResponse:
        """To another page, which says what was done."""
        if said:
            self.session.said = said
        return RedirectResponse(address, 303)


def _address(request: Request) -> str:
    """Path and query, to come back to."""
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def local_address(said: str) -> str:
    """An address of this dashboard, whatever a form says."""
    is_local = said.startswith("/") and not said.startswith(("//", "/\\"))
    return said if is_local and said.isprintable() else "/"
