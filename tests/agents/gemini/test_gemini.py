"""What is asked of gemini, and what its lines mean; the lines are written after real ones."""

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.agents import gemini, port
from porch.agents.events import (
    Denied,
    Done,
    Event,
    Failed,
    ProviderWait,
    Said,
    Session,
    ToolEnded,
    ToolStarted,
    TurnSummary,
    Used,
    Warned,
)
from porch.agents.gemini import policy
from porch.agents.outcomes import OutcomeKind
from porch.agents.port import Turn
from porch.agents.transcripts import TranscriptListener
from porch.model.permissions import INSIDE, READ_ONLY, UNLIMITED, Permissions, parse_permissions
from porch.system.growing_file import OutputLine
from porch.system.process import CommandResult

SESSION = "619792ca-1d57-489a-ac57-b8f4f7b4bf13"


@pytest.fixture
def turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Turn:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    for name in ("workspace", "turn"):
        (tmp_path / name).mkdir()
    return Turn("effect", "Do it.", {}, str(tmp_path / "workspace"), str(tmp_path / "turn"))


def with_(turn: Turn, **more: Any) -> Turn:
    known = {name: getattr(turn, name) for name in Turn.__struct_fields__}
    return Turn(**{**known, **more})


def after(words: tuple[str, ...], flag: str) -> str:
    return words[words.index(flag) + 1]


def save(turn: Turn, place: str, session: str = SESSION, name: str = "", more: str = "") -> Path:
    """A saved conversation, as it lies in the home."""
    chats = Path(turn.directory).parent / "home" / ".gemini" / "tmp" / "slug" / "chats"
    chats.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(place.encode()).hexdigest()
    path = chats / f"session-{name or '2026-01-01T00-00'}-{session[:8]}.jsonl"
    head = {"sessionId": session, "projectHash": digest}
    path.write_text(json.dumps(head, separators=(",", ":")) + "\n" + more)
    return path


def test_turn_is_asked_for_as_a_stream_with_its_prompt_in_a_file(turn: Turn) -> None:
    ready = gemini.prepare(turn)
    assert ready.argv[0].endswith("gemini")
    assert after(ready.argv, "-o") == "stream-json"
    assert after(ready.argv, "-m") == "pro"
    assert "--skip-trust" in ready.argv
    assert not {"--resume", "--session-file", "yolo"} & set(ready.argv)
    assert ready.stdin_file is not None
    assert Path(ready.stdin_file).read_text() == "Do it."
    assert ready.output == turn.file("transcript.jsonl")


