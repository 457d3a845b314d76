"""The parts of a run that show work: turns, checks, reviews, cost and the graph."""

import re
from typing import Any

import pytest
from msgspec import ValidationError
from starlette.testclient import TestClient

from porch.run.agents import turn_numbers
from porch.store import where as places
from porch.web.server.changes import measure_transcripts
from tests.cli.conftest import Desk
from tests.cli.porch.test_panels_in_runs import specify

RUN = "/run/project/0001-x"
WORKED: dict[str, Any] = {
    "id": "one",
    "checks": {"build": {"command": "echo '<b>fine</b>'"}},
    "gate": {"name": "go", "next": None},
}


@pytest.fixture
def worked(desk: Desk) -> Desk:
    agents = {"one": [{"say": "I say <this>", "write": {"a.txt": "x"}, "signal": "PHASE_COMPLETE"}]}
    desk.begin(WORKED, code=3, agents=agents)
    return desk


def test_what_an_agent_said_and_did_is_shown_turn_by_turn(
    worked: Desk, browser: TestClient
) -> None:
    first = browser.get(f"{RUN}/activity?turn=1").text
    assert "I say &lt;this&gt;" in first
    assert ">uses</span><pre>write a.txt</pre>" in first
    assert '<h2 id="activity-title">Turn 1</h2>' in first
    assert f'data-stream="/events{RUN}?with=words"' in first
    newest = re.findall(r'href="([^"]+)" aria-current="true"', browser.get(f"{RUN}/activity").text)
    assert newest == [f"{RUN}/activity?turn={len(worked.started())}"]
    assert "It has said nothing yet" not in first
    assert browser.get(f"{RUN}/activity?turn=99").status_code == 200
    assert measure_transcripts(str(worked.run_dir())) > 0
    assert measure_transcripts("/nowhere") == 0


def test_checks_are_shown_with_what_they_said(worked: Desk, browser: TestClient) -> None:
    page = browser.get(f"{RUN}/checks").text
    assert "&lt;b&gt;fine&lt;/b&gt;" in page
    assert re.search(r'mark-good">.*</span>passed</span>', page)
    assert "None yet." in browser.get(f"{RUN}/reviews").text


def test_reviews_are_shown_with_their_findings(desk: Desk, browser: TestClient) -> None:
    no = {"verdict": "REQUEST_CHANGES", "summary": "Too vague", "findings": ["No <limits>"]}
    yes = {"verdict": "APPROVE", "summary": "Good"}
    reviews = {"specify:consult": {"codex": [no, yes], "*": [yes]}}
    desk.begin(specify(models=["codex", "claude"]), reviews=reviews, code=3)
    page = browser.get(f"{RUN}/reviews").text
    assert '<span class="count">4</span>' in page
    assert "<li>No &lt;limits&gt;</li>" in page
    assert re.search(r'mark-bad">.*</span>REQUEST_CHANGES</span>', page)
    gate = browser.get(f"{RUN}/decision", params={"at": "specify:gate#1"}).text
    assert "2 of 2 reviewers gave a verdict" in gate


def test_cost_is_told_by_phase(worked: Desk, browser: TestClient) -> None:
    page = browser.get(f"{RUN}/cost").text
    assert '<th scope="row">one</th>' in page
    assert f"<td>{len(worked.started())} agent turn" in page


def test_long_lists_of_turns_and_checks_are_shown_by_pages(
    worked: Desk, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("porch.web.server.parts.work_pages.TURNS_ON_PAGE", 1)
    monkeypatch.setattr("porch.web.server.parts.work_pages.WORK_ON_PAGE", 1)
    worked.porch("reject", "1", "--reason", "once more")
    worked.porch("resume", "1", code=3)
    assert len(worked.started()) == 2
    newest, first = (browser.get(f"{RUN}/activity{query}").text for query in ("", "?turn=1"))
    assert "1 to 1 of 2" in newest
    assert "2 to 2 of 2" in first
    assert f'href="{RUN}/activity?turn=1" aria-current="true"' in first
    checks = len(worked.facts("CheckEnded"))
    assert checks > 1
    page = browser.get(f"{RUN}/checks?page={checks}").text
    assert f"{checks} to {checks} of {checks}" in page
    assert page.count('class="row row-work"') == 1


def test_turns_and_checks_are_the_same_whether_a_journal_is_read_whole_or_not(
    worked: Desk, browser: TestClient
) -> None:
    where = places.find_project(str(worked.root))
    quick = turn_numbers.list_begun_turns(where, "0001-x")
    assert quick
    whole = turn_numbers.list_turns(where, "0001-x")
    assert [turn_numbers.read_begun_turn(where, "0001-x", each) for each in quick] == whole
    pages = [tell_part(browser, part) for part in ("activity", "checks")]
    # An odd line that holds the wanted words: then all of it is read, and checked.
    none = "porch.store.journal_look.msgspec.json.Decoder"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(none, Refusing)
        assert turn_numbers.list_begun_turns(where, "0001-x") is None
        again = [tell_part(browser, part) for part in ("activity", "checks")]
        assert "taken once" in tell_part(browser, "graph")
    assert again == pages


def tell_part(browser: TestClient, part: str) -> str:
    """The page without its head, which says how long somebody has waited."""
    return browser.get(f"{RUN}/{part}").text.partition('class="tabs"')[2]


class Refusing:
    """Reads nothing."""

    def __init__(self, _: type) -> None:
        pass

    def decode(self, _: bytes) -> None:
        raise ValidationError
