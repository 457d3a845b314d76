"""What the machine under us can do: each answer is tried out, in a place that is gone afterwards.

Every function answers with nothing if all is well, else with what went wrong.
"""

import contextlib
import fcntl
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from porch.system import swap

VERSION_S = 10.0


def read_program_version(*words: str) -> str | None:
    """The first line that a program prints of itself; None where it is not installed."""
    path = shutil.which(words[0])
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, *words[1:]],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().partition("\n")[0] if done.returncode == 0 else ""


@contextlib.contextmanager
def make_trial_directory(directory: str) -> Iterator[str]:
    """A new directory where that one is or would be; raises OSError where nothing can be written.

    Nobody who only looks wants to find a directory of ours made for good.
    """
    parent = os.path.abspath(directory)
    while not os.path.isdir(parent) and os.path.dirname(parent) != parent:
        parent = os.path.dirname(parent)
    with tempfile.TemporaryDirectory(prefix=".porch-doctor-", dir=parent) as place:
        yield place


def find_writing_fault(place: str) -> str:
    """Written, synced and read again."""
    path = os.path.join(place, "file")
    try:
        with open(path, "wb") as file:
            file.write(b"porch")
            file.flush()
            os.fsync(file.fileno())
        with open(path, "rb") as file:
            return "" if file.read() == b"porch" else "what was read is not what was written"
    except OSError as error:
        return error.strerror or str(error)


def find_lock_fault(place: str) -> str:
    """A lock keeps out whoever comes second; some network file systems only say that it does."""
    path = os.path.join(place, "lock")
    try:
        with open(path, "wb") as first, open(path, "wb") as second:
            fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return ""
            return "two processes got the same lock at the same time"
    except OSError as error:
        return error.strerror or str(error)


def find_swap_fault(place: str) -> str:
    """Two files change names in one step."""
    one, other = os.path.join(place, "one"), os.path.join(place, "other")
    for path in (one, other):
        with open(path, "w", encoding="ascii") as file:
            file.write(os.path.basename(path))
    if not swap.swap_files(one, other):
        return "not supported by this system or file system"
    with open(one, encoding="ascii") as file:
        return "" if file.read() == "other" else "the system reported success, but nothing was done"


def find_watching_fault() -> str:
    """File events; there is one such channel for each watcher, and the system limits them."""
    if not sys.platform.startswith("linux"):
        return "" if hasattr(select, "kqueue") else "this system has neither inotify nor kqueue"
    import ctypes

    try:
        fd = ctypes.CDLL(None, use_errno=True).inotify_init1(os.O_CLOEXEC)
    except (OSError, AttributeError):
        return "the C library does not support inotify"
    if fd < 0:
        return os.strerror(ctypes.get_errno())
    os.close(fd)
    return ""
