"""The `gemini` command line: how it is asked for a turn, and what its stream of events means.

Its return code is told nowhere in here: a blocked answer and a detected loop end with 0. Two things
it does to a prompt are prevented: `/word` at the start is one of its own commands, and `@word`
anywhere is replaced by any file whose name holds that word.
"""

import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from porch.agents.environment import make_agent_environment
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
from porch.agents.gemini import failures as troubles
from porch.agents.gemini import policy as gemini_policy
from porch.agents.json_line import parse_json_line
from porch.agents.outcomes import AnswerWay, OutcomeKind
from porch.agents.port import PreparedTurn, Probe, Turn
from porch.model.permissions import Permissions
from porch.system.growing_file import LONGEST_LINE
from porch.text.late_pattern import late_pattern

EXECUTABLE = "gemini"
CREDENTIALS: tuple[str, ...] = ("GEMINI_API_KEY", "GOOGLE_*", "GEMINI_CLI_HOME")
INSTALL = "npm install -g @google/gemini-cli"
NOTICE = (
    "since June 18, 2026, Google serves gemini for private accounts no longer: it needs a paid key "
    "in GEMINI_API_KEY, or the licence of a company"
)
LOGIN = troubles.LOGIN_FIX
LOGIN_STATUS: tuple[str, ...] = ()
NEEDS_COMMAND = False
HOLDS_PERMISSIONS = True
FORKS = True
TELLS_USD = False
COUNTS_ALL = False
PASSING_LINES = ""
ANSWERS: tuple[AnswerWay, ...] = ("message",)
# Without a model it asks a small one which to ask; this name moves with its releases.
DEFAULT_MODEL = "pro"
# It takes seconds to start, and many of them on a busy machine.
VERSION_S = 30


def prepare(turn: Turn) -> PreparedTurn:
    """The prompt goes in by a file: arguments are seen by everybody, and are short."""
    env = make_agent_environment(os.environ, CREDENTIALS, turn.env)
    prompt = turn.file("prompt.md")
    _write_text(prompt, _escape_prompt(turn.prompt))
    found = shutil.which(EXECUTABLE, path=env.get("PATH"))
    words = ("-o", "stream-json", "--skip-trust", "-m", turn.model or DEFAULT_MODEL)
    return PreparedTurn(
        argv=(
            found or EXECUTABLE,
            *words,
            *_find_conversation_arguments(turn, env),
            *_prepare_limit_arguments(turn),
        ),
        env=env,
        stdin_file=prompt,
        output=turn.file("transcript.jsonl"),
        errors=turn.file("errors.txt"),
    )


def _escape_prompt(prompt: str) -> str:
    marked = re.sub(r"(?<!\\)@", r"\\@", prompt)
    note = "\n\n(In this message `\\@` stands for an at sign.)\n" if marked != prompt else ""
    return ("\n" if marked.startswith("/") else "") + marked + note


def _find_conversation_arguments(turn: Turn, env: dict[str, str]) -> tuple[str, ...]:
    """It goes on only where it began; elsewhere it begins another one from what was saved."""
    known = turn.fork or turn.resume
    if not known:
        return ()
    path, place = _find_saved_conversation(known, env)
    here = hashlib.sha256(os.path.realpath(turn.workspace).encode()).hexdigest()
    if turn.fork or (path and place != here):
        return "--session-file", path or turn.file("no-such-conversation.jsonl")
    return "--resume", known


def _find_saved_conversation(session: str, env: dict[str, str]) -> tuple[str, str]:
    """The file of a conversation and the digest of where it began.

    One that was begun from another has a second file with next to nothing in it.
    """
    home = env.get("GEMINI_CLI_HOME") or env.get("HOME") or os.path.expanduser("~")
    name = f"session-*-{glob.escape(session[:8])}.jsonl"
    paths = glob.glob(os.path.join(glob.escape(home), ".gemini", "tmp", "*", "chats", name))
    heads = {
        path: _read_conversation_head(path)
        for path in sorted(paths, key=os.path.getsize, reverse=True)
    }
    ours = ((path, head) for path, head in heads.items() if head.get("sessionId") == session)
    path, head = next(ours, ("", {}))
    return path, str(head.get("projectHash", ""))


