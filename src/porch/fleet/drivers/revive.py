"""Starting the dead drivers of kicked-off runs again, a few times and not for ever.

Which runs these are, their journals say: the last driver was detached, the run is not over, nobody
stopped it, and its lock is free. A small file beside the run counts how often that did not help.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from porch.fleet.drivers.kickoff_logs import LOG
from porch.fleet.drivers.start import StartingDriver, start_driver
from porch.machine.state import RunState
from porch.run.engine.caller import find_agent_sign
from porch.store.journal import scan_journal
from porch.store.run_drivers import find_driver
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.regular_file import open_regular

MOST = 3
_COUNT = "restarts.json"
GONE = "its driver was gone and was started again"


class Revived(Struct, frozen=True):
    """The runs whose drivers were started again, and why the others were not."""

    started: tuple[str, ...] = ()
    failed: Mapping[str, str] = {}

    def describe(self) -> list[str]:
        """A line for each run."""
        told = {**dict.fromkeys(self.started, GONE), **self.failed}
        return [f"{name}: {what}" for name, what in told.items()]


def revive_runs(where: ProjectPaths, names: list[str]) -> Revived:
    """Of these runs, which nobody drives, start the drivers of those that were kicked off."""
    if find_agent_sign(os.environ):
        return Revived()  # what an agent starts ends with it
    begun: dict[str, StartingDriver] = {}
    failed: dict[str, str] = {}
    for name in names:
        if not was_kicked_off(where, name) or find_driver(where.run_dir(name)).holder:
            continue
        if may_try_again(where.run_dir(name), _progress(where, name)):
            begun[name] = start_driver(where, ("resume", name), where.root, run=name)
        else:
            failed[name] = _describe_end(where, name)
    started = []
    for name, starting in begun.items():
        ended = starting.wait()
        if ended.run:
            started.append(name)
        elif ended.code:
            failed[name] = f"its driver ended at once: {ended.said or 'without output'}"
    return Revived(tuple(started), failed)


def was_kicked_off(where: ProjectPaths, name: str) -> bool:
    """By the journal; the log is only where one need not look otherwise."""
    has_log = os.path.exists(os.path.join(where.run_dir(name), LOG))
    return has_log and bool(find_last_driver(where, name).get("detached"))


def find_last_driver(where: ProjectPaths, name: str) -> Mapping[str, Any]:
    """What the last driver of a run said when it began; nothing if there was none."""
    records = scan_journal(os.path.join(where.run_dir(name), "journal.jsonl")).records
    drivers = [each["fact"] for each in records if each["fact"].get("is") == "RunnerStarted"]
    return drivers[-1] if drivers else {}


def _progress(where: ProjectPaths, name: str) -> str:
    from porch.run.verbs.read_run import read_run

    return describe_progress(read_run(where, name).state)


def describe_progress(state: RunState) -> str:
    """What changes when a run gets on; a driver that comes and goes changes nothing of it."""
    return " ".join([*state.positions, *state.decisions, str(len(state.gates))])


def may_try_again(directory: str, progress: str) -> bool:
    """Count one more start; no more than a few without any progress."""
    path = os.path.join(directory, _COUNT)
    known = _read_count(path)
    said = known.get("count")
    count = said if known.get("progress") == progress and isinstance(said, int) else 0
    if count >= MOST:
        return False
    told = {"progress": progress, "count": count + 1}
    atomic.replace_file(path, json.dumps(told).encode(), sync=False)
    return True


def _read_count(path: str) -> dict[str, object]:
    try:
        with open(path, encoding="utf-8", opener=open_regular) as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def forget_tries(directory: str) -> None:
    """A person starts it: then it may fail as often again."""
    try:
        os.unlink(os.path.join(directory, _COUNT))
    except OSError:
        return


def _describe_end(where: ProjectPaths, name: str) -> str:
    log = os.path.join(where.run_dir(name), LOG)
    return (
        f"its driver died {MOST} times without any progress, so it is not started again; "
        f"see `af logs {name}` ({log}), then: af resume {name}"
    )
