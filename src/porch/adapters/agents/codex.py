"""codex as an agent: one `codex exec` for each turn, held by its own kernel sandbox.

It tells the tokens of the whole conversation, and so does one that was forked: its first total
holds all that was used before the fork. Nothing is told of what a failed turn used.
"""

import json
import os
import re
import shutil
import subprocess

from porch.adapters.agents import codex_events, codex_failures, codex_permissions, codex_schema
from porch.adapters.agents.base import Prepared, Probe, Turn
from porch.adapters.agents.environment import CREDENTIALS, scrubbed
from porch.adapters.agents.events import Failed, Summary
from porch.adapters.agents.kinds import Kind, Way

EXECUTABLE = "codex"
FORKS = True
RESUMES = True
BOUND_TO_PLACE = False
TELLS_USD = False
COUNTS_ALL = True
ANSWERS: tuple[Way, ...] = ("schema",)

PROBE_S = 10
feed = codex_events.feed
unenforced = codex_permissions.unenforced


def prepare(turn: Turn) -> Prepared:
    """The prompt comes from a file: on a pipe that stays open codex would wait for ever."""
    _write(turn.file("prompt.md"), turn.prompt)
    env = scrubbed(os.environ, (*CREDENTIALS["codex"], *turn.env))
    scratch = _scratch(turn)
    return Prepared(
        argv=(*_words(turn, scratch), *_conversation(turn), "-"),
        env={**env, "TMPDIR": scratch} if scratch else env,
        stdin_file=turn.file("prompt.md"),
        output=turn.file("transcript.jsonl"),
        errors=turn.file("errors.txt"),
    )


def _words(turn: Turn, scratch: str) -> list[str]:
    words = [shutil.which(EXECUTABLE) or EXECUTABLE, "exec", "--json", "--skip-git-repo-check"]
    words += ["-C", turn.workspace]
    if turn.model:
        words += ["-m", turn.model]
    if turn.schema is not None:
        _write(turn.file("schema.json"), json.dumps(codex_schema.strict(turn.schema)))
        words += ["--output-schema", turn.file("schema.json")]
    return [*words, *codex_permissions.words(turn.permissions, turn.workspace, scratch)]


def _conversation(turn: Turn) -> tuple[str, ...]:
    """These come last: flags behind them are not those of the turn."""
    if turn.resume:
        return ("resume", turn.resume)
    return ("fork", turn.fork) if turn.fork else ()


def _scratch(turn: Turn) -> str:
    """Commands want a place for temporary files, and /tmp is outside of the workspace."""
    if not codex_permissions.needs_scratch(turn.permissions):
        return ""
    place = os.path.realpath(turn.file("tmp"))
    os.makedirs(place, mode=0o700, exist_ok=True)
    return place


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def judge(summary: Summary) -> tuple[Kind, str] | None:
    if summary.final is not None:
        if summary.final.strip():
            return "ok", ""
        return "refused", "codex ended its turn without a word: its model refused to go on"
    failure: Failed | None = summary.failure
    return (failure.kind, failure.text) if failure else None


_LOST = re.compile(r"no rollout found for thread id (\S+)")


def stderr(text: str) -> tuple[Kind, str] | None:
    """What ends codex before its first event."""
    lost = _LOST.search(text)
    if lost:
        return "bad_request", f"codex does not know the conversation {lost[1]} any more"
    if "Error loading config" in text:
        told = text[text.index("Error loading config") :].strip()
        return "bad_request", f"codex cannot read its settings: {told}"
    if "not logged in" in text.lower():
        return "auth", codex_failures.advised("codex is not logged in", "auth")
    return None


def probe() -> Probe:
    """Installed, and whether anybody signed in; a provider of one's own may need no sign-in."""
    found = shutil.which(EXECUTABLE)
    if found is None:
        return Probe(False, note="not installed: `npm install -g @openai/codex`")
    version = _told(found, "--version")
    if version is None:
        return Probe(False, note=f"{found} does not tell its version: install codex again")
    note = "" if _has_key() else codex_failures.advised("nobody is signed in", "auth")
    return Probe(True, version.rpartition(" ")[2], note)


def _told(*words: str) -> str | None:
    env = scrubbed(os.environ, CREDENTIALS["codex"])
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


def _has_key() -> bool:
    """OPENAI_API_KEY alone does nothing for codex, unless its settings name it."""
    home = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    settings = os.path.join(home, "config.toml")
    if os.environ.get("CODEX_API_KEY") or os.path.exists(os.path.join(home, "auth.json")):
        return True
    try:
        with open(settings, encoding="utf-8", errors="replace") as file:
            return "model_provider" in file.read()
    except OSError:
        return False
