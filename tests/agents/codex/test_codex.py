"""What the lines of codex mean, and how it is asked; on lines like those it was seen to write."""

import json
import os
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.agents import codex
from porch.agents.codex import events as codex_events
from porch.agents.codex import permissions as codex_permissions
from porch.agents.codex import schema
from porch.agents.events import (
    Answered,
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
from porch.agents.outcomes import OutcomeKind
from porch.agents.port import Probe, Turn, derive_outcome
from porch.agents.transcripts import TranscriptListener
from porch.model.permissions import INSIDE, READ_ONLY, UNLIMITED, Permissions, parse_permissions
from porch.system.growing_file import OutputLine
from porch.system.process import CommandResult

WELL = CommandResult(0, None, "exited", 1.0)


def item(stage: str, kind: str, **more: Any) -> str:
    return json.dumps({"type": f"item.{stage}", "item": {"id": "item_1", "type": kind, **more}})


def command(stage: str, text: str, output: str = "", **more: Any) -> str:
    told = {"command": text, "aggregated_output": output, "exit_code": None, **more}
    return item(stage, "command_execution", **told)


def usage(**more: int) -> str:
    told = {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 20}
    return json.dumps({"type": "turn.completed", "usage": {**told, **more}})


def failing(message: str) -> str:
    return json.dumps({"type": "turn.failed", "error": {"message": message}})


def summary(*lines: str) -> TurnSummary:
    listener = TranscriptListener(codex.feed)
    for line in lines:
        listener.take(OutputLine(line))
    return listener.summary


MESSAGE = item("completed", "agent_message", text="all done")
SHELL = "/bin/bash -lc"


@pytest.mark.parametrize(
    "line, events",
    [
        ("", ()),
        ('{"type":"turn.started"}', (ProviderWait(),)),
        ('{"type":"of a later release"}', ()),
        ('{"type":"thread.started","thread_id":"t-1"}', (Session("t-1"),)),
        (MESSAGE, (Said("all done", is_whole=True),)),
        (item("completed", "reasoning", text="hm"), ()),
        (item("updated", "todo_list", items=[]), ()),
        (item("completed", "error", message="no metadata"), (Warned("no metadata"),)),
        (command("started", f"{SHELL} 'npm test'"), (ToolStarted("$ npm test"),)),
        (command("started", f"{SHELL} 'a\n  b'"), (ToolStarted("$ a b"),)),
        (command("started", "it's"), (ToolStarted("$ it's"),)),
        (command("started", "ls -l a"), (ToolStarted("$ ls -l a"),)),
        (command("completed", "ls", "a\n", status="completed"), (ToolEnded("a\n"),)),
        (
            item("started", "file_change", changes=[{"path": "/w/a"}, {"path": "/w/b"}]),
            (ToolStarted("edit /w/a, /w/b"),),
        ),
        (
            item("completed", "file_change", changes=[{"path": "a"}], status="completed"),
            (ToolEnded("completed"),),
        ),
        (item("started", "mcp_tool_call", server="s", tool="t"), (ToolStarted("s.t"),)),
        (item("started", "web_search", query="q"), (ToolStarted("search q"),)),
        (item("started", "collab_tool_call", tool="spawn"), (ToolStarted("agents: spawn"),)),
        (usage(), (Used(0.0, 120, 60, 20, is_total=True), Done())),
        ('{"type":"turn.completed"}', (Used(0.0, 0, is_total=True), Done())),
        (
            '{"type":"error","message":"Reconnecting... 2/5 (last status: 401)"}',
            (Warned("Reconnecting... 2/5 (last status: 401)"),),
        ),
        (
            '{"type":"error","message":"unexpected status 503 x"}',
            (Failed("unexpected status 503 x", "server"),),
        ),
    ],
)
def test_line_of_codex_means(line: str, events: tuple[Event, ...]) -> None:
    assert codex.feed(line) == events


def test_command_that_failed_on_a_read_only_file_system_was_denied() -> None:
    output = "touch: cannot touch '/x': Read-only file system\n"
    ended, denied = codex.feed(command("completed", f"{SHELL} 'touch /x'", output, status="failed"))
    assert ended == ToolEnded(output)
    assert isinstance(denied, Denied)
    assert denied.text.startswith("$ touch /x: ")


@pytest.mark.parametrize("status, count", [("declined", 1), ("failed", 0), ("completed", 0)])
def test_only_what_was_declined_is_denied_whatever_a_command_prints(
    status: str, count: int
) -> None:
    output = "Read-only file system" if status == "completed" else "no such file"
    events = codex.feed(command("completed", "x", output, status=status))
    assert sum(isinstance(event, Denied) for event in events) == count


@pytest.mark.parametrize(
    "message, kind, wait_s",
    [
        ("unexpected status 401 Unauthorized: no, url: http://h/500", "auth", 0),
        ("unexpected status 403 Forbidden: no", "auth", 0),
        ("unexpected status 404 Not Found: no", "bad_request", 0),
        ("Missing environment variable: `OPENAI_API_KEY`.", "auth", 0),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limit", 0),
        ("rate limit exceeded: Please try again in 11.054s.", "rate_limit", 11.054),
        ("rate limit reached, try again in 250ms", "rate_limit", 0.25),
        ("You've hit your usage limit. Try again in 1 hour 20 minutes.", "rate_limit", 4800),
        ("You've hit your usage limit. Try again in 2 days, 3 hours", "rate_limit", 183600),
        ("Quota exceeded. Check your plan and billing details.", "budget", 0),
        ("We’re currently experiencing high demand, which may cause errors.", "server", 0),  # noqa: RUF001
        ("stream disconnected before completion: Transport error", "server", 0),
        ("stream disconnected: Incomplete response, reason: content_filter", "refused", 0),
        ("Codex ran out of room in the model's context window.", "bad_request", 0),
        ('{"error": {"code": "x", "message": "too long"}}', "bad_request", 0),
        ("The model `x` does not exist", "bad_request", 0),
        ("something else", "crashed", 0),
    ],
)
def test_failure_is_told_apart_by_its_words(message: str, kind: OutcomeKind, wait_s: float) -> None:
    (event,) = codex.feed(failing(message))
    assert isinstance(event, Failed)
    assert event.kind == kind
    assert event.wait_s == pytest.approx(wait_s)
    assert codex.judge(summary(failing(message))) == (kind, event.text)


def test_people_read_the_sentence_of_a_vendor_s_answer() -> None:
    assert codex.feed(failing('{"error": {"message": "too long"}}')) == (
        Failed("too long", "bad_request", is_last=True),
    )


def test_sign_in_is_told_where_it_is_missing() -> None:
    _, told = codex.judge(summary(failing("unexpected status 401 Unauthorized"))) or ("", "")
    assert "codex login" in told


def test_final_message_is_what_was_said_after_the_last_tool() -> None:
    tool = (command("started", "ls"), command("completed", "ls", "<signal>NO</signal>"))
    found = summary(item("completed", "agent_message", text="I begin"), *tool, MESSAGE, usage())
    assert (found.final, found.tokens) == ("all done", 120)
    assert codex.judge(found) == ("ok", "")


def test_signal_keeps_its_own_line_behind_another_message() -> None:
    signal = item("completed", "agent_message", text="<signal>DONE</signal>")
    final = summary(MESSAGE, signal, usage()).final or ""
    assert final.splitlines()[-1] == "<signal>DONE</signal>"


def test_turn_without_a_word_is_a_refusal() -> None:
    tool = (command("started", "ls"), command("completed", "ls"))
    for lines in ((usage(),), (MESSAGE, *tool, usage())):
        assert derive_outcome(codex, summary(*lines), WELL, "").kind == "refused"


def test_error_that_codex_got_over_is_forgotten() -> None:
    error = json.dumps({"type": "error", "message": "unexpected status 503"})
    assert codex.judge(summary(error, MESSAGE, usage())) == ("ok", "")


def test_message_without_the_end_of_its_turn_is_no_outcome() -> None:
    assert codex.judge(summary(MESSAGE)) is None
    assert (
        derive_outcome(codex, summary(MESSAGE), CommandResult(None, 9, "exited", 1.0), "").kind
        == "crashed"
    )


@pytest.mark.parametrize(
    "text, answer",
    [
        ('{"exit":"A","payload":{"n":1}}', Answered("A", {"n": 1})),
        ('{"exit":"A","payload":"{\\"n\\": 1}"}', Answered("A", {"n": 1})),
        ('{"exit":"A","payload":"[1]"}', Answered("A", "[1]")),
        ('{"exit":"A","payload":"plain"}', Answered("A", "plain")),
        ('{"exit":"A","n":1,"m":null}', Answered("", {"exit": "A", "n": 1, "m": None})),
        ('{"exit_":"A","exit":2}', Answered("", {"exit_": "A", "exit": 2})),
        ('{"n":1}', None),
        ('["exit"]', None),
        ('I answer {"exit":"A","payload":{}}', None),
        ("[" * 99999, None),
    ],
)
def test_message_that_is_an_answer_and_nothing_else_is_one(
    text: str, answer: Answered | None
) -> None:
    found = summary(item("completed", "agent_message", text=text), usage())
    assert found.answer == answer


def test_answer_before_a_tool_is_none() -> None:
    early = item("completed", "agent_message", text='{"exit":"A","payload":{}}')
    assert summary(early, command("started", "ls"), MESSAGE, usage()).answer is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("type", "item", "text", "usage", "error", "message", "command")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
TYPES = st.sampled_from((*codex_events.EVENT_READERS, "other"))
ITEMS = st.sampled_from((*codex_events.TOOL_DESCRIPTIONS, "agent_message", "error", "other"))


@given(st.text() | JSON.map(json.dumps))
def test_no_line_is_too_odd(line: str) -> None:
    assert isinstance(codex.feed(line), tuple)


@given(TYPES, ITEMS, st.dictionaries(st.text(max_size=9), JSON, max_size=3), JSON)
def test_no_event_is_too_odd(kind: str, what: str, fields: dict[str, Any], odd: Any) -> None:
    inner = {**fields, "type": what, "text": odd, "command": odd, "changes": odd, "message": odd}
    told = {"type": kind, "item": inner, "usage": odd, "error": odd, "message": odd}
    assert isinstance(codex.feed(json.dumps(told)), tuple)


def ask(place: Path, **more: Any) -> Turn:
    turn, workspace = place / "turn", place / "work"
    turn.mkdir()
    workspace.mkdir(exist_ok=True)
    given = {"effect": "e", "request": {}, "workspace": str(workspace), "directory": str(turn)}
    return Turn(**{**given, "prompt": "do it", **more})


def profile(argv: tuple[str, ...]) -> dict[str, Any]:
    """The settings that a turn gives by its flags, as codex reads them."""
    texts = [after for flag, after in pairwise(argv) if flag == "-c"]
    found: dict[str, Any] = {}
    for text in texts:
        found |= tomllib.loads(text)
    return found


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "codex-home"
    home.mkdir()
    monkeypatch.setenv("CODEX_HOME", str(home))
    monkeypatch.delenv("CODEX_API_KEY", raising=False)
    return home


def test_prompt_goes_in_by_a_file(tmp_path: Path) -> None:
    ready = codex.prepare(ask(tmp_path, prompt="do 'it'\nnow \ud800"))
    assert ready.argv[-1] == "-"
    assert not any("do 'it'" in word for word in ready.argv)
    assert Path(ready.stdin_file or "").read_text() == "do 'it'\nnow ?"
    assert Path(ready.output).name == "transcript.jsonl"


@pytest.mark.parametrize(
    "more, words",
    [
        ({"resume": "t-1"}, ("resume", "t-1", "-")),
        ({"fork": "t-1"}, ("fork", "t-1", "-")),
        ({"resume": "t-2", "fork": "t-1"}, ("resume", "t-2", "-")),
    ],
)
def test_conversation_comes_behind_all_flags(
    tmp_path: Path, more: dict[str, str], words: tuple[str, ...]
) -> None:
    argv = codex.prepare(ask(tmp_path, model="m", **more)).argv
    assert argv[-3:] == words
    assert argv[argv.index("-m") + 1] == "m"


def test_environment_is_scrubbed_but_for_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "AWS_SECRET", "MINE"):
        monkeypatch.setenv(name, "x")
    env = codex.prepare(ask(tmp_path, env=("MINE",))).env
    assert {"OPENAI_API_KEY", "MINE", "CODEX_HOME"} <= set(env)
    assert "AWS_SECRET" not in env


