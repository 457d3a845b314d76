"""Leaving a wish and waiting until the journal answers it, or answering it oneself."""

import os
import time
from collections.abc import Mapping
from typing import Any

from porch.errors import BusyError
from porch.machine.records import RawRecord
from porch.run.engine.caller import refuse_agents
from porch.run.engine.fact_redaction import redact_wish
from porch.run.engine.run_places import require_known_place
from porch.run.engine.session import hold_run
from porch.store import inbox, run_drivers
from porch.store.where import ProjectPaths
from porch.system.regular_file import open_regular

PATIENCE_S = 5.0
_LOOK_S = 0.02


def send_wish(where: ProjectPaths, name: str, wish: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Leave a wish, then wait for its answer; the answer is the fact that the journal holds."""
    fact: dict[str, Any] = send_recorded_wish(where, name, wish, what)["fact"]
    return fact


def send_recorded_wish(
    where: ProjectPaths, name: str, wish: Mapping[str, Any], what: str
) -> RawRecord:
    """The same with the whole record, whose number tells people where they find it.

    Every wish decides or steers, so the rule holds here too, whichever way somebody came.
    """
    refuse_agents(os.environ, wish.get("as_person") is True)
    require_known_place(where)
    directory = where.run_dir(name)
    path = os.path.join(directory, "journal.jsonl")
    start = os.path.getsize(path)
    id_ = inbox.leave_wish(
        os.path.join(directory, "inbox"), {"channel": "cli", **redact_wish(wish)}
    )
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if _drain_inbox(where, name, what):
            break
        answer = _find_answer(path, start, id_)
        if answer is not None:
            return answer
        time.sleep(_LOOK_S)
    answer = _find_answer(path, 0, id_)
    if answer is None:
        raise _not_taken_error(name, directory)
    return answer


def _drain_inbox(where: ProjectPaths, name: str, what: str) -> bool:
    """With the lock free the caller answers the whole inbox itself, and leaves."""
    try:
        with hold_run(where, name, what, wait_s=0) as found:
            found.drain()
            return True
    except BusyError:
        return False


def _find_answer(path: str, start: int, id_: str) -> RawRecord | None:
    """Records that arrived meanwhile; the chain is the holder's business, not a visitor's."""
    needle = id_.encode()
    with open(path, "rb", opener=open_regular) as file:
        file.seek(start)
        for line in file:
            if needle in line and line.endswith(b"\n"):
                return _parse_record(line)
    return None


def _parse_record(line: bytes) -> RawRecord:
    import json

    record: RawRecord = json.loads(line)
    return record


def _not_taken_error(name: str, directory: str) -> BusyError:
    driver = run_drivers.find_driver(directory)
    holder, fix = driver.holder, "the answer comes as soon as possible; `porch log` will show it"
    by = f" by {holder.what}, pid {holder.pid}" if holder else ""
    if holder is not None and driver.is_suspended:
        by += ", which is suspended"
        fix = (
            f"continue it with `kill -CONT {holder.pid}`, and it answers; or end it with "
            f"`kill -KILL {holder.pid}`, then run the same command again"
        )
    return BusyError(
        f"sent, but not answered yet: {name} is busy{by}",
        fix=fix,
        code="not-yet-taken",
    )
