"""Whether a process was halted, for example with Ctrl-Z: it holds what it has and does nothing."""

from __future__ import annotations


def is_suspended(pid: int) -> bool:
    """Also false where the system does not say."""
    if pid <= 0:
        return False
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[:1] == [b"T"]
    except OSError:
        return False
