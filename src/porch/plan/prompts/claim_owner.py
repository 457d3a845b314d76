"""Who works on something for longer than one command: the process that outlives the call."""

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from porch.store.lock import host_name, read_boot_id

# Without a process to look at, a claim lasts so long from its last sign of life.
LEASE = timedelta(hours=12)
# What stands between an agent and the command it calls, and is gone right after it.
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish")
_WRAPPERS = ("env", "timeout", "time", "nohup", "sudo", "xargs", "make", "envoy", "porch")
_PASSING = frozenset((*_SHELLS, *_WRAPPERS))


def describe_caller(pid: int | None = None) -> dict[str, Any]:
    """The caller, by the first process above it that is more than a shell."""
    found = next(_lasting_ancestors(pid or os.getppid()), 0)
    until = datetime.fromtimestamp(time.time(), UTC) + LEASE
    return {
        "host": host_name(),
        "boot": read_boot_id(),
        "pid": found,
        "born": _read_start_time(found),
        "until": until.isoformat(timespec="seconds").replace("+00:00", "Z"),
    }


def is_owner_present(owner: Mapping[str, Any] | None) -> bool:
    """Whether whoever claimed something may still be at it; in doubt, until the claim ends."""
    if not owner:
        return False
    if owner.get("host") == host_name() and owner.get("boot") != read_boot_id():
        return False
    if owner.get("host") == host_name() and owner.get("pid"):
        return _read_start_time(int(owner["pid"])) == owner.get("born")
    return str(owner.get("until", "")) > datetime.now(UTC).isoformat(timespec="seconds")


def is_same_owner(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> bool:
    """Whether two claims were made below one process; without one nobody can tell."""
    if not one or not one.get("pid"):
        return False
    return all(one.get(name) == other.get(name) for name in ("host", "boot", "pid", "born"))


def _lasting_ancestors(pid: int) -> Iterator[int]:
    """The ancestors that stay; the first of all processes adopts orphans and is nobody's agent."""
    while pid > 1:
        name, parent = _read_name_and_parent(pid)
        if name and name not in _PASSING:
            yield pid
        pid = parent


def _read_name_and_parent(pid: int) -> tuple[str, int]:
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/stat", "rb") as file:
        front, _, rest = file.read().rpartition(b")")
        return front.partition(b"(")[2].decode("utf-8", "replace"), int(rest.split()[1])
    return "", 0


def _read_start_time(pid: int) -> str:
    """When a process began, in the kernel's own count; a pid alone is given again."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
        return fields[19].decode() if fields[0] not in (b"Z", b"X") else ""
    return ""