def test_inside_means_the_workspace_and_a_place_for_temporary_files(tmp_path: Path) -> None:
    ready = codex.prepare(ask(tmp_path))
    files = profile(ready.argv)["permissions"]["porch"]["filesystem"]
    scratch = ready.env["TMPDIR"]
    assert files.pop(":project_roots") == {".": "write", ".git": "read", ".codex": "read"}
    assert files == {":minimal": "read", ":root": "read", scratch: "write"}
    assert os.path.isdir(scratch)
    assert "--ignore-rules" in ready.argv


def test_reviewer_writes_nowhere(tmp_path: Path) -> None:
    ready = codex.prepare(ask(tmp_path, permissions=READ_ONLY))
    assert "write" not in json.dumps(profile(ready.argv)["permissions"])
    assert not (tmp_path / "turn" / "tmp").exists()


def test_unlimited_is_without_any_profile(tmp_path: Path) -> None:
    argv = codex.prepare(ask(tmp_path, permissions=UNLIMITED)).argv
    assert "--dangerously-bypass-approvals-and-sandbox" in argv
    assert "permissions" not in profile(argv)


def test_folder_that_is_to_be_written_is_made_but_never_outside(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "out").symlink_to(tmp_path)
    permissions = parse_permissions(["write:new/deep/**", "write:out/**", 'write:a "b" ü/**'])
    argv = codex.prepare(ask(tmp_path, permissions=permissions)).argv
    roots = profile(argv)["permissions"]["porch"]["filesystem"][":project_roots"]
    written = {name for name, how in roots.items() if how == "write"}
    assert written == {"new/deep", 'a "b" ü'}
    assert (work / "new" / "deep").is_dir()


