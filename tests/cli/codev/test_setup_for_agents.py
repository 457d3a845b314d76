"""What a set-up does about agents: settings for those that are there, MCP only on request."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words
from porch.run.agents import agent_list
from porch.run.settings import load_settings
from tests.cli.conftest import Terminal

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

Codev = Callable[..., str]
CODEV = (sys.executable, "-c", "from porch.cli.dispatch import codev; exit(codev())")


@pytest.fixture
def machine(
    command: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Where all commands of a person are: git, claude and codex."""
    for name in ("claude", "codex"):
        command(name, "echo 9.9.9")
    (tmp_path / "bin" / "git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


@pytest.fixture
def codev(desk: "Desk", machine: Path, capsys: pytest.CaptureFixture[str]) -> Codev:
    """Somebody in a project that is not set up."""
    (desk.root / "codev" / "config.toml").unlink()

    def call(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        left = run_words("codev", list(words))
        out, err = capsys.readouterr()
        assert left == code, out + err
        return out + err

    return call


def test_whoever_has_one_agent_needs_no_setting_in_which_it_reviews(
    desk: "Desk", codev: Codev, machine: Path
) -> None:
    (machine / "codex").unlink()
    assert "agents      claude   (the only one found here" in codev("init", "--yes")
    assert load_settings(str(desk.root)).models == ()


@pytest.mark.parametrize(
    "found, worker",
    [
        ([], ""),
        (["claude"], ""),
        (["gemini"], "gemini"),
        (["codex", "gemini"], "codex"),
        (["claude", "codex"], ""),
    ],
)
def test_only_what_would_not_work_without_a_setting_gets_one(found: list[str], worker: str) -> None:
    assert agent_list.choose_worker(found) == worker


def test_the_test_command_can_be_given(desk: "Desk", codev: Codev) -> None:
    assert "make check   (as you typed it)" in codev("init", "--yes", "--test", "make check")
    assert load_settings(str(desk.root)).commands == {"test": "make check"}
    (desk.root / "codev" / "config.toml").write_text("")
    said = codev("adopt", "--yes", "--test", 'say "hi"')
    assert "has no test command; you gave" in said
    assert r'below [commands]: test = "say \"hi\""' in said


def test_mcp_is_set_up_on_request_only(desk: "Desk", codev: Codev, home: Path) -> None:
    codev("init", "--yes")
    assert not (desk.root / ".mcp.json").exists()
    said = codev("adopt", "--mcp", "claude", "--mcp", "codex")
    assert "new         .mcp.json" in said
    assert f"wrote [mcp_servers.porch] into {home}/.codex/config.toml" in said
    again = codev("adopt", "--mcp", "claude", "--mcp", "codex")
    assert f"left {home}/.codex/config.toml alone: it starts porch already" in again
    assert ".mcp.json" not in again


def test_the_doctor_knows_who_starts_the_server_and_what_it_lacks(
    desk: "Desk", codev: Codev, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "MCP" not in codev("doctor", code=0)
    codev("adopt", "--mcp", "claude")

    def lines() -> dict[str, Any]:
        told = json.loads(codev("doctor", "--json"))
        return {line["what"]: line for line in told["lines"] if "mcp" in line["what"].lower()}

    assert lines()["claude gets porch as MCP tools: .mcp.json"]["status"] == "ok"
    monkeypatch.setattr("importlib.metadata.version", lambda _: "1.0")
    (fault,) = [line for what, line in lines().items() if "version 1.0" in what]
    assert (fault["status"], "install" in fault["fix"]) == ("warning", True)


def test_r6_the_doctor_says_who_would_review_and_why_others_do_not(
    desk: "Desk", codev: Codev, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "codex").write_text("#!/bin/sh\necho Not logged in\nexit $(($# - 1))\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    why = "(codex is not logged in; gemini is not installed)"
    assert f"reviews: claude, in a fresh context {why}" in codev("doctor")
    monkeypatch.setenv("CODEX_API_KEY", "a-key")
    assert "reviews: claude, codex (gemini is not installed)" in codev("doctor")
    desk.write("codev/config.toml", '[commands]\ntest = "true"\n[panel]\nmodels = ["claude"]\n')
    assert "reviews:" not in codev("doctor")


def test_on_a_terminal_the_answer_that_is_not_given_is_no(
    desk: "Desk", codev: Codev, home: Path
) -> None:
    for answer, is_there in (("\r", False), ("y\r", True)):
        terminal = Terminal((*CODEV, "adopt"), desk.root, columns=200)
        try:
            if not (desk.root / "codev" / "config.toml").exists():
                terminal.until("The command that runs all tests [none found]:")
                terminal.type("true\r")
            terminal.until("Add claude: a skill and the hook for Claude Code")
            terminal.type(answer)
            terminal.until("Add codex: AGENTS.md, and porch as MCP tools")
            terminal.type(answer)
            terminal.until("next: codev doctor")
            assert terminal.leave() == 0
        finally:
            terminal.close()
        assert (desk.root / ".mcp.json").exists() is is_there
        assert (home / ".codex" / "config.toml").exists() is is_there
