"""Leaving a wish and waiting until the journal answers it, or answering it oneself."""

import getpass
import os
import time
from collections.abc import Mapping
from typing import Any

from porch.adapters import inbox, lock, marks
from porch.adapters.where import Where
from porch.errors import BusyError, UsageError
from porch.operations.session import held

PATIENCE_S = 5.0
_LOOK_S = 0.02
AGENT_VARIABLES = ("CLAUDECODE", "GEMINI_CLI", "PORCH_MARK")
# People set these themselves, and have them in every shell.
_PEOPLES = ("CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE")


def who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def refuse_agents(environ: Mapping[str, str], as_person: bool) -> None:
    """Only people decide. This stops accidents, not malice: a liar can say --as-person too."""
    if as_person:
        return
    codex = [n for n in environ if n.startswith("CODEX_") and n not in _PEOPLES]
    seen = [f"{n} is set" for n in (*(n for n in AGENT_VARIABLES if n in environ), *codex)]
    # An agent that cleans its environment still has the process that porch started above it.
    seen += ["a process of a run is its parent"] if not seen and marks.has_marked_ancestor() else []
    if seen:
        raise UsageError(
            f"this looks like an agent ({seen[0]}), and only people decide",
            fix="if you are a person, add --as-person; that is recorded",
            code="not-a-person",
        )


def ask(where: Where, name: str, wish: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Leave a wish, then wait for its answer; the answer is the fact that the journal holds."""
    directory = where.run_dir(name)
    path = os.path.join(directory, "journal.jsonl")
    start = os.path.getsize(path)
    id_ = inbox.leave(os.path.join(directory, "inbox"), {"who": who(), "channel": "cli", **wish})
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if _drained(where, name, what):
            break
        answer = _answer(path, start, id_)
        if answer is not None:
            return answer
        time.sleep(_LOOK_S)
    answer = _answer(path, 0, id_)
    if answer is None:
        raise _undelivered(name, directory)
    return answer


def _drained(where: Where, name: str, what: str) -> bool:
    """With the lock free the caller answers the whole inbox itself, and leaves."""
    try:
        with held(where, name, what, wait_s=0) as found:
            found.drain()
            return True
    except BusyError:
        return False


def _answer(path: str, start: int, id_: str) -> dict[str, Any] | None:
    """Records that arrived meanwhile; the chain is the holder's business, not a visitor's."""
    needle = id_.encode()
    with open(path, "rb") as file:
        file.seek(start)
        for line in file:
            if needle in line and line.endswith(b"\n"):
                return _fact(line)
    return None


def _fact(line: bytes) -> dict[str, Any]:
    import json

    fact: dict[str, Any] = json.loads(line)["fact"]
    return fact


def _undelivered(name: str, directory: str) -> BusyError:
    holder = lock.holder(os.path.join(directory, "lock"))
    by = f" by {holder.what}, pid {holder.pid}" if holder else ""
    return BusyError(
        f"delivered, not yet taken: {name} is held{by}",
        fix="the holder answers it as soon as it can; `porch log` will show it",
        code="not-yet-taken",
    )
