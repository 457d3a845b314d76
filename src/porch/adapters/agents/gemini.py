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
from dataclasses import replace
from typing import Any

from porch.adapters.agents import gemini_policy
from porch.adapters.agents import gemini_troubles as troubles
from porch.adapters.agents.base import Prepared, Probe, Turn
from porch.adapters.agents.environment import CREDENTIALS, scrubbed
from porch.adapters.agents.events import (
    Denied,
    Done,
    Event,
    Failed,
    Said,
    Session,
    Summary,
    ToolEnded,
    ToolStarted,
    Used,
    Warned,
)
from porch.adapters.agents.kinds import Kind, Way
from porch.adapters.follow import LONGEST_LINE
from porch.model.permissions import Permissions

EXECUTABLE = "gemini"
FORKS = True
RESUMES = True
BOUND_TO_PLACE = False
TELLS_USD = False
COUNTS_ALL = False
ANSWERS: tuple[Way, ...] = ("message",)
# Without a model it asks a small one which to ask; this name moves with its releases.
MODEL = "pro"
VERSION_S = 10


def prepare(turn: Turn) -> Prepared:
    """The prompt goes in by a file: arguments are seen by everybody, and are short."""
    env = scrubbed(os.environ, (*CREDENTIALS["gemini"], *turn.env))
    prompt = turn.file("prompt.md")
    _write(prompt, _harmless(turn.prompt))
    found = shutil.which(EXECUTABLE, path=env.get("PATH"))
    words = ("-o", "stream-json", "--skip-trust", "-m", turn.model or MODEL)
    return Prepared(
        argv=(found or EXECUTABLE, *words, *_conversation(turn, env), *_limits(turn)),
        env=env,
        stdin_file=prompt,
        output=turn.file("transcript.jsonl"),
        errors=turn.file("errors.txt"),
    )


def _harmless(prompt: str) -> str:
    marked = re.sub(r"(?<!\\)@", r"\\@", prompt)
    note = "\n\n(In this message `\\@` stands for an at sign.)\n" if marked != prompt else ""
    return ("\n" if marked.startswith("/") else "") + marked + note


def _conversation(turn: Turn, env: dict[str, str]) -> tuple[str, ...]:
    """It goes on only where it began; elsewhere it begins another one from what was saved."""
    known = turn.fork or turn.resume
    if not known:
        return ()
    path, place = _saved(known, env)
    here = hashlib.sha256(os.path.realpath(turn.workspace).encode()).hexdigest()
    if turn.fork or (path and place != here):
        return "--session-file", path or turn.file("no-such-conversation.jsonl")
    return "--resume", known


def _saved(session: str, env: dict[str, str]) -> tuple[str, str]:
    """The file of a conversation and the digest of where it began.

    One that was begun from another has a second file with next to nothing in it.
    """
    home = env.get("GEMINI_CLI_HOME") or env.get("HOME") or os.path.expanduser("~")
    name = f"session-*-{glob.escape(session[:8])}.jsonl"
    paths = glob.glob(os.path.join(glob.escape(home), ".gemini", "tmp", "*", "chats", name))
    heads = {path: _head(path) for path in sorted(paths, key=os.path.getsize, reverse=True)}
    ours = ((path, head) for path, head in heads.items() if head.get("sessionId") == session)
    path, head = next(ours, ("", {}))
    return path, str(head.get("projectHash", ""))