def test_repository_is_not_trusted_by_running_it(tmp_path: Path) -> None:
    told = profile(codex.prepare(ask(tmp_path)).argv)["projects"]
    assert told == {str(tmp_path / "work"): {"trust_level": "untrusted"}}


@pytest.mark.parametrize("level", ["trusted", "untrusted"])
def test_what_a_person_decided_about_a_repository_stays(
    tmp_path: Path, own_home: Path, level: str
) -> None:
    decided = f'[projects."{tmp_path / "work"}"]\ntrust_level = "{level}"\n'
    (own_home / "config.toml").write_text(decided)
    assert "projects" not in profile(codex.prepare(ask(tmp_path)).argv)


@pytest.mark.parametrize("text", ["model = [broken", "projects = 1", "\udcff"])
def test_settings_that_say_nothing_of_projects_decide_nothing(
    tmp_path: Path, own_home: Path, text: str
) -> None:
    (own_home / "config.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert "projects" in profile(codex.prepare(ask(tmp_path)).argv)


@pytest.mark.parametrize(
    "glob, folder, is_exact",
    [
        ("**", ".", True),
        ("*", ".", True),
        ("src/**", "src", True),
        ("./src/**", "src", True),
        ("src/a/", "src/a", True),
        ("src/**/*", "src", True),
        ("src/*", "src", False),
        ("src/**/*.py", "src", False),
        ("src/a.py", "src", False),
        ("README.md", ".", False),
        ("**/*.md", ".", False),
        ("s?c/**", ".", False),
        ("a{b,c}/**", ".", False),
    ],
)
def test_glob_is_widened_to_its_folder(glob: str, folder: str, is_exact: bool) -> None:
    assert codex_permissions.find_covering_folder(glob) == (folder, is_exact)
    told = codex.unenforced(Permissions((glob,), ("*",), ("*",)))
    assert (told == ()) == is_exact
    assert all(glob in sentence for sentence in told)


def test_what_cannot_be_held_is_said() -> None:
    assert codex.unenforced(INSIDE) == codex.unenforced(UNLIMITED) == ()
    (commands,) = codex.unenforced(READ_ONLY)
    assert "run any" in commands
    told = codex.unenforced(parse_permissions(["write:src/**", "bash:npm *", "read:src/**"]))
    assert len(told) == 2


def test_schema_is_closed_and_all_of_it_required() -> None:
    pair = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}
    given = {
        "$schema": "x",
        "type": "object",
        "properties": {
            "exit": {"const": "A"},
            "free": {"type": "object"},
            "none": {"type": "object", "properties": {}, "additionalProperties": False},
            "pair": {**pair, "items": False},
            "one": {"oneOf": [{"$ref": "#/$defs/T"}, {"type": "null"}]},
        },
        "required": ["exit", "free", "none", "pair"],
        "$defs": {"T": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    told = schema.make_strict_schema(given)
    properties = told["properties"]
    assert told["required"] == list(given["properties"])
    assert properties["exit"] == {"enum": ["A"]}
    assert properties["free"]["type"] == "string"
    assert properties["none"]["additionalProperties"] is False
    items = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert properties["pair"] == {"type": "array", "items": items, "minItems": 2, "maxItems": 2}
    assert properties["one"]["anyOf"][1] == {"type": "null"}
    assert told["$defs"]["T"]["required"] == ["a"]
    assert "$schema" not in told


def test_schema_of_the_turn_lies_in_a_file(tmp_path: Path) -> None:
    given = {"type": "object", "properties": {"exit": {"enum": ["A"]}}, "required": ["exit"]}
    argv = codex.prepare(ask(tmp_path, schema=given)).argv
    path = argv[argv.index("--output-schema") + 1]
    assert json.loads(Path(path).read_text()) == {**given, "additionalProperties": False}


@pytest.mark.parametrize(
    "text, kind, word",
    [
        (
            "Error: thread/resume failed: no rollout found for thread id t-9 (code)",
            "bad_request",
            "t-9",
        ),
        ("WARNING: x\nError loading config.toml:\nunclosed array", "bad_request", "unclosed array"),
        ("Not logged in", "auth", "codex login"),
    ],
)
def test_end_before_the_first_event_is_told_by_its_error_output(
    text: str, kind: OutcomeKind, word: str
) -> None:
    outcome = derive_outcome(codex, TurnSummary(), CommandResult(1, None, "exited", 0.1), text)
    assert outcome.kind == kind
    assert word in outcome.detail


def test_error_output_of_a_turn_that_ended_says_nothing() -> None:
    assert codex.stderr("ERROR codex_core: failed to record rollout items") is None
    assert derive_outcome(codex, summary(MESSAGE, usage()), WELL, "Not logged in").kind == "ok"


def put_on_path(place: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    names = place / "bin"
    names.mkdir()
    (names / "codex").write_text(f"#!/bin/sh\n{script}\n")
    (names / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(names))


def test_probe_tells_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = codex.probe()
    assert (found.installed, found.version) == (False, "")
    assert "npm install" in found.note


def test_probe_tells_the_version_and_nothing_of_logins(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_path(tmp_path, monkeypatch, "echo codex-cli 1.2.3")
    assert codex.probe() == Probe(True, "1.2.3")


@pytest.mark.parametrize("script", ["exit 3", "while :; do :; done"])
def test_probe_of_a_broken_installation_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    put_on_path(tmp_path, monkeypatch, script)
    monkeypatch.setattr(codex, "PROBE_S", 0.3)
    found = codex.probe()
    assert not found.installed
    assert "install codex again" in found.note
