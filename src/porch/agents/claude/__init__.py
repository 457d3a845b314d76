"""The `claude` command line as an agent: how it is asked, and what its lines mean."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from typing import Any

from porch.agents.claude import conversation_files, results, schema
from porch.agents.claude import permissions as claude_permissions
from porch.agents.claude.message_lines import read_message_line
from porch.agents.claude.results import (
    REMINDED_WARNING,
    describe_tool_call,
    find_known_complaint,
    join_output_texts,
    read_result_line,
)
from porch.agents.environment import make_agent_environment
from porch.agents.events import (
    Denied,
    Event,
    Failed,
    ProviderWait,
    Said,
    Session,
    ToolEnded,
    ToolStarted,
    TurnSummary,
    Warned,
)
from porch.agents.json_line import parse_json_line
from porch.agents.outcomes import AnswerWay, OutcomeKind
from porch.agents.port import PreparedTurn, Probe, Turn
from porch.model.permissions import Permissions

EXECUTABLE = "claude"
CREDENTIALS: tuple[str, ...] = (
    *("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN"),
    *("CLAUDE_CODE_USE_*", "CLOUD_ML_REGION"),
)
INSTALL = "npm install -g @anthropic-ai/claude-code"
NOTICE = ""
LOGIN = "run `claude` once and log in, or set ANTHROPIC_API_KEY"
# A release that is too old for the command refuses the flag, and takes nothing for a prompt.
# A login by the settings of the user (`apiKeyHelper`) is none for turns, which do without them.
LOGIN_STATUS: tuple[str, ...] = ("--setting-sources=", "auth", "status", "--json")
NEEDS_COMMAND = False
HOLDS_PERMISSIONS = True
FORKS = True
TELLS_USD = True
COUNTS_ALL = False
# One for each piece of an answer, which is told again as a whole.
PASSING_LINES = '{"type":"stream_event"'
ANSWERS: tuple[AnswerWay, ...] = ("schema",)
PROBE_S = 30.0
LINE_SHOWN = 200
_TEXT_PIECE = '"delta":{"type":"text_delta"'
# Text comes as it is made. Thoughts may be withheld, and the input of a tool comes when it is
# complete: between such pieces claude waits as it does before the first one.
_IN_TEXT, _BETWEEN_TEXTS = (ProviderWait(is_on=False),), (ProviderWait(),)


def prepare(turn: Turn) -> PreparedTurn:
    """The prompt is a file: command lines are short, and everybody on the machine can read them."""
    prompt = turn.file("prompt.md")
    with open(prompt, "w", encoding="utf-8", errors="replace") as file:
        file.write(turn.prompt)
    env = make_agent_environment(os.environ, CREDENTIALS, turn.env)
    return PreparedTurn(
        argv=(_find_executable(), *_list_arguments(turn, env)),
        # A program that replaces itself while a run goes on is not the one that was probed.
        env={**env, "DISABLE_AUTOUPDATER": "1"},
        stdin_file=prompt,
        output=turn.file("transcript.jsonl"),
        errors=turn.file("errors.txt"),
    )


def _find_executable() -> str:
    return shutil.which(EXECUTABLE) or EXECUTABLE


def _list_arguments(turn: Turn, env: Mapping[str, str]) -> Iterator[str]:
    yield from ("-p", "--output-format", "stream-json", "--verbose")
    # The pieces of an answer are its signs of life while the whole is still being made.
    yield "--include-partial-messages"
    # Settings and servers of the project are files that an agent could have written.
    yield from ("--setting-sources", "", "--strict-mcp-config")
    if turn.model:
        yield from ("--model", turn.model)
    if session := turn.resume or turn.fork:
        # It goes on only where it was held; elsewhere another one is begun from it.
        path = conversation_files.find_elsewhere(session, turn.workspace, env)
        yield from ("--resume", path or session)
        if path or not turn.resume:
            yield "--fork-session"
    if turn.schema is not None:
        yield from ("--json-schema", json.dumps(schema.simplify_schema(turn.schema)))
    if turn.max_steps:
        # It counts its own answers, of which each but the last calls at least one tool.
        yield from ("--max-turns", str(turn.max_steps + 1))
    if turn.max_usd:
        yield from ("--max-budget-usd", f"{turn.max_usd:f}")
    workspace = os.path.realpath(turn.workspace)
    yield from claude_permissions.list_permission_flags(turn.permissions, workspace, _is_root())


def _is_root() -> bool:
    return os.geteuid() == 0


def feed(line: str) -> tuple[Event, ...]:
    """The events of one line; kinds of lines that newer versions add are passed over."""
    if line.startswith(PASSING_LINES):
        return _IN_TEXT if _TEXT_PIECE in line[:LINE_SHOWN] else _BETWEEN_TEXTS
    usual = read_message_line(line)
    return read_any_line(line) if usual is None else usual


def read_any_line(line: str) -> tuple[Event, ...]:
    """The same, whatever form the line has."""
    if not line.strip():
        return ()
    try:
        said = parse_json_line(line)
        known = _LINE_READERS.get(said["type"])
        return tuple(known(said)) if known else ()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return (Warned(f"not an event: {line[:LINE_SHOWN]}"),)


def _read_system_line(said: Mapping[str, Any]) -> Iterator[Event]:
    if said.get("subtype") == "init":
        yield Session(str(said["session_id"]))
        yield ProviderWait()
    elif said.get("subtype") == "status" and said.get("status") == "requesting":
        yield ProviderWait()
    elif said.get("subtype") == "api_retry":
        status = said.get("error_status") or "nothing"
        yield Warned(f"the service answered {status}; claude retries by itself")


def _read_assistant_line(said: Mapping[str, Any]) -> Iterator[Event]:
    message = said["message"]
    # Words that the command line puts into the agent's mouth when a request failed.
    invented = bool(said.get("error")) or message.get("model") == "<synthetic>"
    is_helper = said.get("parent_tool_use_id") is not None
    if not invented and isinstance(message.get("usage"), dict):
        yield results.parse_message_usage(str(message.get("id") or ""), message["usage"])
    for block in message["content"]:
        if block["type"] == "tool_use":
            yield ToolStarted(describe_tool_call(str(block["name"]), block.get("input")))
        elif block["type"] == "text" and not is_helper:
            text = str(block["text"])
            yield Warned(text) if invented else Said(text)


def _read_user_line(said: Mapping[str, Any]) -> Iterator[Event]:
    """Tool output, the prompt of a helper, a reminder by the program; never the agent's word."""
    content = said["message"]["content"]
    for block in content if isinstance(content, list) else ():
        if block["type"] == "tool_result":
            output = join_output_texts(block.get("content"))
            yield ToolEnded(output)
            if block.get("is_error") is True and output.startswith(_UNLISTED_DENIALS):
                yield Denied(output.partition(">")[2].partition("</")[0].strip())
        elif block["type"] == "text" and block["text"].startswith("[structured-output-enforce]"):
            yield Warned(REMINDED_WARNING)


