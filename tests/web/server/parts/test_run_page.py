"""One run on its page: a sentence on top, its phases, its request, its records, stop and go on."""

import re

import pytest
from starlette.testclient import TestClient

from porch.store.run_drivers import find_driver
from tests.cli.conftest import Desk
from tests.web.conftest import GATED

RUN = "/run/project/0001-x"


@pytest.mark.req("P-045")
def test_the_page_of_a_run_says_how_it_is_in_one_sentence(desk: Desk, browser: TestClient) -> None:
    desk.begin(*GATED, code=3)
    page = browser.get(RUN).text
    assert re.search(r"Waiting for you: go, \d+ s", page)
    assert 'class="step step-asked"' in page
    assert "It is at one:gate#1" in page
    assert 'href="/run/project/0001-x/decision?at=one%3Agate%231"' in page
    desk.porch("approve", "1")
    assert re.search(r"Not moving: not running since [^<]*\d\d:\d\d</span>", browser.get(RUN).text)
    assert "af resume 0001" in browser.get(RUN).text
    desk.porch("resume", "1")
    page = browser.get(RUN).text
    assert "Over: complete" in page
    assert 'id="stop"' not in page


def test_the_request_is_shown_as_it_was_typed(desk: Desk, browser: TestClient) -> None:
    desk.protocol("p", *GATED)
    words = ("run", "p", "0001", "--title", "x", "--request", "Make <b>it</b>\n  blue", "--here")
    desk.porch(*words, "--no-claude", code=3)
    assert "Make &lt;b&gt;it&lt;/b&gt;\n  blue" in browser.get(RUN).text


def test_a_run_is_stopped_and_goes_on_by_the_page(desk: Desk, browser: TestClient) -> None:
    desk.begin(*GATED, code=3)
    went = browser.post(f"{RUN}/stop", data={"sure": "yes"})
    assert went.headers["location"] == RUN
    page = browser.get(RUN).text
    assert "0001-x is stopped." in page
    assert "Stopped by a person" in page
    taken = [fact["wish"] for fact in desk.facts("WishTaken")]
    assert [(wish["kind"], wish["channel"]) for wish in taken] == [("stop", "dashboard")]
    assert (
        "is already stopped"
        in browser.get(browser.post(f"{RUN}/stop", data={"sure": "yes"}).headers["location"]).text
    )
    browser.post(f"{RUN}/resume", data={"sure": "yes"})
    assert "Resumed 0001-x (pid" in browser.get(RUN).text
    busy = browser.post(f"{RUN}/resume", data={"sure": "yes"})
    assert (busy.status_code, "already running" in busy.text) == (409, True)
    page = browser.get(RUN).text
    assert re.search(r"Driver: porch run, pid \d+, since", page)
    desk.porch("stop", "1")
    desk.wait_for(lambda: find_driver(str(desk.run_dir())).holder is None)


def test_the_journal_is_shown_by_its_last_lines_and_page_by_page(
    desk: Desk, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("porch.web.server.parts.run_page.LINES", 2)
    desk.begin({"id": "one"}, {"id": "two"}, {"id": "three"}, code=0)
    last = len(desk.records())

    def numbers(page: str) -> list[int]:
        return [int(each) for each in re.findall(r'id="event-(\d+)"', page)]

    newest = browser.get(f"{RUN}/journal").text
    assert numbers(newest) == [last - 1, last]
    assert "Newest" not in newest
    before = re.search(r'rel="prev" href="([^"]+)"', newest)
    assert before
    older = browser.get(before[1]).text
    assert numbers(older) == [last - 3, last - 2]
    after = re.search(r'rel="next" href="([^"]+)"', older)
    assert after
    assert numbers(browser.get(after[1]).text) == [last - 1, last]
    assert numbers(browser.get(f"{RUN}/journal?before=2").text) == [1]
    assert numbers(browser.get(f"{RUN}/journal?before=x").text)[-1] == last


def test_a_journal_without_its_row_is_read_whole(desk: Desk, browser: TestClient) -> None:
    desk.begin(*GATED, code=3)
    row = desk.run_dir() / "row.json"
    row.write_text(row.read_text().replace('"length":', '"length":1', 1))
    assert "event-1" in browser.get(f"{RUN}/journal").text


def test_a_damaged_journal_is_an_error_with_the_way_out(desk: Desk, browser: TestClient) -> None:
    desk.begin(*GATED, code=3)
    journal = desk.run_dir() / "journal.jsonl"
    journal.write_text(journal.read_text().replace("RunStarted", "RunStartled", 1))
    told = browser.get(RUN)
    assert told.status_code == 500
    assert "What to do: run `porch repair`" in told.text


def test_a_turn_under_way_is_shown_beside_what_was_counted(desk: Desk, browser: TestClient) -> None:
    desk.protocol("slow", {"id": "one"})
    script = desk.script(agents={"one": [{"write": {"a.txt": "a\n"}, "hang": True}]})
    desk.start("run", "slow", "0001", "--title", "x", "--no-claude", "--here", "--script", script)
    desk.wait_for_turn("one#1/agent/one/0", "0001-x")
    desk.wait_for(lambda: "1 tool call so far, not counted yet" in browser.get(RUN).text)
    desk.clear()
    assert "so far" not in browser.get(RUN).text


def test_a_rate_limit_is_the_headline_until_it_has_passed(desk: Desk, browser: TestClient) -> None:
    """T14: `Running: specify, failed: rate_limit`; only `af status` said until when."""
    desk.write("codev/config.toml", "[agent]\nback_off = 1\n")
    desk.protocol("slow", {"id": "one"})
    script = desk.script(agents={"one": [{"tries": [{"fail": "rate_limit"}]}]})
    desk.start("run", "slow", "0001", "--title", "x", "--no-claude", "--here", "--script", script)
    desk.wait_for(
        lambda: (desk.run_dir() / "journal.jsonl").exists() and desk.facts("EffectFailed")
    )
    pattern = r"Waiting until [-0-9]+ [:0-9]+Z: one"
    desk.wait_for(lambda: re.search(pattern, browser.get(RUN).text))
    assert "waiting until" in desk.porch("status", "1").out
    desk.clear()
