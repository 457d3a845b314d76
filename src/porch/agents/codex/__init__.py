"""codex as an agent: one `codex exec` for each turn, held by its own kernel sandbox.

It tells the tokens of the whole conversation, and so does one that was forked: its first total
holds all that was used before the fork. Nothing is told of what a failed turn used.
"""

import json
import os
import shutil
import subprocess

from porch.agents.codex import events, failures, permissions, schema
from porch.agents.environment import make_agent_environment
from porch.agents.events import Failed, TurnSummary
from porch.agents.outcomes import AnswerWay, OutcomeKind
from porch.agents.port import PreparedTurn, Probe, Turn
from porch.text.late_pattern import late_pattern

EXECUTABLE = "codex"
CREDENTIALS: tuple[str, ...] = ("OPENAI_*", "CODEX_HOME", "CODEX_API_KEY")
INSTALL = "npm install -g @openai/codex"
NOTICE = ""
LOGIN = "run `codex login`, or set CODEX_API_KEY"
LOGIN_STATUS: tuple[str, ...] = ("login", "status")
NEEDS_COMMAND = False
HOLDS_PERMISSIONS = True
FORKS = True
TELLS_USD = False
COUNTS_ALL = True
PASSING_LINES = ""
ANSWERS: tuple[AnswerWay, ...] = ("schema",)

PROBE_S = 30
feed = events.feed
unenforced = permissions.unenforced


def prepare(turn: Turn) -> PreparedTurn:
    """The prompt comes from a file: on a pipe that stays open codex would wait for ever."""
    _write_text(turn.file("prompt.md"), turn.prompt)
    env = make_agent_environment(os.environ, CREDENTIALS, turn.env)
    scratch = _ensure_scratch_directory(turn)
    return PreparedTurn(
        argv=(*_prepare_arguments(turn, scratch), *_conversation_arguments(turn), "-"),
        env={**env, "TMPDIR": scratch} if scratch else env,
        stdin_file=turn.file("prompt.md"),
        output=turn.file("transcript.jsonl"),
        errors=turn.file("errors.txt"),
    )


def _prepare_arguments(turn: Turn, scratch: str) -> list[str]:
    words = [shutil.which(EXECUTABLE) or EXECUTABLE, "exec", "--json", "--skip-git-repo-check"]
    words += ["-C", turn.workspace]
    if turn.model:
        words += ["-m", turn.model]
    if turn.schema is not None:
        _write_text(turn.file("schema.json"), json.dumps(schema.make_strict_schema(turn.schema)))
        words += ["--output-schema", turn.file("schema.json")]
    return [*words, *permissions.prepare_permission_flags(turn, scratch)]


def _conversation_arguments(turn: Turn) -> tuple[str, ...]:
    """These come last: flags behind them are not those of the turn."""
    if turn.resume:
        return ("resume", turn.resume)
    return ("fork", turn.fork) if turn.fork else ()


def _ensure_scratch_directory(turn: Turn) -> str:
    """Commands want a place for temporary files, and /tmp is outside of the workspace."""
    if not permissions.needs_scratch(turn.permissions):
        return ""
    place = os.path.realpath(turn.file("tmp"))
    os.makedirs(place, mode=0o700, exist_ok=True)
    return place


def _write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def judge(summary: TurnSummary) -> tuple[OutcomeKind, str] | None:
    if summary.final is not None:
        if summary.final.strip():
            return "ok", ""
        return "refused", "codex ended its turn without any text: its model refused to continue"
    failure: Failed | None = summary.failure
    return (failure.kind, failure.text) if failure else None


_UNKNOWN_CONVERSATION = late_pattern(r"no rollout found for thread id (\S+)")


def stderr(text: str) -> tuple[OutcomeKind, str] | None:
    """What ends codex before its first event."""
    lost = _UNKNOWN_CONVERSATION.search(text)
    if lost:
        return "bad_request", f"codex no longer has the conversation {lost[1]}"
    if "Error loading config" in text:
        told = text[text.index("Error loading config") :].strip()
        return "bad_request", f"codex cannot read its settings: {told}"
    if "not logged in" in text.lower():
        return "auth", failures.add_advice("codex is not logged in", "auth")
    return None


def resumes(_: tuple[str, ...]) -> bool:
    return True


def can_carry(_: str) -> bool:
    return True


def read_login_status(output: str, code: int) -> bool | None:
    if code == 0:
        return True
    return False if "not logged in" in output.lower() else None


def probe() -> Probe:
    found = shutil.which(EXECUTABLE)
    if found is None:
        return Probe(False, note=f"not installed: `{INSTALL}`")
    version = _read_command_output(found, "--version")
    if version is None:
        return Probe(False, note=f"the version of {found} cannot be read; install codex again")
    return Probe(True, version.rpartition(" ")[2])


def _read_command_output(*words: str) -> str | None:
    env = make_agent_environment(os.environ, CREDENTIALS)
    try:
        done = subprocess.run(
            words,
            env=env,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PROBE_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
