"""A run keeps its settings: changes are said before anybody pays, and an upgrade counts at once."""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

OLD, NEW = '[commands]\ntest = "false"\n', '[commands]\ntest = "true"\n'


def phase(**more: Any) -> dict[str, Any]:
    tests = {"setting": "test", "retry_delay": 0, "max_retries": 0, **more}
    return {"id": "work", "checks": {"tests": tests}}


@pytest.fixture
def failed(desk: "Desk") -> "Desk":
    """A run whose tests failed, and whose test command was fixed since."""
    desk.write("codev/config.toml", OLD)
    desk.begin(phase(), agents={"work": [{}, {}, {}]}, code=3)
    assert "settings" not in desk.porch("pending", "--json").json["decisions"][0]
    assert "keeps the settings" not in desk.porch("pending").out
    desk.write("codev/config.toml", NEW)
    return desk


def test_a_retry_with_the_command_that_was_fixed_is_refused_and_pays_nobody(
    failed: "Desk",
) -> None:
    said = failed.porch("retry", "1", code=2)
    told = " ".join(said.err.split())
    assert "error[settings-changed]: nothing was tried again: commands.test is" in told
    assert 'is "false" in this run and "true" in the settings now' in told
    assert "porch upgrade 0001, then porch retry 0001" in told
    failed.porch("answer", "1", "failed:work", "retry", code=2)
    assert failed.facts("WishTaken") == []
    assert len(failed.started()) == 1
    failed.porch("upgrade", "1")
    assert "keeps the settings" not in failed.porch("pending").out
    failed.porch("retry", "1")
    assert "is complete" in failed.porch("resume", "1", code=0).out


def test_pending_says_that_settings_are_pinned_what_differs_and_the_command(
    failed: "Desk",
) -> None:
    for _ in range(2):
        told = " ".join(failed.porch("pending").out.split())
        assert "this run keeps the settings that it began with" in told
        assert 'commands.test: "false" in this run, "true" in the settings now' in told
        assert "porch upgrade 0001" in told
    [asked] = failed.porch("pending", "--json").json["decisions"]
    assert any("commands.test" in line for line in asked["settings"])
    failed.write("codev/config.toml", OLD)
    assert "keeps the settings" not in failed.porch("pending").out


def test_the_old_settings_are_used_again_only_if_somebody_says_so(failed: "Desk") -> None:
    said = failed.porch("retry", "1", "--keep-settings")
    assert "error" not in said.all
    failed.porch("resume", "1", code=3)
    assert [each["result"] for each in failed.facts("CheckEnded")] == ["failed", "failed"]


def test_a_retry_says_what_else_was_changed_and_goes_on(desk: "Desk") -> None:
    desk.write("codev/config.toml", OLD)
    desk.begin(phase(), agents={"work": [{}, {}]}, code=3)
    desk.write("codev/config.toml", OLD + 'lint = "true"\n')
    said = " ".join(desk.porch("retry", "1").out.split())
    assert 'commands.lint: not set in this run, "true" in the settings now' in said
    assert "porch upgrade 0001" in said


def test_an_upgrade_reaches_the_driver_that_is_at_work(desk: "Desk") -> None:
    """Attempts after it used the old command until somebody stopped and resumed the run."""
    go = desk.root.parent / "go"
    waits = {"run": ["sh", "-c", f"until [ -e {go} ]; do sleep 0.02; done"]}
    desk.write("codev/config.toml", OLD)
    desk.protocol("p", phase(max_retries=3))
    script = desk.script(agents={"work": [{}, waits, {}, {}]})
    running = desk.start("run", "p", "0001", "--title", "x", "--script", script)
    second = desk.run_dir() / "journal.jsonl"
    desk.wait_for(lambda: second.exists() and len(desk.started()) == 2)
    desk.write("codev/config.toml", NEW)
    desk.porch("upgrade", "1")
    go.touch()
    running.communicate(timeout=90)
    assert [each["result"] for each in desk.facts("CheckEnded")] == ["failed", "passed"]
    assert running.returncode == 0


def test_the_page_of_a_failure_needs_no_readable_settings(failed: "Desk") -> None:
    failed.write("codev/config.toml", "[commands\n")
    assert "failed:work" in failed.porch("pending").out
