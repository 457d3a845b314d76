"""How each kind of agent says what the contract asks of it; a row for every row of AGENTS.

The lines are written after real ones; what the real command lines say is tried by the tests that
need them installed.
"""

import json
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from porch.agents.outcomes import AnswerWay


class Saying(Struct, frozen=True):
    """What a command line prints in one turn, which answer it writes, and how it ends."""

    output: str = ""
    errors: str = ""
    code: int = 0
    hangs: bool = False
    exit_file: str = ""


Fields = dict[str, Any]


class Samples(Struct, frozen=True):
    """One kind's words for everything; `arrange` makes it say them, as more fields of its turn."""

    arrange: Callable[[Path, Saying], Fields]
    says: Callable[[str], Saying]
    typed: Mapping[AnswerWay, Saying]
    refused: Saying
    rate_limit: Saying
    auth: Saying
    silent: Saying
    crashed: Saying
    begins: Saying
    tokens: int
    usd: float


EXIT, PAYLOAD = "Done", {"n": 1}
ANSWER = {"exit": EXIT, "payload": PAYLOAD}
CRASH_CODE = 3
VERSION = "1.2.3"


def program(path: Path, saying: Saying) -> str:
    """A command line that says it, whatever it is asked; and its version, if asked for that."""
    path.parent.mkdir(exist_ok=True)
    for name, text in (("out", saying.output), ("err", saying.errors), ("exit", saying.exit_file)):
        path.with_suffix(f".{name}").write_text(text)
    last = "exec sleep 600" if saying.hangs else f"exit {saying.code}"
    path.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = --version ] && echo {VERSION} && exit 0\n'
        f'cat "{path}.out"\ncat "{path}.err" >&2\n'
        f'[ -s "{path}.exit" ] && cp "{path}.exit" "$1"\n'
        f"{last}\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def on_path(name: str) -> Callable[[Path, Saying], Fields]:
    """Stands in for the command line that the adapter looks up on PATH."""

    def arrange(place: Path, saying: Saying) -> Fields:
        program(place / "bin" / name, saying)
        return {}

    return arrange


def by_words(place: Path, saying: Saying) -> Fields:
    words = (program(place / "bin" / "anything", saying), "{exit_file}", "{session}")
    return {"command": words}


def by_script(place: Path, saying: Saying) -> Fields:
    """The scripted agent prints what its script says, so its output here is an answer of one."""
    answer = json.loads(saying.output)
    if saying.exit_file:
        answer["write"] = {str(place / "exit.json"): saying.exit_file}
    path = place / "script.yaml"
    path.write_text(json.dumps({"agents": {"draft": [answer]}}))
    return {"script": str(path), "request": {**REQUEST, "exit_file": str(place / "exit.json")}}


REQUEST: Fields = {
    "position": "draft#1",
    "state": "draft",
    "item": None,
    "visit": 1,
    "try": 1,
    "kind": "agent",
    "name": "builder",
    "artifacts": [],
    "project_dir": "",
    "legal": [],
    "plan_item": None,
    "review": None,
}


def lines(*told: Fields) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in told)


def _claude(**result: Any) -> Saying:
    good = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "result": "",
        "stop_reason": "end_turn",
        "total_cost_usd": 0.5,
        "modelUsage": {"big": {"inputTokens": 100, "outputTokens": 20, "cacheReadInputTokens": 7}},
        "permission_denials": [],
        "terminal_reason": "completed",
    }
    text = {"type": "text", "text": str(result.get("result", ""))}
    said = {"type": "assistant", "message": {"id": "m", "model": "big", "content": [text]}}
    return Saying(lines(_CLAUDE_INIT, said, {**good, **result}), code=int(bool(result["is_error"])))


_CLAUDE_INIT = {"type": "system", "subtype": "init", "session_id": "s-claude", "tools": []}
_NOT_A_WORD = Saying(code=CRASH_CODE)
CLAUDE = Samples(
    arrange=on_path("claude"),
    says=lambda text: _claude(result=text, is_error=False),
    typed={"schema": _claude(result="{}", is_error=False, structured_output=ANSWER)},
    refused=_claude(result="I will not.", is_error=False, stop_reason="refusal"),
    rate_limit=_claude(result="Too many requests", is_error=True, api_error_status=429),
    auth=_claude(result="Invalid API key", is_error=True, api_error_status=401),
    silent=Saying(),
    crashed=_NOT_A_WORD,
    begins=Saying(lines(_CLAUDE_INIT), hangs=True),
    tokens=127,
    usd=0.5,
)

_CODEX_INIT = {"type": "thread.started", "thread_id": "t-codex"}


