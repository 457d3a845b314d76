"""A page that stays open while the dashboard goes away: it says so, and catches up."""

import pytest

from porch.store import where as places
from porch.web.server.dashboard import Dashboard
from porch.web.server.serve import make_link, open_port
from tests.cli.conftest import Desk
from tests.web.browser.conftest import OpenWindow
from tests.web.browser.test_deciding import RUN
from tests.web.browser.window import Window
from tests.web.conftest import GATED, answering

# One worker has one browser, so all of them go to the same worker.
pytestmark = pytest.mark.xdist_group("chromium")


def forget_lost_connections(window: Window) -> None:
    """The browser itself notes each try that fails; anything else stays."""
    expected = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_EMPTY_RESPONSE", "401")
    window.errors[:] = [
        each for each in window.errors if not any(word in each for word in expected)
    ]


def test_a_page_says_that_it_reconnects_and_then_shows_what_happened_meanwhile(
    desk: Desk, open_window: OpenWindow
) -> None:
    desk.begin(*GATED, code=3)
    listening = open_port("127.0.0.1", 0)
    port = int(listening.getsockname()[1])
    dashboard = Dashboard({"project": places.find_project(str(desk.root))}, port)
    window = open_window()
    with answering(dashboard, listening):
        window.start_at(dashboard, RUN)
        window.wait_until_live()
        window.mark()
    window.find('#live[data-state="reconnecting"]')
    assert window.text("#live") == "reconnecting"
    desk.porch("reject", "1", "go", "--reason", "again")
    with answering(dashboard, open_port("127.0.0.1", port)):
        window.wait_until_live()
        window.find("#asked a", "detached")
        assert window.is_marked
        window.close()
    forget_lost_connections(window)


def test_after_a_restart_the_page_asks_for_the_new_link_and_that_works(
    desk: Desk, open_window: OpenWindow
) -> None:
    desk.begin(*GATED, code=3)
    projects = {"project": places.find_project(str(desk.root))}
    listening = open_port("127.0.0.1", 0)
    port = int(listening.getsockname()[1])
    window = open_window()
    with answering(before := Dashboard(projects, port), listening):
        window.start_at(before, RUN)
        window.wait_until_live()
    window.find('#live[data-state="reconnecting"]')
    with answering(after := Dashboard(projects, port), open_port("127.0.0.1", port)):
        window.find('#live[data-state="stale"]')
        assert "use its link" in window.text("#live")
        window.do(lambda: window.page.goto(make_link(after, "127.0.0.1")))
        window.see("1 decision waits for you.")
        window.wait_until_live()
        window.close()
    forget_lost_connections(window)
