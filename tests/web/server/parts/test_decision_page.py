"""Deciding by a plain form: what is sent, what is recorded, and what is refused."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from porch.store import where as places
from porch.store.run_drivers import find_driver
from porch.web.server.dashboard import Dashboard
from tests.cli.conftest import Desk
from tests.cli.porch.test_open_reviews import AGENTS, PANEL, REVIEWS, TOLD
from tests.cli.porch.test_panels_in_runs import specify
from tests.earlier_releases import rewrite_records
from tests.repositories import ACCOUNT
from tests.web.conftest import GATED

AT = "/run/project/0001-x/decision?at=one%3Agate%231"
POST = "/run/project/0001-x/decision"
LAST: dict[str, Any] = {
    "id": "one",
    "artifacts": ["spec.md"],
    "gate": {"name": "go", "description": "Spec ready", "next": None},
}
SPEC = "codev/projects/0001-x/spec.md"


def form(page: str, answer: str, **more: str) -> dict[str, str]:
    """The fields of one form of a page, as a browser sends them."""
    part = page[page.index(f'id="answer-{answer}"') :].partition("</form>")[0]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', part)
    assert 'name="text"' in part
    return {**{name: html.unescape(value) for name, value in found}, "text": "", **more}


@pytest.mark.req("P-044", "P-194")
def test_a_gate_is_approved_by_the_form_of_its_page_and_the_answer_has_a_number(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(LAST, code=3)
    page = browser.get(AT).text
    assert "<h1>Spec ready</h1>" in page
    assert f"<code>{SPEC}</code>" in page
    assert ">Approve: ends the run: complete</button>" in page
    sent = form(page, "approved", text="well done")
    assert sent["at"] == "one:gate#1"
    went = browser.post(POST, data=sent)
    assert (went.status_code, went.headers["location"]) == (303, "/run/project/0001-x")
    taken = next(r for r in desk.records() if r["fact"]["is"] == "WishTaken")
    wish = taken["fact"]["wish"]
    assert (wish["who"], wish["channel"], wish["text"]) == (ACCOUNT, "dashboard", "well done")
    assert wish["digest"] == sent["digest"]
    assert went.headers["x-porch-event"] == str(taken["seq"])
    after = browser.get(went.headers["location"]).text
    assert f"go: approve, recorded as event {taken['seq']}." in after
    assert "Over: complete" in after
    assert "recorded as event" not in browser.get("/run/project/0001-x").text, "it is said once"


@pytest.mark.req("P-194")
def test_an_answer_starts_the_driver_again_where_nobody_drives(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(*GATED, code=3)
    page = browser.get(AT).text
    assert "Your answer starts it again." in page
    browser.post(POST, data=form(page, "approved"))
    directory = str(desk.run_dir())
    desk.wait_for(lambda: desk.entered()[-1] == "complete")
    desk.wait_for(lambda: find_driver(directory).holder is None)


def test_a_rejection_sends_its_reason_back(desk: Desk, browser: TestClient) -> None:
    desk.begin(LAST, code=3)
    page = browser.get(AT).text
    assert ">Send back: goes back to one</button>" in page
    bare = browser.post(POST, data=form(page, "rejected", text="  "))
    assert bare.status_code == 409
    assert "needs a reason" in bare.text
    assert desk.facts("WishTaken") == []
    browser.post(POST, data=form(page, "rejected", text="shorter\r\nplease"))
    assert desk.facts("WishTaken")[0]["wish"]["text"] == "shorter\nplease"
    desk.wait_for(lambda: "one:gate#2" in [d["position"] for d in _pending(desk)])
    end_driver(desk)


def test_the_next_round_shows_what_is_different_since_the_last_one(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(LAST, code=3)
    desk.write(SPEC, "# Spec\n\nlong words\n")
    desk.porch("reject", "1", "go", "--reason", "shorter")
    desk.porch("resume", "1", code=3)
    desk.write(SPEC, "# Spec\n\nwords\n")
    page = browser.get(AT.replace("231", "232")).text
    assert "What is different since the last round" in page
    assert '<span class="diff-removed">-long words' in page
    assert '<span class="diff-added">+words' in page
    assert re.search(r"Asked before: send back, \d+ s ago, event \d+\.", page)
    assert "no price reported" in page


def test_reviewers_are_read_in_their_own_words(desk: Desk, browser: TestClient) -> None:
    finding = "No <limits> are named. " * 100
    no = {"verdict": "REQUEST_CHANGES", "summary": "Too vague", "findings": [finding]}
    reviews = {"specify:consult": {"codex": [no], "*": [{"verdict": "APPROVE", "summary": "Good"}]}}
    panel = specify(models=["codex", "claude"], max_rounds=1)
    desk.begin(panel, reviews=reviews, code=3)
    (asked,) = _pending(desk)
    page = browser.get(POST, params={"at": asked["position"]}).text
    assert html.escape(finding.strip()) in page, "no word of a reviewer is cut"
    assert "<limits>" not in page
    assert "asks for changes" in page
    assert "approves" in page


def _pending(desk: Desk) -> list[dict[str, Any]]:
    decisions: list[dict[str, Any]] = desk.porch("pending", "--json").json["decisions"]
    return decisions


def end_driver(desk: Desk) -> None:
    desk.porch("stop", "1")
    desk.wait_for(lambda: find_driver(str(desk.run_dir())).holder is None)


def test_files_that_moved_while_they_were_read_are_not_approved(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(LAST, code=3)
    sent = form(browser.get(AT).text, "approved", text="my note")
    desk.write(SPEC, "# Another\n\nnobody has read this\n")
    told = browser.post(POST, data=sent)
    assert told.status_code == 409
    assert "The files changed after you looked, so nothing was recorded." in told.text
    assert '<span class="diff-added">+nobody has read this' in told.text
    assert ">my note</textarea>" in told.text, "what was typed is kept"
    assert desk.facts("WishTaken") == []


def test_what_changed_since_porch_asked_is_approved_only_with_the_box_of_its_form(
    desk: Desk, browser: TestClient
) -> None:
    """X5"""
    desk.begin(LAST, code=3)
    assert "accept_changes" not in browser.get(AT).text
    desk.write(SPEC, "# Another\n\nnobody has read this\n")
    page = browser.get(AT).text
    assert "What changed since porch asked" in page
    assert '<span class="diff-added">+nobody has read this' in page
    assert f"{SPEC} changed since porch asked</label>" in page
    assert (
        "accept_changes" not in page[page.index('id="answer-rejected"') :].partition("</form>")[0]
    )
    sent = form(page, "approved", text="my note")
    told = browser.post(POST, data=sent)
    assert told.status_code == 409
    assert "tick the box in the form" in told.text
    assert '<span class="diff-added">+nobody has read this' in told.text
    assert ">my note</textarea>" in told.text
    desk.write(SPEC, "# Another\n\nnor this\n")
    accepted = form(told.text, "approved", accept_changes="yes")
    assert browser.post(POST, data=accepted).status_code == 409, "it shows another text"
    assert desk.facts("WishTaken") == []
    accepted = form(browser.get(AT).text, "approved", accept_changes="yes")
    assert browser.post(POST, data=accepted).status_code == 303
    assert desk.facts("WishTaken")[0]["wish"]["data"]["accept_changes"] == [SPEC]


def test_what_the_page_showed_can_be_accepted_on_the_command_line(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(LAST, code=3)
    desk.write(SPEC, "# Another\n")
    browser.get(AT)
    desk.porch("approve", "1", "--accept-changes")


def test_what_is_missing_cannot_be_approved_on_the_page(desk: Desk, browser: TestClient) -> None:
    """T4"""
    desk.begin(LAST, code=3)
    (desk.root / SPEC).unlink()
    sent = form(browser.get(AT).text, "approved", accept_changes="yes")
    told = browser.post(POST, data=sent)
    assert told.status_code == 409
    assert "what nobody can read cannot be approved" in told.text
    assert desk.facts("WishTaken") == []


def test_a_second_click_changes_nothing_and_says_who_was_first(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(LAST, code=3)
    sent = form(browser.get(AT).text, "approved")
    browser.post(POST, data=sent)
    before = desk.bytes()
    went = browser.post(POST, data=sent)
    assert went.status_code == 303
    said = browser.get(went.headers["location"]).text
    assert f"go was already approved by {ACCOUNT} at " in said
    assert "Nothing was changed." in said
    assert desk.bytes() == before
    again = browser.get(AT)
    assert (again.status_code, "This was decided" in again.text) == (200, True)


def test_an_old_page_does_not_answer_a_newer_question(desk: Desk, browser: TestClient) -> None:
    desk.begin(LAST, code=3)
    old = form(browser.get(AT).text, "approved")
    desk.porch("reject", "1", "go", "--reason", "again")
    desk.porch("resume", "1", code=3)
    went = browser.post(POST, data=old)
    assert went.status_code == 303
    assert [fact["wish"]["exit"] for fact in desk.facts("WishTaken")] == ["rejected"]
    assert "Nothing was changed." in browser.get("/").text


@pytest.mark.parametrize(
    "broken",
    [{"digest": ""}, {"answer": ""}, {"answer": "no such"}, {"digest": "0" * 64}, {"at": "x#9"}],
    ids=str,
)
def test_a_form_that_was_bent_decides_nothing(
    desk: Desk, browser: TestClient, broken: dict[str, str]
) -> None:
    desk.begin(LAST, code=3)
    sent = {**form(browser.get(AT).text, "approved"), **broken}
    assert browser.post(POST, data=sent).status_code in (303, 400, 409)
    assert desk.facts("WishTaken") == []


def test_a_question_of_an_agent_is_answered_in_words(desk: Desk, browser: TestClient) -> None:
    agents = {"one": [{"signal": "BLOCKED: Which <colour>?"}, {"signal": "PHASE_COMPLETE"}]}
    desk.begin({"id": "one", "signals": ["BLOCKED", "PHASE_COMPLETE"]}, code=3, agents=agents)
    position = _pending(desk)[0]["position"]
    page = browser.get(POST, params={"at": position}).text
    assert "Which &lt;colour&gt;?" in page
    browser.post(POST, data=form(page, "answered", text="blue"))
    assert desk.facts("WishTaken")[0]["wish"]["text"] == "blue"
    desk.wait_for(lambda: desk.entered()[-1] == "complete")
    desk.wait_for(lambda: find_driver(str(desk.run_dir())).holder is None)


def test_an_address_that_asks_nothing_is_not_there(desk: Desk, browser: TestClient) -> None:
    desk.begin(LAST, code=3)
    for at in ("", "no-such#1", "one%231"):
        assert browser.get(f"{POST}?at={at}").status_code == 404
    for path in ("/run/project/0009-z", "/run/elsewhere/0001-x", "/run/project/..%2F.."):
        assert browser.get(path).status_code == 404


def test_a_file_of_an_agent_is_text_and_never_a_part_of_the_page(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(LAST, code=3)
    desk.write(
        SPEC,
        "# Title\n\n<script>alert(1)</script> [x](javascript:alert(2)) [in](/theme) "
        "![p](https://evil.example/p.png) [out](https://example.org)\n\u202eevil\n",
    )
    page = browser.get(AT).text
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "<h3>Title</h3>" in page
    assert 'href="https://example.org"' in page
    assert 'href="/theme"' not in page


@pytest.mark.parametrize("kind", ["missing", "a link out", "a directory"])
def test_what_cannot_be_read_is_said_and_not_shown(
    desk: Desk, browser: TestClient, tmp_path: Path, kind: str
) -> None:
    desk.begin(LAST, code=3)
    spec = desk.root / SPEC
    spec.unlink()
    if kind == "a link out":
        (tmp_path / "secret.md").write_text("secret words")
        spec.symlink_to(tmp_path / "secret.md")
    elif kind == "a directory":
        spec.mkdir()
    page = browser.get(AT).text
    assert "This file cannot be shown:" in page
    assert "secret words" not in page


def test_a_driver_that_cannot_start_is_told_in_the_inbox(
    desk: Desk, browser: TestClient, dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin(*GATED, code=3)
    sent = form(browser.get(AT).text, "approved")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert browser.post(POST, data=sent).status_code == 303
    assert "its driver could not be started" in browser.get("/").text
    dashboard.forget_note("0001-x")
    assert "could not be started" not in browser.get("/").text


def test_the_projects_of_a_person_have_names_of_their_own(desk: Desk, tmp_path: Path) -> None:
    from porch.fleet.fleet_rows import name_projects

    home = tmp_path / "home" / ".config" / "porch"
    home.mkdir(parents=True)
    other = tmp_path / "other" / "project"
    other.mkdir(parents=True)
    (home / "config.toml").write_text(f'[af]\nrepositories = ["{other}"]\n')
    where = places.find_project(str(desk.root))
    named = name_projects(where, {"HOME": str(tmp_path / "home")})
    assert list(named) == ["project", "project-2"]
    assert named["project-2"].root == str(other)


def test_questions_outside_of_a_run_are_answered_on_their_page(
    desk: Desk, browser: TestClient
) -> None:
    asked = "{text: Which <store>?, options: [Redis, Memory]}, {text: How long?, free: true}"
    desk.write("q.yaml", f"questions: [{asked}]")
    run = desk.porch("ask", "q.yaml", "--json", code=3).json["run"].replace("/", "_")
    address = f"/run/project/{run}/decision"
    page = browser.get(address, params={"at": "questions#1"}).text
    assert "Which &lt;store&gt;?" in page
    refused = browser.post(address, data=form(page, "answered", text="maybe"))
    assert (refused.status_code, "begin each answer with its label" in refused.text) == (400, True)
    browser.post(address, data=form(page, "answered", text="q1: B\r\nq2: two\r\nlines"))
    assert desk.porch("ask", "q.yaml", "--json").json["answers"]["q2"]["text"] == "two\nlines"
    assert desk.facts("WishTaken", run)[0]["wish"]["channel"] == "dashboard"


def test_the_page_of_a_failure_says_at_once_why(desk: Desk, browser: TestClient) -> None:
    """T12: the headline twice, and then a closed `build`."""
    report = "echo SyntaxError: invalid syntax; echo 'make: *** [build] Error 1'; false"
    phase = {"id": "one", "checks": {"build": {"command": report, "max_retries": 1}}}
    turns = [{"write": {"x.py": "x = =\n"}, "say": "It builds now."}]
    desk.begin(phase, code=3, agents={"one": turns})
    told = desk.porch("pending").out
    assert "build: SyntaxError: invalid syntax" in told
    assert "| make: *** [build] Error 1" in told
    assert "build failed 2 times (attempt 2 of 2)" in told
    assert "the agent said last: It builds now." in told
    assert "what it changed: git" in told
    page = browser.get("/run/project/0001-x/decision?at=failed%3Aone%231").text
    why = page[page.index('id="failure"') : page.index("</section>", page.index('id="failure"'))]
    assert "build failed 2 times" in why
    assert "attempt 2 of 2" in why
    assert "<h3>build: SyntaxError: invalid syntax</h3>" in why
    assert "<details open>" in why
    assert "It builds now." in why
    assert 'href="/run/project/0001-x/diff"' in why
    assert "<code>x.py</code>" in why
    assert page.count("one failed") == 1, "the headline is not said twice"


def test_what_the_agent_was_not_allowed_stands_where_a_person_decides_about_a_failure(
    desk: Desk, browser: TestClient
) -> None:
    """T12: denied tools only under Activity."""
    phase = {"id": "one", "checks": {"build": {"command": "false", "max_retries": 0}}}
    desk.begin(phase, code=3)

    def deny(record: dict[str, Any]) -> dict[str, Any]:
        """The scripted agent is allowed everything; others note what was denied to them."""
        is_turn = record["fact"]["is"] == "ExitAccepted"
        notes = {"notes": ["denied: Bash(rm -rf /)"]} if is_turn else {}
        return {**record, "fact": {**record["fact"], **notes}}

    rewrite_records(desk.run_dir(), deny)
    assert "denied to the agent: Bash(rm -rf /)" in desk.porch("pending").out
    page = browser.get("/run/project/0001-x/decision?at=failed%3Aone%231").text
    why = page[page.index('id="failure"') : page.index("</section>", page.index('id="failure"'))]
    assert "<h3>Denied to the agent</h3>" in why
    assert "<li>Bash(rm -rf /)</li>" in why


def test_the_page_and_its_card_say_that_changes_are_still_asked_for(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(PANEL, code=3, agents=AGENTS, reviews=REVIEWS)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    at = asked["position"].replace("#", "%23")
    page = browser.get(f"/run/project/0001-x/decision?at={at}").text
    assert TOLD in page
    assert "changes were asked for" in page
    assert "changes were asked for" in browser.get("/").text


def test_reviewers_without_a_verdict_are_not_said_to_have_asked_for_changes(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(PANEL, code=3, agents=AGENTS, reviews={"specify:consult": {"*": {"raw": "well"}}})
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert "too few verdicts" in asked["open_reviews"][0]
    page = browser.get(f"/run/project/0001-x/decision?at={asked['position'].replace('#', '%23')}")
    for text in (page.text, browser.get("/").text):
        assert "reviews incomplete" in text
        assert "changes were asked for" not in text


def test_an_approval_of_all_changes_on_the_page_shows_them_and_has_them_merged(
    desk: Desk, browser: TestClient
) -> None:
    gate = {"name": "go", "artifact": "@changes", "next": None}
    agents = {"one": [{"write": {"hello.txt": "<b>hello</b>\n"}}]}
    phase = {"id": "one", "gate": gate}
    desk.begin_in_worktree(phase, code=3, agents=agents, top={"finish": "squash"})
    page = browser.get(AT).text
    assert ">Approve: ends the run: complete, and merges into main</button>" in page
    assert '<span class="diff-added">+&lt;b&gt;hello&lt;/b&gt;' in page
    browser.post(POST, data=form(page, "approved"))
    desk.wait_for(lambda: bool(desk.facts("WorkFinished")))
    assert [each["how"] for each in desk.facts("WorkFinished")] == ["squashed"]
    assert desk.git("show", "main:hello.txt") == "<b>hello</b>"
    desk.wait_for(lambda: find_driver(str(desk.run_dir())).holder is None)