# These two are missing in the list of denials at the end of a turn.
_UNLISTED_DENIALS = (
    "<tool_use_error>File is in a directory that is denied",
    "<tool_use_error>Error: No such tool available: ",
)


def _read_rate_limit_line(said: Mapping[str, Any]) -> Iterator[Event]:
    told = said["rate_limit_info"]
    if told.get("status") != "rejected" or told.get("isUsingOverage"):
        return
    wait = max(0.0, float(told.get("resetsAt") or 0) - time.time())
    name = str(told.get("rateLimitType") or "usage").replace("_", " ")
    yield Failed(f"the {name} limit of the account is reached", "rate_limit", wait)


_LINE_READERS = {
    "system": _read_system_line,
    "assistant": _read_assistant_line,
    "user": _read_user_line,
    "rate_limit_event": _read_rate_limit_line,
    "result": read_result_line,
}


def judge(summary: TurnSummary) -> tuple[OutcomeKind, str] | None:
    """A result that is good is the outcome; one cut short by a signal says nothing of why."""
    if summary.final is not None:
        if not summary.final and summary.answer is None and summary.warning == REMINDED_WARNING:
            return "schema_missing", "it ended without a structured answer and without any text"
        return "ok", ""
    if summary.failure is not None:
        return summary.failure.kind, summary.failure.text
    return None


def stderr(text: str) -> tuple[OutcomeKind, str] | None:
    return find_known_complaint(text.strip())


def unenforced(permissions: Permissions) -> tuple[str, ...]:
    return claude_permissions.unenforced(permissions, _is_root())


def resumes(_: tuple[str, ...]) -> bool:
    return True


def can_carry(session: str) -> bool:
    return bool(conversation_files.find_conversation(session, os.environ))


def read_login_status(output: str, _: int) -> bool | None:
    """Warnings of the program may stand around the JSON."""
    try:
        answer = parse_json_line(output[output.find("{") : output.rfind("}") + 1])["loggedIn"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return answer if isinstance(answer, bool) else None


def probe() -> Probe:
    """Installed, and which version; nothing here says whether somebody is logged in."""
    path = shutil.which(EXECUTABLE)
    if path is None:
        fix = f"`{INSTALL}`, or put `claude` on PATH"
        return Probe(installed=False, note=f"claude is not on PATH; {fix}")
    try:
        done = subprocess.run(
            [path, "--version"],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=PROBE_S,
            env=make_agent_environment(os.environ, CREDENTIALS),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Probe(installed=True, note=f"`claude --version` failed: {error}")
    version = (done.stdout.split() or [""])[0]
    if done.returncode or not version:
        return Probe(
            installed=True, note=f"`claude --version` ended with exit code {done.returncode}"
        )
    return Probe(installed=True, version=version)
