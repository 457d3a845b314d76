"""Nobody gets past the door: every address, tried in every wrong way."""

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from porch.web.server.access.sessions import IDLE_S
from porch.web.server.dashboard import Dashboard
from porch.web.server.guard import HEADERS
from porch.web.server.serve import ROUTES, PageRoute
from tests.web.conftest import ORIGIN, Moment

IDS = [f"{row.method} {row.path}" for row in ROUTES]
every_route = pytest.mark.parametrize("row", ROUTES, ids=IDS)


def ask(client: TestClient, row: PageRoute, method: str = "", **headers: str) -> int:
    path = row.path.replace("{project}", "project").replace("{run}", "0001-x")
    path = path.replace("{name}", "style.css")
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.request(method or row.method, path, headers=told).status_code


@every_route
def test_a_foreign_host_is_refused(browser: TestClient, row: PageRoute) -> None:
    for host in ("evil.example", "evil.example:4747", "127.0.0.1", "127.0.0.1:4748", ""):
        assert ask(browser, row, host=host) == 403


@every_route
def test_nobody_comes_in_without_a_link(stranger: TestClient, row: PageRoute) -> None:
    assert ask(stranger, row) == 401
    assert ask(stranger, row, cookie="porch-4747=guessed") == 401
    assert ask(stranger, row, cookie="porch-4747=;;=\x01") == 401


@every_route
def test_a_session_that_was_idle_for_too_long_is_over(
    browser: TestClient, moment: Moment, row: PageRoute
) -> None:
    moment.seconds += IDLE_S + 1
    assert ask(browser, row) == 401


@every_route
def test_a_wrong_method_is_refused(browser: TestClient, row: PageRoute) -> None:
    known = {each.method for each in ROUTES if each.path == row.path}
    wrong = {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} - known
    assert {ask(browser, row, method) for method in wrong} == {405}


@pytest.mark.parametrize("row", [row for row in ROUTES if row.is_write], ids=lambda row: row.path)
@pytest.mark.parametrize(
    "told",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:3000", "sec_fetch_site": "same-site"},
        {"origin": ORIGIN, "sec_fetch_site": "cross-site"},
        {"origin": "null", "sec_fetch_site": ""},
        {"origin": "http://localhost:4747"},
    ],
    ids=str,
)
def test_a_form_of_somebody_else_changes_nothing(
    browser: TestClient, row: PageRoute, told: dict[str, str]
) -> None:
    assert ask(browser, row, **told) == 403


def test_every_address_that_changes_something_is_a_write() -> None:
    assert {row.path for row in ROUTES if row.is_write} == {
        row.path for row in ROUTES if row.method != "GET"
    }


def test_a_link_works_once_and_the_next_one_is_another(
    stranger: TestClient, dashboard: Dashboard
) -> None:
    token = dashboard.sessions.token
    assert stranger.get(f"/?token={token}").status_code == 303
    assert stranger.get("/").status_code == 200
    stranger.cookies.clear()
    again = stranger.get(f"/?token={token}")
    assert again.status_code == 401
    assert "This link was used" in again.text
    assert dashboard.sessions.token != token
    assert stranger.get(f"/?token={dashboard.sessions.token}").status_code == 303


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(
    stranger: TestClient, dashboard: Dashboard
) -> None:
    kept = stranger.get(f"/?token={dashboard.sessions.token}").headers["set-cookie"]
    assert kept.startswith("porch-4747=")
    assert "HttpOnly" in kept
    assert "SameSite=strict" in kept


def test_a_browser_that_another_page_sent_here_is_not_lost(
    stranger: TestClient, dashboard: Dashboard
) -> None:
    """Its first request behind a redirect would come without the cookie."""
    link = f"/?token={dashboard.sessions.token}"
    came = stranger.get(link, headers={"sec-fetch-site": "cross-site"})
    assert came.status_code == 200
    assert 'content="0;url=/"' in came.text
    assert stranger.get("/").status_code == 200


def test_a_form_is_known_by_either_sign_of_the_browser(browser: TestClient) -> None:
    form = {"theme": "dark", "back": "/"}
    for told in (
        {"origin": ORIGIN, "sec-fetch-site": ""},
        {"origin": "null", "sec-fetch-site": "same-origin"},
    ):
        assert browser.post("/theme", data=form, headers=told).status_code == 303


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/nowhere", "/?token=wrong"])
def test_every_answer_has_the_headers_that_keep_others_out(browser: TestClient, path: str) -> None:
    told = browser.get(path).headers
    for name, value in HEADERS:
        assert told[name.decode()] == value.decode()
    assert "unsafe" not in told["content-security-policy"]
    assert not [name for name in told if name.startswith("access-control-")]


def test_a_socket_for_messages_is_closed_at_once(browser: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect) as closed, browser.websocket_connect("/"):
        pass
    assert closed.value.code == 1008
