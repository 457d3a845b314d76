"""Protocols, worktrees and the health of a project, as pages."""

import re

import pytest
from starlette.testclient import TestClient

from porch.system import socket_peer
from tests.cli.conftest import Desk
from tests.web.conftest import GATED


def test_protocols_are_listed_with_what_is_wrong_and_who_uses_them(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(*GATED, code=3)
    broken = desk.protocol("broken", {"id": "one", "gate": {"name": "g", "next": "nowhere"}})
    page = browser.get("/protocols").text
    rows = {
        found[1]: found[2]
        for found in re.finditer(r"data-open>([\w-]+)</a>(.*?)</li>", page, re.DOTALL)
    }
    assert "no problems" in rows["p"]
    assert "1 run" in rows["p"]
    assert "error" in rows["broken"]
    assert 'href="/protocols/project/p"' in page
    broken.unlink()


def test_a_protocol_is_drawn_and_listed(desk: Desk, browser: TestClient) -> None:
    desk.protocol("p", *GATED)
    page = browser.get("/protocols/project/p").text
    assert "<code>one:gate</code>" in page
    assert "no problems found" in page
    assert browser.get("/protocols/project/p/graph.svg").text.startswith("<svg")


@pytest.mark.parametrize("name", ["nothing", "..%2F..%2Fetc", "codev%2Fconfig.toml"])
def test_an_address_opens_no_file_that_is_not_in_the_list(browser: TestClient, name: str) -> None:
    assert browser.get(f"/protocols/project/{name}").status_code == 404


def test_worktrees_are_listed_and_removed_with_everything_kept(
    desk: Desk, browser: TestClient
) -> None:
    assert "No run has a worktree of its own here." in browser.get("/worktrees").text
    desk.protocol("p", *GATED)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--no-claude", "--worktree", code=3)
    (desk.root / "worktrees/p_0001_x/left.txt").write_text("work")
    page = browser.get("/worktrees").text
    assert "<code>p_0001_x</code>" in page
    assert re.search(r"\d ahead, 0 behind, [12] not committed", page)
    assert re.search(r"not committed, [0-9.]+ KB on disk", page)
    live = browser.post("/run/project/0001-x/remove-worktree", data={"sure": "yes"})
    assert live.status_code in (400, 409)
    assert (desk.root / "worktrees/p_0001_x").exists()
    desk.porch("stop", "1")
    went = browser.post("/run/project/0001-x/remove-worktree", data={"sure": "yes"})
    assert went.headers["location"] == "/worktrees"
    assert not (desk.root / "worktrees/p_0001_x").exists()
    assert "archive/p_0001_x" in browser.get("/worktrees").text
    assert desk.git("show", "archive/p_0001_x:left.txt") == "work"


def test_a_worktree_whose_directory_is_gone_is_still_listed(
    desk: Desk, browser: TestClient
) -> None:
    desk.protocol("p", *GATED)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--no-claude", "--worktree", code=3)
    (desk.root / "worktrees/p_0001_x").rename(desk.root / "moved-away")
    assert "its directory is gone" in browser.get("/worktrees").text


def test_the_doctor_says_what_holds_for_the_dashboard_too(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = browser.get("/doctor").text
    assert "git version" in page
    assert "the kernel says who connects" in page
    monkeypatch.setattr(socket_peer, "can_tell_peers", lambda: False)
    assert "keep its link to yourself" in browser.get("/doctor").text
    sent = browser.post("/doctor/notice", data={"sure": "yes"})
    assert "A test notice was sent" in sent.text
