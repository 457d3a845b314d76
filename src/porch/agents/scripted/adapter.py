"""An agent that follows a script: the same road as the real ones, without their cost or moods."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any, get_args

import porch
from porch.agents.environment import scrub_environment
from porch.agents.events import (
    Answered,
    Event,
    Failed,
    Final,
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
from porch.agents.scripted.asked import BAD_SCRIPT, ScriptedRequest
from porch.agents.scripted.script import Script, choose_answer
from porch.errors import DefinitionError
from porch.model.permissions import Permissions

EXECUTABLE = ""
# The interpreter must find porch in the same places as the one that runs now.
CREDENTIALS: tuple[str, ...] = ("PYTHONPATH",)
INSTALL = ""
NOTICE = ""
LOGIN = ""
LOGIN_STATUS: tuple[str, ...] = ()
NEEDS_COMMAND = False
HOLDS_PERMISSIONS = False
FORKS = True
TELLS_USD = True
COUNTS_ALL = False
PASSING_LINES = ""
ANSWERS: tuple[AnswerWay, ...] = ("schema", "file")
# Half as much to load as with `-m`.
_START = "import sys; from porch.agents.scripted.process import main; main(sys.argv[1:])"
_KINDS: dict[str, OutcomeKind] = {kind: kind for kind in get_args(OutcomeKind)}


def prepare(turn: Turn) -> PreparedTurn:
    """Write down what is asked; the process is this interpreter, for it has porch for certain."""
    prompt = os.path.join(turn.directory, "prompt.md")
    _write(prompt, turn.prompt)
    request = os.path.join(turn.directory, "request.json")
    more = {"effect": turn.effect, "prompt_file": prompt, "resume": turn.resume, "fork": turn.fork}
    asked = {**turn.request, **more}
    _write(request, json.dumps({**asked, "chosen": _chosen(turn.script, asked)}))
    return PreparedTurn(
        # -P: a workspace may hold a file called json.py, and it must not be imported.
        argv=(sys.executable, "-P", "-c", _START, turn.script, request),
        env=scrub_environment(os.environ, CREDENTIALS),
        stdin_file=None,
        output=os.path.join(turn.directory, "transcript.jsonl"),
        errors=os.path.join(turn.directory, "errors.txt"),
    )


def _chosen(script: str, asked: dict[str, Any]) -> dict[str, Any] | None:
    """The answer, picked here so that the process need not read YAML.

    A script that cannot be read is left to the process, which then ends with code 2.
    """
    try:
        return choose_answer(_load_script(script), ScriptedRequest(asked))
    except (DefinitionError, OSError):
        return None


def _load_script(path: str) -> Script:
    """The script in a file; without a file, one that leaves everything to the built-in answers."""
    if not path:
        return Script()
    from porch.agents.scripted.script_reader import load_script

    return load_script(path)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


_EVENTS: dict[str, Callable[[dict[str, Any]], Event]] = {
    "session": lambda said: Session(str(said["id"])),
    "text": lambda said: Said(str(said["text"])),
    "tool_start": lambda said: ToolStarted(str(said["name"])),
    "tool_end": lambda said: ToolEnded(str(said["output"])),
    "usage": lambda said: Used(float(said["usd"]), int(said["tokens"])),
    "final": lambda said: Final(str(said["text"])),
    "answer": lambda said: Answered(str(said["exit"]), said["payload"]),
    "failed": lambda said: Failed(str(said["text"]), _KINDS[said["kind"]]),
}


def feed(line: str) -> tuple[Event, ...]:
    """The events of one line; a line that is none of ours is a warning, never a word of it."""
    if not line.strip():
        return ()
    try:
        said = json.loads(line)
        return (_EVENTS[said["type"]](said),)
    except (ValueError, KeyError, TypeError, RecursionError):
        return (Warned(f"not an event: {line[:200]}"),)


def judge(summary: TurnSummary) -> tuple[OutcomeKind, str] | None:
    """A final message is the outcome, however the process ended after it."""
    if summary.final is not None:
        return "ok", ""
    if summary.failure is not None:
        return summary.failure.kind, summary.failure.text
    return None


def stderr(text: str) -> tuple[OutcomeKind, str] | None:
    if BAD_SCRIPT in text:
        return "bad_request", text.strip()
    return None


def unenforced(_: Permissions) -> tuple[str, ...]:
    return ("it does what its script says, whatever is permitted",)


def resumes(_: tuple[str, ...]) -> bool:
    return True


def can_carry(_: str) -> bool:
    return True


def read_login_status(_output: str, _code: int) -> bool | None:
    return None


def probe() -> Probe:
    return Probe(installed=True, version=porch.__version__)
