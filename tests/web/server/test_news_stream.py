"""News reach an open page with their numbers, and whoever comes back misses none."""

import asyncio
import http.client
import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import closing

import pytest
from starlette.testclient import TestClient

from porch.fleet.drivers.revive import GONE
from porch.store import where as places
from porch.store.lock import RunLock
from porch.web.server.changes import ChangeFeed
from porch.web.server.dashboard import Dashboard
from tests.cli.af.conftest import Farm
from tests.cli.conftest import Desk
from tests.web.conftest import GATED, serving

INBOX, RUN = "/events/inbox", "/events/run/project/0001-x"


class Page:
    """A browser that listens to one stream."""

    def __init__(self, dashboard: Dashboard, path: str, **headers: str) -> None:
        self._asked = http.client.HTTPConnection("127.0.0.1", dashboard.port, timeout=60)
        self._asked.request("GET", f"/?token={dashboard.sessions.token}")
        came = self._asked.getresponse()
        came.read()
        cookie = str(came.headers["set-cookie"]).partition(";")[0]
        self._asked.request("GET", path, headers={"Cookie": cookie, **headers})
        self._told = self._asked.getresponse()
        assert self._told.headers["content-type"].startswith("text/event-stream")

    def next_event(self) -> dict[str, str]:
        """The next block of lines that has a name; empty when the stream has ended."""
        found: dict[str, str] = {}
        while line := self._told.readline().decode():
            name, _, value = line.strip().partition(": ")
            if name:
                found[name] = value
            elif "event" in found:
                return found
            else:
                found = {}
        return {}

    def next_change(self, beats: int = 12) -> dict[str, str]:
        """What happened, unless for a minute nothing does."""
        for _ in range(beats):
            event = self.next_event()
            if event.get("event") != "beat":
                return event
        raise AssertionError("nothing came but beats")

    def close(self) -> None:
        self._told.close()
        self._asked.close()


@pytest.fixture
def served(desk: Desk) -> Iterator[Dashboard]:
    with serving({"project": places.find_project(str(desk.root))}) as dashboard:
        yield dashboard


def test_a_record_reaches_the_page_of_its_run_with_its_number(
    desk: Desk, served: Dashboard
) -> None:
    desk.begin(*GATED, code=3)
    last = len(desk.records())
    with closing(Page(served, f"{RUN}?since={last}-alone")) as page:
        desk.porch("approve", "1")
        told, lines = "", list[str]()
        # Whoever approves holds the run for a moment, and that is news as well.
        while told != f"{len(desk.records())}-alone":
            event = page.next_change()
            told, lines = event["id"], [*lines, *json.loads(event["data"])["lines"]]
    taken = next(r["seq"] for r in desk.records() if r["fact"]["is"] == "WishTaken")
    assert taken == last + 1
    assert len(lines) == len(desk.records()) - last, "each of them once"
    assert any("approved by" in line for line in lines)


def test_whoever_comes_back_is_told_at_once_what_happened_meanwhile(
    desk: Desk, served: Dashboard
) -> None:
    desk.begin(*GATED, code=3)
    last = len(desk.records())
    with closing(Page(served, RUN, **{"Last-Event-ID": f"{last - 2}-alone"})) as back:
        event = back.next_change()
    assert event["id"] == f"{last}-alone"
    assert len(json.loads(event["data"])["lines"]) == 2


