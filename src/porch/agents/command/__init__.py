"""Any command of a person's own as an agent: it gets the prompt, and what it prints is its answer.

Words of the command may hold `{prompt_file}`, `{workspace}`, `{model}`, `{session}` and
`{exit_file}`; other braces stay as they are, and there is no shell. Without `{prompt_file}` the
prompt comes on its standard input.

Its first line decides how it is read. If that is one of the events that the scripted agent prints
(a JSON object whose `type` is session, text, tool_start, tool_end, usage, final, answer or failed),
all lines are such events, and what was said since the last tool is its final message where it says
no `final`. Otherwise everything it prints is its final message: the last part of it, if it is long.

Exit code 0 is a good end, unless it said nothing; 75 means that it must wait; every other one that
it crashed, unless it had said its `final` or `failed` before.
"""

import json
import os
import sys
import uuid
from collections.abc import Callable
from typing import Any, get_args

from porch.agents.command import process
from porch.agents.environment import make_agent_environment
from porch.agents.events import (
    Answered,
    Done,
    Event,
    Failed,
    Final,
    ProviderWait,
    Said,
    Session,
    ToolEnded,
    ToolStarted,
    TurnSummary,
    Used,
    Warned,
)
from porch.agents.outcomes import AnswerWay, OutcomeKind
from porch.agents.port import PreparedTurn, Probe, Turn
from porch.errors import OutsideError
from porch.model.permissions import Permissions
from porch.text.late_pattern import late_pattern

EXECUTABLE = ""
CREDENTIALS: tuple[str, ...] = ()
INSTALL = ""
NOTICE = ""
LOGIN = ""
LOGIN_STATUS: tuple[str, ...] = ()
NEEDS_COMMAND = True
HOLDS_PERMISSIONS = False
FORKS = False
TELLS_USD = False
COUNTS_ALL = False
PASSING_LINES = ""
ANSWERS: tuple[AnswerWay, ...] = ("file", "message")
_DAY_S = 86_400.0
_OUTCOME_KINDS: dict[str, OutcomeKind] = {kind: kind for kind in get_args(OutcomeKind)}
_PLACEHOLDER = late_pattern(r"\{(prompt_file|workspace|model|session|exit_file)\}")


def prepare(turn: Turn) -> PreparedTurn:
    """The command runs below a process of ours, which writes down how it ended."""
    if not turn.command:
        raise OutsideError(
            "this agent has no command", fix="give its section of the settings a `command`"
        )
    prompt, text = turn.file("prompt.md"), " ".join(turn.command)
    with open(prompt, "w", encoding="utf-8", errors="replace") as file:
        file.write(turn.prompt)
    values = _placeholder_values(turn, prompt)
    session = values["session"] if "{session}" in text else ""
    words = tuple(_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in turn.command)
    # -I: a workspace may hold a file called json.py, and it must not be imported. -S: packages
    # that are installed here are looked at for nothing, and that takes longer than all else.
    ours = (sys.executable, "-I", "-S", process.__file__, session, values["exit_file"])
    return PreparedTurn(
        argv=(*ours, *words),
        env=make_agent_environment(os.environ, CREDENTIALS, turn.env),
        stdin_file=None if "{prompt_file}" in text else prompt,
        output=turn.file("transcript.jsonl"),
        errors=turn.file("errors.txt"),
    )


def _placeholder_values(turn: Turn, prompt: str) -> dict[str, str]:
    # A conversation is named before it begins, by where it begins, for plain text names nothing.
    begun = str(uuid.uuid5(uuid.NAMESPACE_URL, turn.directory))
    return {
        "prompt_file": prompt,
        "workspace": turn.workspace,
        "model": turn.model,
        "session": turn.resume or begun,
        "exit_file": str(turn.request.get("exit_file") or turn.file("exit.json")),
    }


def _parse_wait_seconds(told: dict[str, Any]) -> float:
    """Nobody is made to wait longer than a day by a slip of a number."""
    return min(max(0.0, float(told.get("wait_s", 0))), _DAY_S)


_EVENT_READERS: dict[str, Callable[[dict[str, Any]], Event]] = {
    "session": lambda told: Session(str(told["id"])),
    "text": lambda told: Said(str(told["text"])),
    "tool_start": lambda told: ToolStarted(str(told["name"])),
    "tool_end": lambda told: ToolEnded(str(told.get("output", ""))),
    "usage": lambda told: Used(float(told.get("usd", 0)), int(told.get("tokens", 0))),
    "final": lambda told: Final(str(told["text"])),
    "answer": lambda told: Answered(str(told["exit"]), told["payload"]),
    "failed": lambda told: Failed(
        str(told["text"]),
        _OUTCOME_KINDS[told.get("kind", "crashed")],
        _parse_wait_seconds(told),
        is_last=True,
    ),
    process.DONE: lambda _: Done(),
    process.WAITING: lambda _: ProviderWait(),
}


def feed(line: str) -> tuple[Event, ...]:
    """The events of one line; a line that is none of ours is a warning, never a word of it."""
    if not line.strip():
        return ()
    try:
        told = json.loads(line)
        return (_EVENT_READERS[told["type"]](told),)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return (Warned(f"not an event: {line[:200]}"),)


def judge(summary: TurnSummary) -> tuple[OutcomeKind, str] | None:
    """A final message is the outcome, however the process ended after it."""
    if summary.final is not None:
        return "ok", ""
    if summary.failure is not None:
        return summary.failure.kind, summary.failure.text
    return None


def stderr(_: str) -> tuple[OutcomeKind, str] | None:
    """Whatever a command says there, only its author knows what it means."""
    return None


def unenforced(_: Permissions) -> tuple[str, ...]:
    return ("nothing is enforced: a command of your own can do everything that you can",)


def resumes(command: tuple[str, ...]) -> bool:
    """Where a word holds {session}; no other command is ever told to have a conversation."""
    return any("{session}" in word for word in command)


def can_carry(_: str) -> bool:
    return True


def read_login_status(_output: str, _code: int) -> bool | None:
    return None


def probe() -> Probe:
    return Probe(installed=True, note="the command in the settings")
