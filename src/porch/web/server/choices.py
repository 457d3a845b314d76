"""Small things that every page has: its own files, and what a person chose for this browser."""

from starlette.responses import Response

from porch.web.server.call import KEYS, THEME, THEMES, Call, NoSuchPage, local_address
from porch.web.server.page_templates import read_static

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_KEY_WORDS = (
    ("j, k", "the next row of a list, the one before it"),
    ("Enter", "open the row"),
    ("a", "on the page of a decision: to the button that approves; Enter presses it"),
    ("r", "on the page of a decision: to the reason for sending it back"),
    ("q", "on the page of a decision: to the answer of a question"),
    ("d", "to the next difference"),
    ("l", "load the page again"),
    ("/", "to the search of the inbox"),
    ("g then i, p, l, w, d", "go to the inbox, protocols, plans, worktrees, doctor"),
    ("?", "this page"),
    ("Esc", "leave a field"),
)
_YEAR_S = 365 * 24 * 60 * 60


def send_static(call: Call) -> Response:
    name = str(call.request.path_params["name"])
    data = read_static(name)
    if data is None:
        raise NoSuchPage(f"there is no file '{name}' here", fix="go back to the inbox")
    return Response(data, media_type=_TYPES[name.rpartition(".")[2]])


def choose_theme(call: Call) -> Response:
    said = call.form.get("theme", "")
    return _keep_choice(call, THEME, said if said in THEMES else "system")


def show_keys(call: Call) -> Response:
    return call.page("keys.html", "Keys", {"keys": _KEY_WORDS})


def choose_keys(call: Call) -> Response:
    """Single letters as commands disturb those who speak to their computer, so they can be off."""
    return _keep_choice(call, KEYS, "off" if call.form.get("keys") == "off" else "on")


def _keep_choice(call: Call, name: str, value: str) -> Response:
    answer = call.go(local_address(call.form.get("back", "/")))
    answer.set_cookie(name, value, max_age=_YEAR_S, httponly=True, samesite="strict", path="/")
    return answer
