"""A login is seen, or the command line says whether there is one; what hangs says nothing."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from porch.agents import AGENTS, login_check
from porch.agents.login_check import Login, find_login
from tests.real_agents import Room

Answer = Callable[..., Login | None]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answer:
    """What is found of the login of a command line that is this shell script."""
    names = tmp_path / "bin"
    names.mkdir()
    monkeypatch.setenv("PATH", f"{names}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))

    def find(kind: str, script: str, *extra: str, **environ: str) -> Login | None:
        agent = AGENTS[kind]
        path = names / agent.EXECUTABLE
        path.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/calls\n{script}\n')
        path.chmod(0o755)
        environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], **environ}
        return find_login(kind, agent, environ, extra)

    return find


def calls(tmp_path: Path) -> list[str]:
    path = tmp_path / "calls"
    return path.read_text().splitlines() if path.exists() else []


SAYS = [
    ("claude", "echo '{\"loggedIn\": true}'", "in"),
    (
        "claude",
        'echo "a warning" >&2; printf \'{\\n "loggedIn": false,\\n "x": 1\\n}\\n\'; exit 1',
        "out",
    ),
    ("claude", "echo \"error: unknown option '--json'\" >&2; exit 1", "unknown"),
    ("claude", "echo '{}'", "unknown"),
    ("codex", 'echo "Logged in using ChatGPT" >&2', "in"),
    ("codex", 'echo "Not logged in" >&2; exit 1', "out"),
    ("codex", 'echo "Error loading configuration" >&2; exit 1', "unknown"),
    ("codex", "kill -9 $$", "unknown"),
]


@pytest.mark.parametrize("kind, script, state", SAYS)
def test_the_command_line_itself_says_whether_somebody_is_logged_in(
    ask: Answer, tmp_path: Path, kind: str, script: str, state: str
) -> None:
    login = ask(kind, script)
    assert login is not None
    assert login.state == state
    words = " ".join(AGENTS[kind].LOGIN_STATUS)
    assert calls(tmp_path) == [words]
    assert state == "unknown" or f"`{kind} {words}` says so" in login.because


def test_its_word_counts_more_than_a_file_that_was_left(ask: Answer, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/.credentials.json").write_text("{}")
    login = ask("claude", "echo '{\"loggedIn\": false}'; exit 1")
    assert login == Login("out", "`claude --setting-sources= auth status --json` says so")


def test_what_takes_too_long_is_ended_and_says_nothing(
    ask: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_check, "LIMIT_S", 0.2)
    began = time.monotonic()
    login = ask("codex", f"sleep 60 & echo $! > {tmp_path}/pid; wait")
    assert login == Login("unknown")
    assert time.monotonic() - began < 30
    left = [psutil.Process(int((tmp_path / "pid").read_text()))]
    assert psutil.wait_procs(left, timeout=60)[1] == []
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/auth.json").write_text("{}")
    login = ask("codex", "sleep 60")
    assert login is not None
    assert (login.state, "auth.json is there" in login.because) == ("in", True)


def test_of_endless_words_no_more_is_read_than_an_answer_needs(ask: Answer) -> None:
    began = time.monotonic()
    assert ask("claude", "while :; do echo yes; done") == Login("unknown")
    assert time.monotonic() - began < login_check.LIMIT_S


@pytest.mark.parametrize(
    "kind, name, extra",
    [
        ("claude", "ANTHROPIC_API_KEY", ()),
        ("claude", "MY_KEY", ("MY_*",)),
        ("codex", "CODEX_API_KEY", ()),
    ],
)
def test_a_variable_settles_it_and_nobody_is_asked(
    ask: Answer, tmp_path: Path, kind: str, name: str, extra: tuple[str, ...]
) -> None:
    login = ask(kind, "exit 1", *extra, **{name: "a-key"})
    assert login == Login("in", f"signs of a login: {name} is set")
    assert calls(tmp_path) == []


def test_a_key_of_openai_alone_is_no_login_of_codex_and_a_provider_needs_none(
    ask: Answer, tmp_path: Path
) -> None:
    """`codex login status` says no in both cases; with a provider of one's own it works."""
    no = "echo 'Not logged in'; exit 1"
    login = ask("codex", no, OPENAI_API_KEY="a-key")
    assert login is not None
    assert login.state == "out"
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text('model_provider = "mine"\n')
    login = ask("codex", no, OPENAI_API_KEY="a-key")
    assert login is not None
    assert login.state == "in"


def test_an_answer_holds_for_a_while_and_then_is_asked_for_again(
    ask: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        ask("codex", "exit 0")
    assert len(calls(tmp_path)) == 1
    monkeypatch.setattr(login_check, "KEPT_S", 0.0)
    ask("codex", "exit 0")
    assert len(calls(tmp_path)) == 2


def test_an_agent_that_offers_no_way_is_judged_by_its_files_alone(
    ask: Answer, tmp_path: Path
) -> None:
    assert ask("gemini", "exit 1") == Login("out", login_check.NO_SIGN)
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/oauth_creds.json").write_text("{}")
    login = ask("gemini", "exit 1")
    assert login is not None
    assert login.state == "in"
    assert calls(tmp_path) == []


def test_agents_without_logins_have_none_and_one_that_cannot_be_started_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_login("scripted", AGENTS["scripted"], {}) is None
    for kind in ("gemini", "command", "scripted"):
        assert AGENTS[kind].read_login_status("", 0) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
    assert find_login("codex", AGENTS["codex"], environ) == Login("unknown")


def test_the_real_command_lines_say_whether_they_are_logged_in(
    cli: Callable[[str], str], clean_room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(clean_room.environ["HOME"])
    (home / ".codex/config.toml").unlink()
    monkeypatch.setenv("PATH", clean_room.environ["PATH"])
    kept = ("HOME", "PATH", "TMPDIR", "CODEX_HOME")
    environ = {name: clean_room.environ[name] for name in kept}
    for name in ("claude", "codex"):
        cli(name)
        agent = AGENTS[name]
        said = f"`{name} {' '.join(agent.LOGIN_STATUS)}` says so"
        assert find_login(name, agent, environ) == Login("out", said)
    (home / ".codex/auth.json").write_text('{"OPENAI_API_KEY": "sk-nobodys"}')
    monkeypatch.setattr(login_check, "KEPT_S", 0.0)
    assert find_login("codex", AGENTS["codex"], environ) == Login("in", f"logged in: {said}")
