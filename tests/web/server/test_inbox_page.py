"""The inbox over real runs: what waits, what runs, what is over, and what is wrong."""

import re

import pytest
from starlette.testclient import TestClient

from tests.cli.conftest import Desk
from tests.web.conftest import GATED


@pytest.mark.req("P-043", "P-048")
def test_a_gate_that_waits_is_shown_with_id_title_name_and_a_short_message(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(*GATED, code=3)
    page = browser.get("/").text
    card = page[page.index('id="waiting"') :]
    assert "1 decision waits for you." in page
    assert '<span class="id">0001</span> x' in card
    assert "<code>go</code>" in card
    assert "spec.md is ready" in card
    assert "<code>one:gate</code>" in card
    assert "blocked" in card
    assert "<title>(1) Inbox" in page


@pytest.mark.req("P-044")
def test_each_gate_has_view_approve_and_reject(desk: Desk, browser: TestClient) -> None:
    desk.begin(*GATED, code=3)
    page = browser.get("/").text
    found = re.findall(r'<a class="button[^"]*" href="([^"]+)">([\w ]+)', page)
    address = "/run/project/0001-x/decision?at=one%3Agate%231"
    assert found == [
        (address, "View"),
        (f"{address}#answer-approved", "Approve"),
        (f"{address}#answer-rejected", "Send back"),
    ]


@pytest.mark.req("P-045")
def test_a_run_is_shown_with_its_state_and_a_mark(desk: Desk, browser: TestClient) -> None:
    desk.begin({"id": "one"}, code=0)
    page = browser.get("/").text
    assert "Nothing waits for you." in page
    row = page[page.index('id="group-over"') :]
    assert re.search(r'<span class="mark mark-good">.*</span>complete</span>', row)


def test_a_run_that_nobody_drives_is_said_not_to_move(desk: Desk, browser: TestClient) -> None:
    desk.begin(*GATED, code=3)
    assert "not running; your answer starts it again" in browser.get("/").text
    desk.porch("approve", "1")
    page = browser.get("/").text
    assert "Nothing waits for you." in page
    row = page[page.index('id="group-alone"') :]
    assert "<code>two</code>" in row
    assert "not running" in row
    steps = re.findall(r'<li class="step step-(\w+)">.*?</span>(\w+)<', row)
    assert steps == [("done", "one"), ("now", "two")]
    assert browser.get("/").text.count("step step-now") == 1, "from what was read before"


def test_an_empty_inbox_says_what_to_do_next(browser: TestClient) -> None:
    page = browser.get("/").text
    assert "There are no runs here yet" in page
    assert "af dashboard --demo" in page


def test_a_damaged_journal_hides_no_other_run(desk: Desk, browser: TestClient) -> None:
    desk.begin({"id": "one"}, code=0)
    desk.porch("run", "p", "0002", "--title", "y", "--here", "--no-claude")
    journal = desk.run_dir() / "journal.jsonl"
    journal.write_text(journal.read_text().replace("RunStarted", "RunStartled", 1))
    page = browser.get("/").text
    assert 'class="note note-bad"' in page
    assert "the journal is damaged" in page
    assert '<span class="id">0002</span> y' in page


def test_what_a_run_is_called_cannot_become_a_part_of_the_page(
    desk: Desk, browser: TestClient
) -> None:
    desk.protocol("p", *GATED)
    words = ("run", "p", "0001", "--title", "<script>alert(1)</script>", "--no-claude", "--here")
    desk.porch(*words, code=None)
    page = browser.get("/").text
    assert "<script>alert" not in page


def test_the_theme_is_kept_in_this_browser(browser: TestClient) -> None:
    assert 'data-theme="system"' in browser.get("/").text
    went = browser.post("/theme", data={"theme": "dark", "back": "/?group=over"})
    assert (went.status_code, went.headers["location"]) == (303, "/?group=over")
    assert 'data-theme="dark"' in browser.get("/").text
    for away in ("//evil.example", "https://evil.example", "/\\evil.example", "x\ny", ""):
        went = browser.post("/theme", data={"theme": "no such", "back": away})
        assert went.headers["location"] == "/"
    assert 'data-theme="system"' in browser.get("/").text


def test_what_is_no_form_is_refused_with_a_sentence(browser: TestClient) -> None:
    told = browser.post("/theme", json={"theme": "dark"})
    assert told.status_code == 415
    form = {"content-type": "application/x-www-form-urlencoded"}
    long = browser.post("/theme", content=b"theme=" + b"x" * 300_000, headers=form)
    assert (long.status_code, "too long" in long.text) == (413, True)
    many = browser.post("/theme", content=b"a=1&" * 60, headers=form)
    assert many.status_code == 400


def test_a_page_or_file_that_is_not_there_is_said_so(browser: TestClient) -> None:
    assert browser.get("/nowhere").status_code == 404
    for name in ("nothing.css", "..%2Ftemplates%2Fbase.html"):
        assert browser.get(f"/static/{name}").status_code == 404
    style = browser.get("/static/style.css")
    assert style.headers["content-type"].startswith("text/css")


def test_the_inbox_can_be_searched(desk: Desk, browser: TestClient) -> None:
    desk.begin(*GATED, code=3)
    found = browser.get("/", params={"q": "0001 GO"}).text
    assert "1 decision waits for you." in found
    assert 'value="0001 GO"' in found
    none = browser.get("/", params={"q": '"><script>'}).text
    assert "No run fits." in none
    assert '"><script>' not in none


def test_single_letters_can_be_switched_off(browser: TestClient) -> None:
    assert 'data-keys="on"' in browser.get("/").text
    went = browser.post("/keys", data={"keys": "off", "back": "/keys"})
    assert went.headers["location"] == "/keys"
    page = browser.get("/keys").text
    assert 'data-keys="off"' in page
    assert "Switch single letters on" in page
    browser.post("/keys", data={"keys": "on"})
    assert 'data-keys="on"' in browser.get("/").text