def _head(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            head = json.loads(file.readline(LONGEST_LINE))
    except (OSError, ValueError, RecursionError):
        return {}
    return head if isinstance(head, dict) else {}


def _limits(turn: Turn) -> tuple[str, ...]:
    if turn.permissions.unlimited:
        return "--approval-mode", "yolo"
    policy = turn.file("policy.toml")
    _write(policy, gemini_policy.render(turn.permissions, turn.workspace))
    # Servers and extensions bring tools that no permission of ours knows; this names none of them.
    nobody = ("--extensions", "none", "--allowed-mcp-server-names", "none")
    return "--approval-mode", "default", *nobody, "--policy", policy


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def feed(line: str) -> tuple[Event, ...]:
    """The events of one line; a line that is none of its own is a warning, never a word of it."""
    if not line.strip():
        return ()
    try:
        told = json.loads(line)
        return _EVENTS.get(told["type"], _nothing)(told)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return (Warned(f"not an event: {line[:200]}"),)


def _nothing(_: dict[str, Any]) -> tuple[Event, ...]:
    return ()


def _said(told: dict[str, Any]) -> tuple[Event, ...]:
    return (Said(str(told["content"])),) if told["role"] == "assistant" else ()


_MAIN = ("command", "file_path", "pattern", "dir_path", "path", "query", "url", "prompt")


def _tool_started(told: dict[str, Any]) -> tuple[Event, ...]:
    given = told.get("parameters") or {}
    main = next((str(given[key]) for key in _MAIN if given.get(key)), "")
    name = str(told["tool_name"])
    return (ToolStarted(f"{name}: {main[:200]}" if main else name),)


# A tool that is denied whatever its arguments is not even there.
_GONE = "|".join((*gemini_policy.WRITING, gemini_policy.SHELL, *gemini_policy.WEB))
_MAY_NOT = re.compile(
    "denied by policy|requires user confirmation|^Path not in workspace"
    f'|^Tool "(?:{_GONE})" not found'
)


def _tool_ended(told: dict[str, Any]) -> tuple[Event, ...]:
    error = told.get("error") or {}
    why = str(error.get("message", ""))
    ended = ToolEnded(str(told.get("output") or why))
    if error.get("type") != "policy_violation" and not _MAY_NOT.search(why):
        return (ended,)
    # The name of the tool begins the name of the call.
    name = str(told.get("tool_id", "")).partition("__")[0]
    return ended, Denied(f"{name}: {why}" if name else why)


def _troubled(told: dict[str, Any]) -> tuple[Event, ...]:
    text = str(told["message"])
    is_error = told.get("severity") == "error"
    return (troubles.stopped(text) or (Failed(text) if is_error else Warned(text)),)


def _ended(told: dict[str, Any]) -> tuple[Event, ...]:
    stats = told.get("stats") or {}
    total, cached, output = (
        int(stats.get(key) or 0) for key in ("total_tokens", "cached", "output_tokens")
    )
    used = Used(0.0, total, cached, output)
    if told["status"] == "success":
        return used, Done()
    error = told.get("error")
    return (used, replace(troubles.failed(error), is_last=True)) if error else (used,)


_EVENTS: dict[str, Callable[[dict[str, Any]], tuple[Event, ...]]] = {
    "init": lambda told: (Session(str(told["session_id"])),),
    "message": _said,
    "tool_use": _tool_started,
    "tool_result": _tool_ended,
    "error": _troubled,
    "result": _ended,
}


def judge(summary: Summary) -> tuple[Kind, str] | None:
    """A failure counts before an end: it calls a loop that it stopped a success."""
    if summary.failure is not None:
        return summary.failure.kind, summary.failure.text
    return None if summary.final is None else ("ok", "")


def stderr(text: str) -> tuple[Kind, str] | None:
    return troubles.last_words(text)


def unenforced(permissions: Permissions) -> tuple[str, ...]:
    """What it does more than it may, and the one thing that it does not although it may."""
    limited = not permissions.unlimited
    said = (
        (limited and permissions.bash, _COMMANDS),
        (limited, _HOOKS),
        (permissions.unlimited or permissions.write, _BUILD_FILES),
    )
    return tuple(text for holds, text in said if holds)


_COMMANDS = (
    "a command that gemini may run can read, write and reach all that you can, also outside the "
    "workspace and in .git"
)
_HOOKS = "hooks in gemini's settings, yours and the workspace's, run whatever a turn permits"
_BUILD_FILES = (
    "gemini itself edits no build files (package.json, pyproject.toml, Makefile and the like) "
    "without a person, whatever a turn permits; its commands can"
)


def probe() -> Probe:
    found = shutil.which(EXECUTABLE)
    if found is None:
        return Probe(False, note="not installed; `npm install -g @google/gemini-cli`")
    env = scrubbed(os.environ, CREDENTIALS["gemini"])
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
