"""The packaged protocols in a repository that has no settings at all."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


@pytest.mark.req("P-197")
def test_a_dry_run_of_spider_completes_without_settings_and_says_what_was_skipped(
    desk: "Desk",
) -> None:
    desk.write("codev/config.toml", "")
    said = desk.porch("run", "spider", "0001", "--title", "x", "--no-claude", "--here", code=3)
    assert "skipped checks: build, test, lint (not set in" in said.out
    desk.porch("approve", "1", "specify_approval")
    desk.porch("resume", "1", code=3)
    desk.porch("approve", "1", "plan_approval")
    assert "complete" in desk.porch("resume", "1").out
    reports = {fact["report"] for fact in desk.facts("CheckEnded")}
    assert "nothing to run: [commands] test is not set" in reports
    assert {fact["result"] for fact in desk.facts("CheckEnded")} == {"passed", "skipped"}


@pytest.mark.req("P-198")
@pytest.mark.parametrize("words", [("tick", "0073", "--title", "small"), ("bugfix", "142")])
def test_dry_runs_of_tick_and_bugfix_complete_in_an_empty_repository(
    desk: "Desk", words: tuple[str, ...]
) -> None:
    desk.write("codev/config.toml", "")
    assert "complete" in desk.porch("run", *words, "--no-claude", "--here").out


def test_outside_a_dry_run_a_missing_test_command_is_refused(desk: "Desk") -> None:
    desk.write("codev/config.toml", "")
    check = {"setting": "test", "if_missing": "skip-scripted", "retry_delay": 0}
    desk.protocol("p", {"id": "one", "checks": {"tests": check}})
    said = desk.porch("run", "p", "0001", "--title", "x", "--hands-off", code=2)
    assert 'below [commands]: test = "your command"' in said.all
