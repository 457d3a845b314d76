"""An agent that follows a script: the same road as the real ones, without their cost or moods."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any, get_args

import porch
from porch.adapters.agents.base import Prepared, Probe, Turn
from porch.adapters.agents.environment import CREDENTIALS, scrubbed
from porch.adapters.agents.events import (
    Answered,
    Event,
    Failed,
    Final,
    Said,
    Session,
    Summary,
    ToolEnded,
    ToolStarted,
    Used,
    Warned,
)
from porch.adapters.agents.kinds import Kind, Way
from porch.adapters.agents.script import Script
from porch.adapters.agents.scripted_process import BAD_SCRIPT, Request, choose
from porch.errors import DefinitionError
from porch.model.permissions import Permissions

EXECUTABLE = ""
FORKS = True
RESUMES = True
BOUND_TO_PLACE = False
TELLS_USD = True
COUNTS_ALL = False
ANSWERS: tuple[Way, ...] = ("schema", "file")
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


def prepare(turn: Turn) -> Prepared:
    """Write down what is asked; the process is this interpreter, for it has porch for certain."""
    prompt = os.path.join(turn.directory, "prompt.md")
    _write(prompt, turn.prompt)
    request = os.path.join(turn.directory, "request.json")
    more = {"effect": turn.effect, "prompt_file": prompt, "resume": turn.resume, "fork": turn.fork}
    asked = {**turn.request, **more}
    _write(request, json.dumps({**asked, "chosen": _chosen(turn.script, asked)}))
    # -P: a workspace may hold a file called json.py, and it must not be imported.
    module = "porch.adapters.agents.scripted_process"
    return Prepared(
        argv=(sys.executable, "-P", "-m", module, turn.script, request),
        env=scrubbed(os.environ, CREDENTIALS["scripted"]),
        stdin_file=None,
        output=os.path.join(turn.directory, "transcript.jsonl"),
        errors=os.path.join(turn.directory, "errors.txt"),
    )


def _chosen(script: str, asked: dict[str, Any]) -> dict[str, Any] | None:
    """The answer, picked here so that the process need not read YAML.

    A script that cannot be read is left to the process, which then ends with code 2.
    """
    if not script:
        return choose(Script(), Request.of(asked))
    from porch.adapters.agents.script_reader import load_script

    try:
        found = load_script(script)
    except (DefinitionError, OSError):
        return None
    return choose(found, Request.of(asked))


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


def judge(summary: Summary) -> tuple[Kind, str] | None:
    """A final message is the outcome, however the process ended after it."""
    if summary.final is not None:
        return "ok", ""
    if summary.failure is not None:
        return summary.failure.kind, summary.failure.text
    return None


def stderr(text: str) -> tuple[Kind, str] | None:
    if BAD_SCRIPT in text:
        return "bad_request", text.strip()
    return None


def unenforced(_: Permissions) -> tuple[str, ...]:
    return ("it does what its script says, whatever it may",)


def probe() -> Probe:
    return Probe(installed=True, version=porch.__version__)