def _codex_says(text: str) -> Saying:
    message = {"id": "item_1", "type": "agent_message", "text": text}
    usage = {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 20}
    end = {"type": "turn.completed", "usage": usage}
    return Saying(lines(_CODEX_INIT, {"type": "item.completed", "item": message}, end))


def _codex_fails(message: str) -> Saying:
    return Saying(
        lines(_CODEX_INIT, {"type": "turn.failed", "error": {"message": message}}), code=1
    )


CODEX = Samples(
    arrange=on_path("codex"),
    says=_codex_says,
    typed={"schema": _codex_says(json.dumps(ANSWER))},
    refused=_codex_fails("stream disconnected: Incomplete response, reason: content_filter"),
    rate_limit=_codex_fails("exceeded retry limit, last status: 429 Too Many Requests"),
    auth=_codex_fails("unexpected status 401 Unauthorized: no"),
    silent=Saying(),
    crashed=_NOT_A_WORD,
    begins=Saying(lines(_CODEX_INIT), hangs=True),
    tokens=120,
    usd=0,
)

_GEMINI_INIT = {"type": "init", "session_id": "619792ca-1d57-489a-ac57-b8f4f7b4bf13"}
_STATS = {"total_tokens": 120, "input_tokens": 100, "output_tokens": 20, "cached": 60}
_GEMINI_END = {"type": "result", "status": "success", "stats": _STATS}


def _gemini_says(text: str) -> Saying:
    message = {"type": "message", "role": "assistant", "content": text, "delta": True}
    return Saying(lines(_GEMINI_INIT, message, _GEMINI_END))


def _gemini_fails(message: str) -> Saying:
    error = {"type": "Error", "message": message}
    return Saying(lines(_GEMINI_INIT, {**_GEMINI_END, "status": "error", "error": error}), code=1)


_BLOCKED = {"type": "error", "severity": "error", "message": "The response was blocked."}
GEMINI = Samples(
    arrange=on_path("gemini"),
    says=_gemini_says,
    typed={"message": _gemini_says(f"As asked:\n\n```json\n{json.dumps(ANSWER)}\n```\n")},
    refused=Saying(lines(_GEMINI_INIT, _BLOCKED, _GEMINI_END)),
    rate_limit=_gemini_fails("[API Error: Quota exceeded, please retry in 12.5s.]"),
    auth=_gemini_fails('[API Error: {"error":{"code":401,"status":"UNAUTHENTICATED"}}]'),
    silent=Saying(),
    crashed=_NOT_A_WORD,
    begins=Saying(lines(_GEMINI_INIT), hangs=True),
    tokens=120,
    usd=0,
)

_USED = {"type": "usage", "usd": 0.25, "tokens": 120}


def _command_says(text: str) -> Saying:
    return Saying(lines({"type": "text", "text": text}, _USED, {"type": "final", "text": text}))


def _command_fails(kind: str) -> Saying:
    return Saying(lines({"type": "failed", "kind": kind, "text": f"it is {kind}"}), code=1)


COMMAND = Samples(
    arrange=by_words,
    says=_command_says,
    typed={
        "file": Saying("I wrote it.\n", exit_file=json.dumps(ANSWER)),
        "message": Saying(f"As asked:\n\n```json\n{json.dumps(ANSWER)}\n```\n"),
    },
    refused=_command_fails("refused"),
    rate_limit=Saying(code=75),
    auth=_command_fails("auth"),
    silent=Saying(),
    crashed=_NOT_A_WORD,
    begins=Saying(lines({"type": "text", "text": "I begin."}), hangs=True),
    tokens=120,
    usd=0.25,
)


def _script(exit_file: str = "", **answer: Any) -> Saying:
    return Saying(json.dumps(answer), exit_file=exit_file)


SCRIPTED = Samples(
    arrange=by_script,
    says=lambda text: _script(final=text, usage={"tokens": 120, "usd": 0.25}),
    typed={
        "schema": _script(exit=EXIT, payload=PAYLOAD),
        "file": _script(json.dumps(ANSWER), final="I wrote it."),
    },
    refused=_script(fail="refused"),
    rate_limit=_script(fail="rate_limit"),
    auth=_script(fail="auth"),
    silent=_script(crash=0),
    crashed=_script(crash=CRASH_CODE),
    begins=_script(hang=True),
    tokens=120,
    usd=0.25,
)

SAMPLES: Mapping[str, Samples] = {
    "claude": CLAUDE,
    "codex": CODEX,
    "gemini": GEMINI,
    "command": COMMAND,
    "scripted": SCRIPTED,
}
