"""The plans of envoy, as pages."""

import re
from pathlib import Path

from starlette.testclient import TestClient

from porch.cli.dispatch import run_words
from tests.cli.conftest import Desk

HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m"
PROMPT = f"""---
number: 1
description: "{HOSTILE.replace(chr(27), "")} first words"
depends_on: []
---
# Approach
"""


def make_plan(desk: Desk) -> Path:
    desk.git("switch", "-qc", "feat/x")
    assert run_words("envoy", ["plan", "init"]) == 0
    home = desk.root / ".claude/plans/feat~x"
    (home / "prompts").mkdir(exist_ok=True)
    (home / "prompts/1.md").write_text(PROMPT, encoding="utf-8")
    return home


def test_without_a_plan_the_page_says_how_to_make_one(browser: TestClient) -> None:
    page = browser.get("/plans").text
    assert "envoy plan init" in page
    assert "af dashboard --demo" in page


def test_a_plan_is_listed_and_shown_as_a_board(desk: Desk, browser: TestClient) -> None:
    home = make_plan(desk)
    page = browser.get("/plans").text
    assert 'href="/plans/project/plan_feat~x"' in page
    assert ">feat/x</a>" in page
    assert "1 to do" in page
    board = browser.get("/plans/project/plan_feat~x").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in board
    assert "first words" in board
    assert "<script>alert" not in board
    assert "\u202e" not in board
    assert "\x1b" not in board
    assert "To do" in board
    (home / "prompts/2.md").write_text("---\nnumber: [\n---\n")
    broken = browser.get("/plans/project/plan_feat~x").text
    assert "2.md" in broken
    assert "first words" in broken


def test_what_a_plan_asks_is_told_in_the_list_and_leads_to_its_decision(
    desk: Desk, browser: TestClient
) -> None:
    make_plan(desk)
    assert run_words("envoy", ["plan", "block-plan-gate", "--wait", "0"]) == 3
    assert "1 decision waits for you" in browser.get("/plans").text
    board = browser.get("/plans/project/plan_feat~x").text
    (address,) = re.findall(r'href="(/run/project/plan_feat~x/decision\?at=[^"]+)"', board)
    assert "<code>plan</code>" in board
    assert "1 prompt." in board
    assert 'href="/run/project/plan_feat~x/journal"' in board
    assert browser.get(address).status_code == 200


def test_files_of_a_plan_without_its_run_are_a_plan_too(desk: Desk, browser: TestClient) -> None:
    prompts = desk.root / ".claude/plans/other/prompts"
    prompts.mkdir(parents=True)
    (prompts / "1.md").write_text("---\nnumber: 1\ndescription: words\n---\n# A\n")
    assert ">other</a>" in browser.get("/plans").text
    assert "words" in browser.get("/plans/project/plan_other").text


def test_an_address_opens_no_plan_that_is_not_in_the_list(desk: Desk, browser: TestClient) -> None:
    make_plan(desk)
    for name in ("plan_nothing", "..%2F..%2Fetc", "plan_..", "0001-x"):
        assert browser.get(f"/plans/project/{name}").status_code == 404


def test_a_plan_whose_journal_is_damaged_is_still_listed(desk: Desk, browser: TestClient) -> None:
    make_plan(desk)
    journal = desk.run_dir("plan_feat~x") / "journal.jsonl"
    journal.write_text(journal.read_text().replace("RunStarted", "RunStartled", 1))
    page = browser.get("/plans")
    assert page.status_code == 200
    assert "plan_feat~x" in page.text