def test_model_and_environment_are_as_the_turn_says(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "AWS_SECRET", "MY_PROXY"):
        monkeypatch.setenv(name, "x")
    ready = gemini.prepare(with_(turn, model="flash", env=("MY_PROXY",)))
    assert after(ready.argv, "-m") == "flash"
    assert {"GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "MY_PROXY"} <= set(ready.env)
    assert "AWS_SECRET" not in ready.env


@pytest.mark.parametrize(
    "prompt, sent",
    [
        ("plain", "plain"),
        ("/help me", "\n/help me"),
        (r"already \@x", r"already \@x"),
        ("half \ud83d", "half ?"),
    ],
)
def test_prompt_is_no_command_of_geminis_own(turn: Turn, prompt: str, sent: str) -> None:
    path = gemini.prepare(with_(turn, prompt=prompt)).stdin_file
    assert path is not None
    assert Path(path).read_text() == sent


@given(st.text())
def test_no_at_sign_is_left_that_would_be_replaced_by_a_file(prompt: str) -> None:
    sent = gemini._escape_prompt(prompt)
    assert not re.search(r"(?<!\\)@", sent)
    assert prompt.replace("\\@", "@").replace("@", "\\@") in sent


def test_conversation_goes_on_where_it_began(turn: Turn) -> None:
    save(turn, turn.workspace)
    words = gemini.prepare(with_(turn, resume=SESSION)).argv
    assert after(words, "--resume") == SESSION


def test_conversation_goes_on_elsewhere_from_what_was_saved(turn: Turn) -> None:
    path = save(turn, "/somewhere/else")
    words = gemini.prepare(with_(turn, resume=SESSION)).argv
    assert after(words, "--session-file") == str(path)


def test_fork_begins_from_the_fullest_file_of_that_conversation(turn: Turn) -> None:
    save(turn, turn.workspace)
    full = save(turn, turn.workspace, name="1794801193510", more='{"id":"1"}\n')
    save(turn, turn.workspace, session=SESSION[:8] + "-other", name="x", more="z" * 500)
    full.with_name(f"session-odd-{SESSION[:8]}.jsonl").write_text("[" * 9999)
    full.with_name(f"session-list-{SESSION[:8]}.jsonl").write_text("[1]\n" + "z" * 9999)
    words = gemini.prepare(with_(turn, fork=SESSION)).argv
    assert after(words, "--session-file") == str(full)


def test_conversation_that_was_not_saved_is_left_to_gemini_to_refuse(turn: Turn) -> None:
    assert after(gemini.prepare(with_(turn, resume=SESSION)).argv, "--resume") == SESSION
    path = after(gemini.prepare(with_(turn, fork=SESSION)).argv, "--session-file")
    assert not Path(path).exists()


def rules(permissions: Permissions, workspace: str = "/w s") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(policy.render_policy(permissions, workspace))[
        "rule"
    ]
    return found


def decision(permissions: Permissions, tool: str, **arguments: str) -> str:
    """As gemini decides: the highest rule whose tool and pattern fit."""
    pairs = (
        f"\0{json.dumps(key)}:{json.dumps(text, ensure_ascii=False)}\0"
        for key, text in sorted(arguments.items())
    )
    told = "{" + ",".join(pairs) + "}"
    for rule in sorted(rules(permissions), key=lambda rule: -rule["priority"]):
        fits = tool in rule["toolName"] or "*" in rule["toolName"]
        if fits and re.search(rule.get("argsPattern", ""), told):
            return str(rule["decision"])
    return "none"


GLOBS = parse_permissions(
    ["write:src/**/*.py", "write:docs/?.md", "bash:npm *", "bash:make", "bash:a*z"]
)


@pytest.mark.parametrize(
    "permissions, path, expected",
    [
        (INSIDE, "a.txt", "allow"),
        (INSIDE, ".gemini/settings.json", "allow"),
        (INSIDE, "x/.gitignore", "allow"),
        (INSIDE, ".git", "deny"),
        (INSIDE, "x/.GIT/config", "deny"),
        (INSIDE, "../a.txt", "deny"),
        (INSIDE, "x/..", "deny"),
        (READ_ONLY, "a.txt", "deny"),
        (parse_permissions(["write:**"]), ".gemini/settings.json", "deny"),
        (parse_permissions(["write:**"]), "a.txt", "allow"),
        (GLOBS, "src/a.py", "allow"),
        (GLOBS, "./src/x/y/a.py", "allow"),
        (GLOBS, "/w s/src/a.py", "allow"),
        (GLOBS, "/w s/../w s/src/a.py", "deny"),
        (GLOBS, "src/../etc/a.py", "deny"),
        (GLOBS, "src/a.pyc", "deny"),
        (GLOBS, "xsrc/a.py", "deny"),
        (GLOBS, "/elsewhere/src/a.py", "deny"),
        (GLOBS, "docs/a.md", "allow"),
        (GLOBS, "docs/ab.md", "deny"),
        (GLOBS, "docs//.md", "deny"),
        (GLOBS, 'no"\0"file_path":"src/a.py', "deny"),
    ],
)
def test_files_are_written_where_it_is_permitted(
    permissions: Permissions, path: str, expected: str
) -> None:
    for tool in ("write_file", "replace"):
        assert decision(permissions, tool, content="src/a.py", file_path=path) == expected


@pytest.mark.parametrize(
    "permissions, command, expected",
    [
        (INSIDE, "rm -rf x > y", "allow"),
        (READ_ONLY, "ls", "deny"),
        (GLOBS, "npm", "allow"),
        (GLOBS, 'npm run "x"', "allow"),
        (GLOBS, "npmx", "deny"),
        (GLOBS, "make", "allow"),
        (GLOBS, "make all", "deny"),
        (GLOBS, "a b z", "allow"),
        (GLOBS, 'x"; "command":"make', "deny"),
        (parse_permissions(["bash:say \x7f(é)+ *"]), "say \x7f(é)+ x", "allow"),
    ],
)
def test_commands_run_as_it_is_permitted(
    permissions: Permissions, command: str, expected: str
) -> None:
    arguments = {"command": command, "description": "npm run"}
    assert decision(permissions, "run_shell_command", **arguments) == expected


def test_reading_can_be_held_to_a_part_but_searching_cannot() -> None:
    some = parse_permissions(["read:docs/**"])
    assert decision(some, "read_file", file_path="docs/x/y.md") == "allow"
    assert decision(some, "read_file", file_path="docs/../y.md") == "deny"
    assert decision(some, "read_file", file_path="src/y.md") == "deny"
    assert decision(some, "grep_search", pattern="x") == "deny"
    assert decision(READ_ONLY, "grep_search", pattern="x") == "allow"
    assert decision(READ_ONLY, "read_file", file_path="src/y.md") == "allow"


def test_tool_that_nobody_knows_is_denied() -> None:
    for permissions in (INSIDE, READ_ONLY, GLOBS):
        assert decision(permissions, "mcp_server_tool") == "deny"


# What gemini asks of a pattern before it takes it; a rule it does not take does not hold.
_REPEATED = re.compile(r"\([^)]*[*+?{].*\)[*+?{]")


@given(st.lists(st.text(min_size=1)), st.lists(st.text(min_size=1)), st.text())
def test_every_policy_is_toml_with_patterns_that_gemini_takes(
    write: list[str], bash: list[str], workspace: str
) -> None:
    permissions = Permissions(tuple(write), tuple(bash), tuple(write))
    for rule in rules(permissions, f"/{workspace}".replace("\0", "")):
        pattern = rule.get("argsPattern", "")
        re.compile(pattern)
        assert not _REPEATED.search(pattern)


def test_policy_is_named_unless_there_are_no_limits(turn: Turn) -> None:
    limited = gemini.prepare(turn).argv
    assert tomllib.loads(Path(after(limited, "--policy")).read_text())["rule"]
    assert after(limited, "--approval-mode") == "default"
    free = gemini.prepare(with_(turn, permissions=UNLIMITED)).argv
    assert after(free, "--approval-mode") == "yolo"
    assert "--policy" not in free


def test_what_cannot_be_held_is_said() -> None:
    assert any("outside the workspace" in text for text in gemini.unenforced(INSIDE))
    assert not any("command that" in text for text in gemini.unenforced(READ_ONLY))
    assert any("hooks" in text for text in gemini.unenforced(READ_ONLY))
    assert [text for text in gemini.unenforced(UNLIMITED) if "build files" in text]


def line(kind: str, **more: Any) -> str:
    return json.dumps({"type": kind, "timestamp": "2026-01-01T00:00:00.000Z", **more})


STATS = {"total_tokens": 120, "input_tokens": 100, "output_tokens": 20, "cached": 60}
USED = Used(0.0, 120, 60, 20)


@pytest.mark.parametrize(
    "told, events",
    [
        ("", ()),
        (line("init", session_id=SESSION, model="m"), (Session(SESSION), ProviderWait())),
        (line("message", role="user", content="<signal>X</signal>"), ()),
        (line("message", role="assistant", content="hi", delta=True), (Said("hi"),)),
        (
            line("tool_use", tool_name="run_shell_command", parameters={"command": "ls"}),
            (ToolStarted("run_shell_command: ls"),),
        ),
        (line("tool_use", tool_name="update_topic", parameters={}), (ToolStarted("update_topic"),)),
        (line("tool_result", tool_id="t", status="success", output="x"), (ToolEnded("x"),)),
        (line("tool_result", tool_id="t", status="success"), (ToolEnded(""),)),
        (line("result", status="success", stats=STATS), (USED, Done())),
        (line("result", status="error", stats=STATS), (USED,)),
        (line("error", severity="warning", message="hm"), (Warned("hm"),)),
        (line("error", severity="error", message="empty"), (Failed("empty"),)),
        (line("something_new"), ()),
    ],
)
def test_lines_mean_events(told: str, events: tuple[Event, ...]) -> None:
    assert gemini.feed(told) == events


@pytest.mark.parametrize(
    "error",
    [
        {"type": "policy_violation", "message": "Tool execution denied by policy."},
        {"type": "unhandled_exception", "message": 'Tool "Shell" requires user confirmation, ...'},
        {"type": "invalid_tool_params", "message": "Path not in workspace: /etc/x"},
        {"type": "tool_not_registered", "message": 'Tool "write_file" not found. Did you ...'},
    ],
)
def test_what_it_may_not_do_is_denied(error: dict[str, str]) -> None:
    told = line("tool_result", tool_id="write_file__write_file_1", status="error", error=error)
    ended, denied = gemini.feed(told)
    assert ended == ToolEnded(error["message"])
    assert denied == Denied(f"write_file: {error['message']}")


def test_tool_that_failed_is_not_denied() -> None:
    error = {"type": "file_not_found", "message": "File not found"}
    told = line("tool_result", tool_id="x", status="error", error=error, output="no")
    assert gemini.feed(told) == (ToolEnded("no"),)


@pytest.mark.parametrize(
    "message, kind, wait_s",
    [
        ('[API Error: {"error":{"code":401,"status":"UNAUTHENTICATED"}}]', "auth", 0),
        ('[API Error: {"error":{"code":403,"message":"x","status":"INTERNAL"}}]', "auth", 0),
        ('[API Error: {"error":{"code":400,"message":"API key not valid."}}]', "auth", 0),
        ('[API Error: {"error":{"code":400,"message":"odd"}}]', "bad_request", 0),
        ("[API Error: x is not found for API version v1beta]", "bad_request", 0),
        ("[API Error: Quota exceeded, please retry in 12.5s.]\nPlease wait", "rate_limit", 12.5),
        (
            "[API Error: x\nSuggested retry after 7s.]\nPlease wait and try again later.",
            "rate_limit",
            7,
        ),
        ('[API Error: {"error":{"code":429,"message":"x"}}]', "rate_limit", 0),
        ('[API Error: {"error":{"code":503,"message":"overloaded"}}]', "server", 0),
        ("[API Error: terminated]", "server", 0),
        ("Reached max session turns for this session.", "max_turns", 0),
        ("something odd", "crashed", 0),
    ],
)
def test_failures_have_their_kind(message: str, kind: OutcomeKind, wait_s: float) -> None:
    told = line("result", status="error", error={"type": "unknown", "message": message}, stats={})
    failure = gemini.feed(told)[-1]
    assert isinstance(failure, Failed)
    assert (failure.kind, failure.wait_s) == (kind, wait_s)
    assert failure.text.startswith(message)


@pytest.mark.parametrize(
    "severity, message, kind",
    [
        ("warning", "Loop detected, stopping execution", "crashed"),
        ("error", "The model response was blocked due to safety settings.", "refused"),
        ("error", "Maximum session turns exceeded", "max_turns"),
    ],
)
def test_end_that_is_called_a_success_is_none(
    severity: str, message: str, kind: OutcomeKind
) -> None:
    listener = TranscriptListener(gemini.feed)
    listener.take(OutputLine(line("message", role="assistant", content="half")))
    listener.take(OutputLine(line("error", severity=severity, message=message)))
    listener.take(OutputLine(line("result", status="success", stats=STATS)))
    outcome = port.derive_outcome(
        gemini, listener.summary, CommandResult(0, None, "exited", 1.0), ""
    )
    assert (outcome.kind, outcome.detail, outcome.tokens) == (kind, message, 120)


def test_final_message_is_what_was_said_since_the_last_tool() -> None:
    listener = TranscriptListener(gemini.feed)
    for told in (
        line("message", role="assistant", content="I begin. "),
        line("tool_use", tool_name="read_file", tool_id="1", parameters={"file_path": "a"}),
        line("tool_result", tool_id="1", status="success", output="<signal>NO</signal>"),
        line("message", role="assistant", content="All "),
        line("message", role="assistant", content="done."),
        line("result", status="success", stats=STATS),
    ):
        listener.take(OutputLine(told))
    outcome = port.derive_outcome(
        gemini, listener.summary, CommandResult(0, None, "exited", 1.0), ""
    )
    assert (outcome.kind, outcome.final, outcome.output) == ("ok", "All done.", 20)


def test_stream_without_an_end_has_no_outcome() -> None:
    assert gemini.judge(TurnSummary(said="half")) is None


@pytest.mark.parametrize(
    "errors, kind, words",
    [
        ("Please set an Auth method in your settings.json", "auth", "not logged in"),
        ("Gemini CLI is not running in a trusted directory.", "bad_request", "trust"),
        ('Error resuming session: Invalid session identifier "x".', "bad_request", "no longer has"),
        ("Error importing session from file: x", "bad_request", "should fork"),
        ("No input provided via stdin.", "bad_request", "empty prompt"),
    ],
)
def test_last_words_are_said_plainly(errors: str, kind: OutcomeKind, words: str) -> None:
    told = gemini.stderr(f"Warning: x\n{errors}\n")
    assert told is not None
    assert told[0] == kind
    assert words in told[1]


def test_other_last_words_mean_nothing() -> None:
    assert gemini.stderr("Ripgrep is not available.") is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
_KEYS = ["role", "content", "tool_name", "parameters", "error", "stats", "status", "message"]
_TYPES = ["init", "message", "tool_use", "tool_result", "error", "result"]


@given(st.text() | _JSON.map(json.dumps))
def test_feed_never_raises_on_any_line(told: str) -> None:
    gemini.feed(told)


@given(st.sampled_from(_TYPES), st.dictionaries(st.sampled_from(_KEYS), _JSON))
def test_feed_never_raises_on_odd_events(kind: str, more: dict[str, Any]) -> None:
    odd = {"status": "success"} | more
    for told in (line(kind, **odd), line(kind, **odd, stats_={"total_tokens": "1e999"})):
        gemini.feed(told)


def test_feed_warns_of_deep_nonsense() -> None:
    assert isinstance(gemini.feed("[" * 99999)[0], Warned)
    assert isinstance(gemini.feed('{"type": "result", "status": "success", "stats": 1}')[0], Warned)


def test_gemini_that_is_not_installed_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = gemini.probe()
    assert not found.installed
    assert "npm install" in found.note


@pytest.mark.parametrize(
    "script, version, note",
    [
        ("echo 'Warning: x'; echo 0.61.0", "0.61.0", ""),
        ("echo broken >&2; exit 1", "", "broken"),
        ("exec /nowhere/at/all", "", "not found"),
    ],
)
def test_probe_tells_the_version_or_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, version: str, note: str
) -> None:
    program = tmp_path / "gemini"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = gemini.probe()
    assert (found.installed, found.version) == (True, version)
    assert note in found.note


def test_probe_that_cannot_be_started_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "gemini"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "did not answer" in gemini.probe().note