def _read_conversation_head(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            head = json.loads(file.readline(LONGEST_LINE))
    except (OSError, ValueError, RecursionError):
        return {}
    return head if isinstance(head, dict) else {}


def _prepare_limit_arguments(turn: Turn) -> tuple[str, ...]:
    if turn.permissions.unlimited:
        return "--approval-mode", "yolo"
    policy = turn.file("policy.toml")
    _write_text(policy, gemini_policy.render_policy(turn.permissions, turn.workspace))
    # Servers and extensions bring tools that no permission of ours knows; this names none of them.
    nobody = ("--extensions", "none", "--allowed-mcp-server-names", "none")
    return "--approval-mode", "default", *nobody, "--policy", policy


def _write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def feed(line: str) -> tuple[Event, ...]:
    """The events of one line; a line that is none of its own is a warning, never a word of it."""
    if not line.strip():
        return ()
    try:
        told = parse_json_line(line)
        return _EVENT_READERS.get(told["type"], _skip_event)(told)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return (Warned(f"not an event: {line[:200]}"),)


def _skip_event(_: dict[str, Any]) -> tuple[Event, ...]:
    return ()


def _read_message(told: dict[str, Any]) -> tuple[Event, ...]:
    return (Said(str(told["content"])),) if told["role"] == "assistant" else ()


_MAIN_PARAMETERS = ("command", "file_path", "pattern", "dir_path", "path", "query", "url", "prompt")


def _read_tool_start(told: dict[str, Any]) -> tuple[Event, ...]:
    given = told.get("parameters") or {}
    main = next((str(given[key]) for key in _MAIN_PARAMETERS if given.get(key)), "")
    name = str(told["tool_name"])
    return (ToolStarted(f"{name}: {main[:200]}" if main else name),)


# A tool that is denied whatever its arguments is not even there.
_DENIABLE_TOOLS = "|".join(
    (*gemini_policy.WRITING_TOOLS, gemini_policy.SHELL_TOOL, *gemini_policy.WEB_TOOLS)
)
_DENIAL_PATTERN = late_pattern(
    "denied by policy|requires user confirmation|^Path not in workspace"
    f'|^Tool "(?:{_DENIABLE_TOOLS})" not found'
)


def _read_tool_end(told: dict[str, Any]) -> tuple[Event, ...]:
    error = told.get("error") or {}
    why = str(error.get("message", ""))
    ended = ToolEnded(str(told.get("output") or why))
    if error.get("type") != "policy_violation" and not _DENIAL_PATTERN.search(why):
        return (ended,)
    # The name of the tool begins the name of the call.
    name = str(told.get("tool_id", "")).partition("__")[0]
    return ended, Denied(f"{name}: {why}" if name else why)


def _read_error(told: dict[str, Any]) -> tuple[Event, ...]:
    text = str(told["message"])
    is_error = told.get("severity") == "error"
    return (troubles.find_stop_failure(text) or (Failed(text) if is_error else Warned(text)),)


def _read_result(told: dict[str, Any]) -> tuple[Event, ...]:
    stats = told.get("stats") or {}
    total, cached, output = (
        int(stats.get(key) or 0) for key in ("total_tokens", "cached", "output_tokens")
    )
    used = Used(0.0, total, cached, output)
    if told["status"] == "success":
        return used, Done()
    error = told.get("error")
    return (used, replace(troubles.parse_failure(error), is_last=True)) if error else (used,)


_EVENT_READERS: dict[str, Callable[[dict[str, Any]], tuple[Event, ...]]] = {
    # It prints its words in pieces, and the calls of tools whole: it may be silent between them.
    "init": lambda told: (Session(str(told["session_id"])), ProviderWait()),
    "message": _read_message,
    "tool_use": _read_tool_start,
    "tool_result": _read_tool_end,
    "error": _read_error,
    "result": _read_result,
}


def judge(summary: TurnSummary) -> tuple[OutcomeKind, str] | None:
    """A failure counts before an end: it calls a loop that it stopped a success."""
    if summary.failure is not None:
        return summary.failure.kind, summary.failure.text
    return None if summary.final is None else ("ok", "")


def stderr(text: str) -> tuple[OutcomeKind, str] | None:
    return troubles.parse_error_output(text)


def unenforced(permissions: Permissions) -> tuple[str, ...]:
    """What it does more than it may, and the one thing that it does not although it may."""
    limited = not permissions.unlimited
    said = (
        (limited and permissions.bash, _COMMANDS_NOTICE),
        (limited, _HOOKS_NOTICE),
        (permissions.unlimited or permissions.write, _BUILD_FILES_NOTICE),
    )
    return tuple(text for holds, text in said if holds)


_COMMANDS_NOTICE = (
    "a command that gemini may run can read, write and reach everything that you can, also outside "
    "the workspace and in .git"
)
_HOOKS_NOTICE = "hooks in gemini's settings (yours and the workspace's) run whatever a turn permits"
_BUILD_FILES_NOTICE = (
    "gemini itself does not edit build files (package.json, pyproject.toml, Makefile and others) "
    "without a person, whatever a turn permits; its commands can"
)


def resumes(_: tuple[str, ...]) -> bool:
    return True


def can_carry(_: str) -> bool:
    return True


def read_login_status(_output: str, _code: int) -> bool | None:
    return None


def probe() -> Probe:
    found = shutil.which(EXECUTABLE)
    if found is None:
        return Probe(False, note=f"not installed: `{INSTALL}`")
    env = make_agent_environment(os.environ, CREDENTIALS)
    try:
        done = subprocess.run(
            [found, "--version"],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_S,
            stdin=subprocess.DEVNULL,
            env=env,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Probe(True, note=f"`gemini --version` did not answer: {error}")
    version = done.stdout.strip().rpartition("\n")[2]
    return Probe(True, version) if version else Probe(True, note=done.stderr.strip()[:200])
