"""What every request passes before any page is looked for: host, process, session, origin.

The few pages that somebody sees who may not see the others have no style, no script and one
sentence. They are in no template, because everything else of the dashboard needs a session.
"""

from collections.abc import Mapping
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from porch.web.server.dashboard import Dashboard


_NEW_LINK = (
    "Look at the terminal in which <code>af dashboard</code> runs: it shows a link that works "
    "once. If it does not run any more, start it again."
)
_TEXTS = {
    "host": (
        "Wrong address",
        "This dashboard answers only to the address that <code>af dashboard</code> printed.",
    ),
    "agent": (
        "Only people decide",
        (
            "The program that asks looks like an agent ({more}). Open the dashboard in a browser "
            "that you started yourself."
        ),
    ),
    "session": ("You need a link", f"This browser has no session here, or it is over. {_NEW_LINK}"),
    "link": ("This link was used", f"Each link works once. {_NEW_LINK}"),
    "origin": (
        "This form is not ours",
        (
            "The request did not come from a page of this dashboard, so nothing was changed. Open "
            "the page again and use its own buttons."
        ),
    ),
    "welcome": ("Welcome", 'This browser may use the dashboard now. <a href="/">Open it</a>.'),
}
_AT_ONCE = '<meta http-equiv="refresh" content="0;url=/">'

SAFE = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    # To ourselves only: without any, browsers would not say where a form came from either.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


def make_refusal(status: int, what: str, more: str = "") -> HTMLResponse:
    title, text = _TEXTS[what]
    head = _AT_ONCE if what == "welcome" else ""
    return HTMLResponse(
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8">{head}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title} - porch</title><link rel="icon" href="data:,"></head>\n'
        f"<body><main><h1>{title}</h1>\n<p>{text.format(more=escape(more))}</p></main></body>"
        "</html>\n",
        status,
    )


class RequestGuard:
    """One for the whole dashboard; a page behind it is reached by its own browser alone."""

    def __init__(self, app: ASGIApp, dashboard: "Dashboard") -> None:
        self._app = app
        self._dashboard = dashboard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        app: ASGIApp = self._find_refusal(scope) or self._app
        await app(scope, receive, send_guarded)

    def _find_refusal(self, scope: Scope) -> Response | None:
        """The answer to whoever may not look, or to a browser that comes with its link."""
        told = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        if told.get("host", "") not in self._dashboard.hosts:
            return make_refusal(403, "host")
        sign = "" if self._dashboard.as_person else self._dashboard.peers.find_sign(scope)
        if sign:
            return make_refusal(403, "agent", sign)
        token = _find_token(scope)
        if token:
            return self._open_session(token, told)
        scope["porch.session"] = self._dashboard.sessions.find(self._read_cookie(told))
        if scope["porch.session"] is None:
            return make_refusal(401, "session")
        is_write = scope["method"] not in SAFE
        if is_write and not self._is_own_form(told):
            return make_refusal(403, "origin")
        return None

    def _open_session(self, token: str, told: Mapping[str, str]) -> Response:
        secret = self._dashboard.sessions.exchange(token)
        if not secret:
            return make_refusal(401, "link")
        # A browser leaves the new cookie out where another site sent it here; our own page is none.
        is_sent = told.get("sec-fetch-site", "none") not in ("none", "same-origin")
        answer = make_refusal(200, "welcome") if is_sent else RedirectResponse("/", 303)
        answer.set_cookie(
            self._dashboard.cookie, secret, httponly=True, samesite="strict", path="/"
        )
        return answer

    def _read_cookie(self, told: Mapping[str, str]) -> str:
        try:
            found = SimpleCookie(told.get("cookie", "")).get(self._dashboard.cookie)
        except CookieError:
            return ""
        return found.value if found else ""

    def _is_own_form(self, told: Mapping[str, str]) -> bool:
        """Both are written by the browser, never by a page; what is there must be ours."""
        origin, site = told.get("origin", "null"), told.get("sec-fetch-site", "")
        if site not in ("", "same-origin"):
            return False
        return origin == f"http://{told['host']}" or (origin == "null" and site == "same-origin")


def _find_token(scope: Any) -> str:
    if scope["path"] != "/" or scope["method"] not in SAFE:
        return ""
    found: list[str] = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
    return found[0]