def test_nothing_new_is_told_as_a_sign_of_life_only(
    desk: Desk, served: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("porch.web.server.events.BEAT_S", 0.01)
    desk.begin(*GATED, code=3)
    with closing(Page(served, f"{RUN}?since={len(desk.records())}-alone")) as page:
        assert page.next_event() == {"event": "beat", "data": "{}"}


def test_the_inbox_hears_of_every_run_by_one_number(
    desk: Desk, served: Dashboard, browser: TestClient
) -> None:
    with closing(Page(served, INBOX)) as page:
        first = page.next_change()
        desk.begin(*GATED, code=3)
        second = page.next_change()
        while second["id"] not in browser.get("/").text:
            second = page.next_change()
    assert first["id"] != second["id"]


def test_a_file_that_is_written_is_news_for_the_page_of_its_decision(
    desk: Desk, served: Dashboard, browser: TestClient
) -> None:
    desk.begin(*GATED, code=3)
    shown = browser.get("/run/project/0001-x/decision", params={"at": "one:gate#1"}).text
    stream, since = re.findall(r'data-(?:stream|since)="([^"]+)"', shown)
    assert stream == f"{RUN}?at=one%3Agate%231"
    with closing(Page(served, f"{stream}&since={since}")) as page:
        desk.write("codev/projects/0001-x/spec.md", "# Another\n")
        # Perhaps seen by the first look of the stream; of what follows only the file tells.
        first = page.next_change()
        desk.write("codev/projects/0001-x/spec.md", "# And another one\n")
        event = page.next_change()
    assert event["id"].startswith(f"{len(desk.records())}-alone-")
    assert event["id"] != first["id"]
    assert event["id"] != since
    assert json.loads(event["data"])["lines"] == [], "no record told it"


def test_the_stream_ends_with_the_dashboard(desk: Desk) -> None:
    with serving({"project": places.find_project(str(desk.root))}) as dashboard:
        page = Page(dashboard, INBOX)
        page.next_change()
    with closing(page):
        assert page.next_change() == {}


def test_a_driver_that_goes_without_a_word_is_noticed(desk: Desk) -> None:
    desk.begin(*GATED, code=3)
    feed = ChangeFeed({"project": places.find_project(str(desk.root))})
    feed.stamps = feed._look()
    assert feed.stamps["project", "0001-x"][2] is False
    with RunLock(str(desk.run_dir() / "lock")) as lock:
        assert lock.acquire("somebody", 1)
        os.utime(desk.run_dir() / "journal.jsonl", ns=(1, 1))
        feed.stamps = feed._look()
        assert feed.stamps["project", "0001-x"][2] is True
    assert feed._look()["project", "0001-x"][2] is False


def test_pages_that_open_at_the_same_time_share_one_watcher(desk: Desk) -> None:
    """P1: each of them started a loop of its own that never ended."""
    feed = ChangeFeed({"project": places.find_project(str(desk.root))})

    async def open_ten() -> list[str]:
        pages = [feed.listen() for _ in range(10)]
        await asyncio.gather(*(anext(page) for page in pages))
        return [str(task) for task in asyncio.all_tasks() if "ChangeFeed._look_on" in str(task)]

    assert len(asyncio.run(open_ten())) == 1


def test_an_open_page_starts_a_driver_again_that_was_killed(farm: Farm) -> None:
    """R10: with only the dashboard open, the run stood still and nobody said why."""
    farm.kick_off()
    farm.wait_for_gate()
    with serving({"project": places.find_project(str(farm.desk.root))}) as dashboard:
        first = farm.driver()
        with closing(Page(dashboard, INBOX)) as page:
            page.next_change()
            os.kill(first, signal.SIGKILL)
            farm.desk.wait_for(dashboard.notes)
        assert dashboard.notes()[0].startswith(f"0001-x: {GONE} at ")
        assert farm.driver() not in (0, first)


def test_a_driver_that_was_killed_before_any_page_was_open_is_started_again_too(
    farm: Farm,
) -> None:
    """R10: whoever opens the dashboard in the morning finds it so."""
    farm.kick_off()
    farm.wait_for_gate()
    first = farm.driver()
    os.kill(first, signal.SIGKILL)
    farm.desk.wait_for(lambda: farm.driver() != first)
    with (
        serving({"project": places.find_project(str(farm.desk.root))}) as dashboard,
        closing(Page(dashboard, INBOX)) as page,
    ):
        page.next_change()
        farm.desk.wait_for(dashboard.notes)
        assert dashboard.notes()[0].startswith(f"0001-x: {GONE} at ")


def test_runs_that_are_gone_and_projects_without_any_are_nothing(desk: Desk) -> None:
    desk.begin(*GATED, code=3)
    feed = ChangeFeed({"project": places.find_project(str(desk.root))})
    (desk.run_dir() / "journal.jsonl").unlink()
    assert feed._look() == {}
    assert ChangeFeed({"x": places.find_project("/nowhere")})._look() == {}


def test_a_live_page_does_not_take_the_words_of_the_next_one(browser: TestClient) -> None:
    session = browser.post("/theme", data={"theme": "dark"})
    assert session.status_code == 303
    page = browser.get("/", headers={"x-porch-live": "1"})
    assert 'data-stream="/events/inbox"' in page.text
