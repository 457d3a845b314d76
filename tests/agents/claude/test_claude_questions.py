"""How claude is asked: its words, its files, its environment; and whether it is there at all."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.agents import claude
from porch.agents.port import Probe, Turn

SCHEMA = {"type": "object", "properties": {"exit": {"type": "string"}}}


@pytest.fixture
def turn(tmp_path: Path) -> Turn:
    (tmp_path / "ws").mkdir()
    (tmp_path / "turn").mkdir()
    return Turn("e", "Please — do.", {}, str(tmp_path / "ws"), str(tmp_path / "turn"))


def flag(argv: tuple[str, ...], name: str) -> str | None:
    return argv[argv.index(name) + 1] if name in argv else None


@pytest.mark.req("P-092")
def test_prompt_is_a_file_and_never_on_the_command_line(turn: Turn) -> None:
    ready = claude.prepare(turn)
    assert ready.stdin_file == turn.file("prompt.md")
    assert Path(ready.stdin_file).read_text(encoding="utf-8") == turn.prompt
    assert "-p" in ready.argv
    assert not any(turn.prompt in word for word in ready.argv)
    assert (ready.output, ready.errors) == (turn.file("transcript.jsonl"), turn.file("errors.txt"))


def test_half_a_character_in_a_prompt_holds_nobody_up(turn: Turn) -> None:
    ready = claude.prepare(replace(turn, prompt="a\udc80b"))
    assert Path(ready.stdin_file or "").read_text(encoding="utf-8") == "a?b"


def test_executable_is_the_word_on_path(
    turn: Turn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert claude.prepare(turn).argv[0] == "claude"
    (tmp_path / "claude").touch(mode=0o755)
    assert claude.prepare(turn).argv[0] == str(tmp_path / "claude")


def test_everything_asked_for_is_a_flag(turn: Turn) -> None:
    asked = replace(turn, model="m", schema=SCHEMA, max_steps=6, max_usd=0.00001)
    argv = claude.prepare(asked).argv
    assert flag(argv, "--model") == "m"
    assert json.loads(flag(argv, "--json-schema") or "") == SCHEMA
    assert flag(argv, "--max-turns") == "7"
    assert flag(argv, "--max-budget-usd") == "0.000010"
    assert flag(argv, "--setting-sources") == ""
    plain = claude.prepare(turn).argv
    for name in ("--model", "--json-schema", "--max-turns", "--max-budget-usd", "--resume"):
        assert name not in plain


def test_conversation_is_continued_or_forked_but_not_both(turn: Turn) -> None:
    resumed = claude.prepare(replace(turn, resume="r", fork="f")).argv
    assert (flag(resumed, "--resume"), "--fork-session" in resumed) == ("r", False)
    forked = claude.prepare(replace(turn, fork="f")).argv
    assert (flag(forked, "--resume"), "--fork-session" in forked) == ("f", True)


@pytest.mark.req("P-166", "P-168")
def test_of_the_environment_only_what_it_needs_passes(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("NAMED", "y")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("HOME", "/ann")
    env = claude.prepare(replace(turn, env=("NAMED",))).env
    assert "SECRET" not in env
    assert (env["NAMED"], env["ANTHROPIC_API_KEY"], env["HOME"]) == ("y", "k", "/ann")


Command = Callable[[str], None]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Puts a `claude` of our own on PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")

    def write(body: str) -> None:
        path = tmp_path / "claude"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    return write


def test_probe_tells_the_version(command: Command) -> None:
    command('[ "$1" = --version ] && echo "9.8.7 (Claude Code)"')
    assert claude.probe() == Probe(installed=True, version="9.8.7")


def test_probe_of_a_broken_program_says_so(command: Command) -> None:
    command("exit 3")
    assert claude.probe() == Probe(installed=True, note="`claude --version` ended with exit code 3")


def test_probe_does_not_wait_for_ever(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude, "PROBE_S", 0.2)
    command("exec sleep 60")
    found = claude.probe()
    assert found.installed
    assert "timed out" in found.note


def test_probe_without_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = claude.probe()
    assert not found.installed
    assert "npm install" in found.note
