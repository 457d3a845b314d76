"""The timeline of a run, as a page."""

import re

import pytest
from starlette.testclient import TestClient

from tests.cli.conftest import Desk

RUN = "/run/project/0001-x"
PHASE = {
    "id": "one",
    "checks": {"build": {"command": "true"}},
    "gate": {"name": "go", "next": None},
}


def test_work_is_drawn_in_lanes_and_told_as_a_list(desk: Desk, browser: TestClient) -> None:
    agents = {"one": [{"say": "x", "signal": "PHASE_COMPLETE"}]}
    desk.begin(PHASE, code=3, agents=agents)
    page = browser.get(f"{RUN}/timeline").text
    assert [*re.findall(r'lane-name">(\w+)', page)][:3] == ["Agent", "Checks", "You"]
    assert 'class="bar bar-waiting"' in page
    assert "still going on" in page
    spans = int(re.findall(r'spans-title">The same as a list <span class="count">(\d+)', page)[0])
    assert page.count('class="row row-span"') == spans
    assert page.count('<rect class="bar bar-') == spans + 5  # those of the legend


def test_a_long_timeline_is_shown_by_parts(
    desk: Desk, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("porch.web.server.parts.timeline_page.RECORDS", 4)
    desk.begin({"id": "one"}, {"id": "two"}, {"id": "three"}, code=0)
    newest = browser.get(f"{RUN}/timeline").text
    before = re.search(r'rel="prev" href="([^"]+)"', newest)
    assert before
    older = browser.get(before[1]).text
    assert 'rel="next"' in older
    assert "Nothing has begun yet" in browser.get(f"{RUN}/timeline?before=2").text
    assert browser.get(f"{RUN}/timeline?before=-7").status_code == 200
