"""Checks that failed and then passed on the same files, counted over all runs of a project."""

import fcntl
import json
import os
from typing import Any

from porch.system import atomic

FILE = "flaky.json"
RUNS_KEPT = 50


def count_flaky_check(state_dir: str, protocol: str, check: str, run: str) -> None:
    """One more time; the file is small, and nothing is decided from it."""
    path = os.path.join(state_dir, FILE)
    with open(f"{path}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = read_flaky_checks(state_dir)
        entry = known.get(f"{protocol}/{check}", {"times": 0, "runs": []})
        runs = [name for name in entry["runs"] if name != run][-RUNS_KEPT + 1 :]
        known[f"{protocol}/{check}"] = {"times": entry["times"] + 1, "runs": [*runs, run]}
        text = json.dumps(known, indent=1, sort_keys=True) + "\n"
        atomic.replace_file(path, text.encode(), sync=False)


def read_flaky_checks(state_dir: str) -> dict[str, dict[str, Any]]:
    """By `protocol/check`: how often, and in which runs; nothing if the file is no such list."""
    try:
        with open(os.path.join(state_dir, FILE), encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    entries = known.items() if isinstance(known, dict) else ()
    return {str(name): entry for name, entry in entries if _is_entry(entry)}


def describe_flaky_checks(state_dir: str, protocol: str) -> list[str]:
    """One line for each check of a protocol that was ever flaky."""
    front = f"{protocol}/"
    return [
        f"the check '{name.removeprefix(front)}' was flaky {entry['times']} times in "
        f"{len(entry['runs'])} runs: it failed and then passed on the same files"
        for name, entry in read_flaky_checks(state_dir).items()
        if name.startswith(front)
    ]


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    return isinstance(entry.get("times"), int) and isinstance(entry.get("runs"), list)
